//! A server's process and its children.

use std::fs::{self, OpenOptions};
use std::io::{self, PipeReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::failure::{Failure, NotReady};
use crate::polling::{TIMEOUT, poll};
use crate::scratch::Scratch;

/// The shell script that writes the `.pid` file and then starts a server, so that no server runs without the file.
///
/// Uses `env` of GNU to restore the signals INT and QUIT, which a background process of a shell ignores. A server that
/// ignores these signals would not end when it is asked to.
const LAUNCHER: &str = r#"
if env --default-signal=INT,QUIT true 2>/dev/null; then set -- env --default-signal=INT,QUIT "$@"; fi
echo $$ >"$0" && exec "$@""#;

/// How long a server may take to end before it is killed.
const GRACE: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Continue,
    Interrupt,
    Kill,
    Quit,
    Stop,
    Terminate,
}

impl Signal {
    fn name(self) -> &'static str {
        match self {
            Self::Continue => "CONT",
            Self::Interrupt => "INT",
            Self::Kill => "KILL",
            Self::Quit => "QUIT",
            Self::Stop => "STOP",
            Self::Terminate => "TERM",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    /// Receives a message when the last process that inherited the server's standard output has ended.
    all_ended: Receiver<()>,
    pid_file: PathBuf,
    log: PathBuf,
}

impl Process {
    /// Starts a server whose log and `.pid` file are named `name`. Uses only the program, the arguments and the
    /// variables of `server`.
    pub(crate) fn start(scratch: &Scratch, name: &str, server: &Command) -> Result<Self, Failure> {
        let (pid_file, log) = (scratch.path(&format!("{name}.pid")), log_of(scratch, name));
        let failed = |error| Failure::Started { program: server.get_program().into(), error };
        let (ended, output) = io::pipe().map_err(failed)?;
        let stderr = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&log)
            .map_err(|error| Failure::File { path: log.clone(), error })?;
        let mut launcher = scratch.command(Path::new("/bin/sh"));
        launcher.args(["-c", LAUNCHER]).arg(&pid_file).arg(server.get_program()).args(server.get_args());
        launcher.envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let child = launcher.stdout(output).stderr(stderr).spawn().map_err(failed)?;
        drop(launcher);
        Ok(Self { child, all_ended: when_closed(ended), pid_file, log })
    }

    /// Starts a server, and waits until its log contains `word` and the server answers. The log and the `.pid` file are
    /// named `file`.
    pub(crate) fn start_until(
        scratch: &Scratch,
        (server, file): (&'static str, &str),
        command: &Command,
        word: &str,
        answers: impl Fn() -> bool,
    ) -> Result<Self, Failure> {
        let log = log_of(scratch, file);
        let text = || fs::read_to_string(&log).unwrap_or_default();
        // Earlier starts wrote to the same log.
        let earlier = text().len();
        if earlier == 0 {
            // Some servers write there themselves, as their own user.
            scratch.write(&format!("{file}.log"), "")?;
        }
        // An answer on the port alone might be from another server.
        let listens = || text().get(earlier..).is_some_and(|log| log.contains(word));
        Self::start(scratch, file, command)?.started(server, || listens() && answers())
    }

    /// Waits until the server is ready. Returns a failure with the end of the log if the server ends or the time limit
    /// is reached.
    pub(crate) fn started(mut self, server: &'static str, is_ready: impl Fn() -> bool) -> Result<Self, Failure> {
        match self.ready(is_ready) {
            Ok(()) => Ok(self),
            Err(why) => Err(Failure::DoesNotStart { server, why, log: self.log() }),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the server is ready or has ended, or the time limit is reached.
    fn ready(&mut self, is_ready: impl Fn() -> bool) -> Result<(), NotReady> {
        let outcome = poll(TIMEOUT, || if is_ready() { Some(Ok(())) } else { self.ended().map(Err) });
        outcome.unwrap_or(Err(NotReady::Silent(TIMEOUT)))
    }

    fn ended(&mut self) -> Option<NotReady> {
        let status = self.child.try_wait().ok().flatten()?;
        // Another process may have this number now.
        let _ = fs::remove_file(&self.pid_file);
        Some(NotReady::Ended(status))
    }

    /// Returns the end of the server's log.
    pub(crate) fn log(&self) -> String {
        last_lines(&fs::read_to_string(&self.log).unwrap_or_default())
    }

    /// Stops the process and its children, until [`Self::go_on`].
    pub(crate) fn pause(&self) {
        send(Signal::Stop, self.last_children().into_iter());
    }

    /// Stops the server, so that it starts no more children, and lists its children.
    fn last_children(&self) -> Vec<u32> {
        send(Signal::Stop, std::iter::once(self.id()));
        // The server may be forking until it has stopped.
        let _ = poll(TIMEOUT, || (!matches!(state_of(self.id()).as_deref(), Some("R" | "S" | "D"))).then_some(()));
        children(self.id())
    }

    pub(crate) fn go_on(&self) {
        send(Signal::Continue, children(self.id()).into_iter().chain([self.id()]));
    }

    /// Ends the process and its children, and waits until all of them have ended.
    pub(crate) fn end(&mut self, signal: Signal) -> Result<ExitStatus, Failure> {
        self.end_within(TIMEOUT, signal)
    }

    fn end_within(&mut self, limit: Duration, signal: Signal) -> Result<ExitStatus, Failure> {
        // A child that starts after the others were killed may wait for ever for a lock of a killed child.
        let children = if signal == Signal::Kill { self.last_children() } else { vec![] };
        send(signal, std::iter::once(self.id()).chain(children));
        let process = self.id();
        self.all_ended.recv_timeout(limit).map_err(|_| Failure::DoesNotEnd { process })?;
        // The number is not reused before the child is waited for.
        let _ = fs::remove_file(&self.pid_file);
        self.child.wait().map_err(|_| Failure::DoesNotEnd { process })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let is_running = matches!(self.child.try_wait(), Ok(None));
        if is_running && self.end_within(GRACE, Signal::Quit).is_err() {
            let _ = self.end(Signal::Kill);
        }
    }
}

pub(crate) fn log_of(scratch: &Scratch, name: &str) -> PathBuf {
    scratch.path(&format!("{name}.log"))
}

/// Returns a receiver that gets a message when all processes have closed the other end of the pipe.
fn when_closed(mut pipe: PipeReader) -> Receiver<()> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let _ = io::copy(&mut pipe, &mut io::sink());
        // The receiver may be gone.
        let _ = sender.send(());
    });
    receiver
}

/// Sends a signal to the processes. Ignores processes that do not exist.
fn send(signal: Signal, processes: impl Iterator<Item = u32>) {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "kill -s \"$0\" \"$@\"", signal.name()]).args(processes.map(|id| id.to_string()));
    let _ = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

/// Lists the children of a process. Returns none on a system without /proc.
fn children(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
    ids.filter(|id| parent_of(*id) == Some(parent)).collect()
}

fn parent_of(process: u32) -> Option<u32> {
    stat(process)?.1.parse().ok()
}

/// Returns the state of a process, which is one letter, such as `R` or `Z`.
fn state_of(process: u32) -> Option<String> {
    stat(process).map(|(state, _)| state)
}

/// Returns the state and the parent of a process.
fn stat(process: u32) -> Option<(String, String)> {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The line is `id (name) state parent ...`, and the name may contain anything.
    let mut words = line.rsplit_once(')')?.1.split_whitespace().map(str::to_owned);
    Some((words.next()?, words.next()?))
}

fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn children_are_killed_with_the_process() {
        let scratch = Scratch::new("process-test").unwrap();
        // The child ignores all signals but KILL, and would outlive its parent.
        let script = "(trap '' INT QUIT TERM; echo ready >&2; exec sleep 1000) & wait";
        let mut process = Process::start(&scratch, "shell", &shell(script)).unwrap();
        let log = log_of(&scratch, "shell");
        process.ready(|| fs::read_to_string(&log).is_ok_and(|log| log == "ready\n")).unwrap();
        assert_eq!(children(process.id()).len(), 1);
        process.end(Signal::Kill).unwrap();
        assert!(!scratch.path("shell.pid").exists());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_that_starts_during_the_kill_is_killed_too() {
        let scratch = Scratch::new("process-children-test").unwrap();
        let script = "for i in $(seq 300); do sleep 100 & echo $i >&2; done; wait";
        let mut process = Process::start(&scratch, "shell", &shell(script)).unwrap();
        let log = log_of(&scratch, "shell");
        process.ready(|| fs::read_to_string(&log).is_ok_and(|log| log.lines().count() > 10)).unwrap();
        process.end_within(Duration::from_secs(60), Signal::Kill).unwrap();
    }

    /// A test in the background of a shell ignores INT and QUIT, and so do its servers. A server must still end after
    /// QUIT.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_server_receives_signals_that_its_parent_ignores() {
        let scratch = Scratch::new("process-deaf-test").unwrap();
        let script = r#"trap '' INT QUIT; exec /bin/sh -c "$0" "$@""#;
        let mut deaf = Command::new("/bin/sh");
        deaf.args(["-c", script, LAUNCHER, &scratch.path("server.pid").display().to_string(), "sleep", "1000"]);
        let mut server = deaf.spawn().unwrap();
        // The shell ignores signals until it has started the server.
        let ended = poll(TIMEOUT, || {
            send(Signal::Quit, std::iter::once(server.id()));
            server.try_wait().unwrap()
        });
        assert!(ended.is_some_and(|status| !status.success()));
    }

    #[test]
    fn a_server_that_ends_at_once_is_not_waited_for() {
        let scratch = Scratch::new("process-end-test").unwrap();
        let mut process = Process::start(&scratch, "shell", &shell("echo no good >&2; exit 3")).unwrap();
        let why = process.ready(|| false).unwrap_err();
        assert!(matches!(why, NotReady::Ended(status) if status.code() == Some(3)), "{why}");
        assert_eq!(process.log(), "no good");
    }
}

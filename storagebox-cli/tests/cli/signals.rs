//! `dedup run` and signals: every process of the command gets them, and an end by a signal is no result.

mod processes;
mod terminal;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::support::{Ended, Place};

/// A command that waits until the folder of its test is deleted.
const WAITS: &str = "while test -e alive; do sleep 0.01; done";

/// A command that starts a program with default signal handling, even if the tests run under `nohup`.
const LISTENING: [&str; 2] = ["env", "--default-signal=HUP,INT,QUIT,TERM"];

/// The runs of one id without a terminal, each in its own session and process group.
struct Session {
    place: Place,
}

/// A runner whose command has printed its first line, with the rest of the command's output.
struct Running {
    runner: Child,
    stdout: BufReader<ChildStdout>,
}

impl Session {
    fn new() -> Self {
        let place = Place::without_url();
        place.run(&["setup"]).exits(0);
        place.write("alive", "");
        Self { place }
    }

    fn command(&self, options: &[&str], script: &str) -> Command {
        let args = [&["dedup", "run", "records", "nightly"], options, &["--", "bash", "-c", script]].concat();
        let run = self.place.command(&args);
        let mut session = Command::new("setsid");
        session.args(LISTENING).arg(run.get_program()).args(run.get_args());
        session.current_dir(run.get_current_dir().unwrap());
        session.env_remove("STORAGEBOX_URL").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        session
    }

    fn started(&self, options: &[&str], script: &str) -> Running {
        let mut runner = self.command(options, script).spawn().unwrap();
        let mut stdout = BufReader::new(runner.stdout.take().unwrap());
        stdout.read_line(&mut String::new()).unwrap();
        Running { runner, stdout }
    }

    /// Returns whether a suspended runner keeps a second runner from running its command.
    fn is_in_the_way(&self, run: &Running, options: &[&str]) -> bool {
        run.signal(Signal::STOP);
        let other: Ended = self.command(options, "echo other").output().unwrap().into();
        run.signal(Signal::CONT);
        other.stdout != "other\n"
    }

    fn is_recorded(&self) -> bool {
        self.place.run(&["dedup", "get", "records", "nightly"]).code == 0
    }

    /// Asserts that `count` processes wrote their ids into the file `pids`, and that all of these processes have ended.
    #[track_caller]
    fn all_have_ended(&self, count: usize) {
        let ids = self.place.read("pids");
        assert_eq!(ids.lines().count(), count, "{ids}");
        assert_eq!(ids.lines().find(|id| is_alive(id)), None);
    }
}

/// Returns whether a process runs. Returns false for a zombie.
fn is_alive(id: &str) -> bool {
    state(id).is_some_and(|state| state != 'Z')
}

fn is_stopped(id: &str) -> bool {
    state(id) == Some('T')
}

fn state(id: &str) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

impl Running {
    fn pid(&self) -> Pid {
        Pid::from_child(&self.runner)
    }

    fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    fn says(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    fn ended(self) -> Ended {
        let Self { mut runner, mut stdout } = self;
        let (mut said, mut stderr) = (String::new(), String::new());
        stdout.read_to_string(&mut said).unwrap();
        runner.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        let code = runner.wait().unwrap().code().expect("ended by a signal");
        Ended { code, stdout: said, stderr }
    }
}

/// Commands with different reactions to a signal: no reaction, exit code 0, the exit code of a shell, a failure, and a
/// child that handles the signal first.
const COMMANDS: [&str; 5] = [
    "",
    "trap 'exit 0' TERM;",
    "trap 'exit 143' TERM;",
    "trap 'exit 1' TERM;",
    "trap : TERM; sh -c 'while test -e alive; do :; done'; exit 0;",
];

/// A service manager, a container or a shell may signal all processes of a group at once.
#[test]
fn no_result_is_recorded_after_a_signal_to_the_whole_group() {
    at_some_moment(|session, script, moment| {
        let run = session.started(&[], script);
        moment();
        kill_process_group(run.pid(), Signal::TERM).unwrap();
        let ended = run.ended().exits(123);
        assert!(ended.stderr.contains("nothing is recorded"), "{}", ended.stderr);
    });
}

/// Runs each of `COMMANDS` several times, and calls `ends` with a different delay each time. No run may record a result.
fn at_some_moment(ends: impl Fn(&Session, &str, &dyn Fn()) + Sync) {
    let ends = &ends;
    thread::scope(|scope| {
        for command in COMMANDS {
            scope.spawn(move || {
                for delay in 0..rounds() {
                    let session = Session::new();
                    let script = format!("echo started; {command} {WAITS}; exit 0");
                    // This waits for no event. The signal comes at a different moment of each run.
                    ends(&session, &script, &|| thread::sleep(Duration::from_micros(u64::from(delay) * 397 % 3_000)));
                    assert!(!session.is_recorded(), "{command}");
                }
            });
        }
    });
}

fn rounds() -> u32 {
    std::env::var("STORAGEBOX_SIGNALS").map_or(4, |rounds| rounds.parse().unwrap())
}

#[test]
fn each_signal_to_end_reaches_the_children_of_the_command() {
    for (signal, name) in [
        (Signal::HUP, "HUP"),
        (Signal::INT, "INT"),
        (Signal::QUIT, "QUIT"),
        (Signal::ALARM, "ALRM"),
        (Signal::TERM, "TERM"),
    ] {
        let session = Session::new();
        let below = format!("trap \"echo {name}; exit 0\" {name}; echo started; {WAITS}");
        let run = session.started(&[], &format!("trap : {name}; bash -c '{below}'; exit 0"));
        run.signal(signal);
        let ended = run.ended().exits(123);
        assert_eq!(ended.stdout, format!("{name}\n"));
        assert!(!session.is_recorded(), "{name}");
    }
}

#[test]
fn a_signal_ends_a_suspended_command() {
    let session = Session::new();
    let run = session.started(&[], "echo $$ > pids; echo started; kill -STOP $$; exit 0");
    while !is_stopped(session.place.read("pids").trim()) {
        thread::yield_now();
    }
    run.signal(Signal::TERM);
    run.ended().exits(123);
}

/// SIGUSR1 and SIGUSR2 do not ask a process to end.
#[test]
fn a_user_signal_is_passed_on_and_the_result_is_recorded() {
    for (signal, name) in [(Signal::USR1, "USR1"), (Signal::USR2, "USR2")] {
        let session = Session::new();
        let mut run =
            session.started(&[], &format!("trap 'echo half; rm alive' {name}; echo started; {WAITS}; echo done"));
        run.signal(signal);
        assert_eq!(run.says(), "half\n");
        assert_eq!(run.ended().exits(0).stdout, "done\n");
        assert!(session.is_recorded());
    }
}

/// Under `nohup`, or in the background of a shell, a program ignores some signals.
#[test]
fn an_ignored_signal_changes_nothing() {
    let session = Session::new();
    let run = session.command(&[], &format!("echo started; {WAITS}; echo done"));
    let mut nohup = Command::new("bash");
    let run_args = run.get_args().skip(LISTENING.len());
    nohup.args(["-c", "trap '' HUP; exec \"$@\"", "bash"]).arg(run.get_program()).args(run_args);
    nohup.current_dir(run.get_current_dir().unwrap()).env_remove("STORAGEBOX_URL");
    let mut runner = nohup.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdout = BufReader::new(runner.stdout.take().unwrap());
    let mut run = Running { runner, stdout };
    assert_eq!(run.says(), "started\n");
    run.signal(Signal::HUP);
    fs::remove_file(session.place.path("alive")).unwrap();
    assert_eq!(run.ended().exits(0).stdout, "done\n");
}

#[test]
fn a_command_that_was_killed_is_run_again() {
    let session = Session::new();
    let script = "echo run >> runs; test $(wc -l < runs) = 2 || kill -KILL $$; echo done";
    let killed: Ended = session.command(&[], script).output().unwrap().into();
    let told = "error: the command was ended by a signal (signal: 9 (SIGKILL)), and nothing is recorded\n";
    assert!(killed.stderr.starts_with(told), "{}", killed.stderr);
    assert_eq!(killed.exits(123).stdout, "");
    let again: Ended = session.command(&[], script).output().unwrap().into();
    assert_eq!(again.exits(0).stdout, "done\n");
}

/// The JSON error says whether the run is recorded, so a program need not know the exit codes.
#[test]
fn an_exit_code_above_128_is_recorded_unlike_a_signal() {
    let session = Session::new();
    for _ in 0..2 {
        let ended: Ended = session.command(&[], "exit 130").output().unwrap().into();
        assert_eq!(ended.exits(130).stderr, "");
    }
    let session = Session::new();
    let killed: Ended = session.command(&["--json"], "kill -INT $$").output().unwrap().into();
    let killed = killed.exits(123);
    let told: serde_json::Value = serde_json::from_str(killed.stderr.trim_end()).unwrap();
    assert_eq!([&told["exit_code"], &told["recorded"]], [&serde_json::json!(123), &serde_json::json!(false)]);
}

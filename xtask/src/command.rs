//! Runs child processes, waits for them, and shows their output if they fail.

use std::env;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, PipeReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::failure::ChildFailure;
use crate::workspace;

/// Returns a cargo command at the root of the workspace.
pub(crate) fn cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace::root());
    // Removes the variables that `cargo run` set for xtask. Build scripts read these variables, so cargo would build
    // half of the drivers again.
    for (name, _) in env::vars_os().filter(|(name, _)| is_of_this_package(name)) {
        command.env_remove(name);
    }
    command
}

fn is_of_this_package(variable: &OsStr) -> bool {
    let of_a_package = ["CARGO_PKG_", "CARGO_MANIFEST_"];
    variable.to_str().is_some_and(|name| of_a_package.iter().any(|prefix| name.starts_with(prefix)))
}

/// Runs a child silently and returns its standard output.
pub(crate) fn captured(command: Command) -> Result<String> {
    BackgroundCommand::begin(command)?.captured()
}

/// Runs a child silently, and returns an empty summary instead of its output.
pub(crate) fn silent(command: Command) -> Result<String> {
    captured(command).map(|_| String::new())
}

/// A child that runs silently in the background, and is killed when this value is dropped.
#[derive(Debug)]
pub(crate) struct BackgroundCommand {
    command: Command,
    child: Option<Child>,
}

impl BackgroundCommand {
    pub(crate) fn begin(command: Command) -> Result<Self> {
        Self::begin_with(command, Stdio::null())
    }

    /// Begins a child whose standard input is the returned pipe.
    pub(crate) fn begin_with_input(command: Command) -> Result<(Self, ChildStdin)> {
        let mut begun = Self::begin_with(command, Stdio::piped())?;
        let input = begun.child.as_mut().and_then(|child| child.stdin.take());
        Ok((begun, input.context("the child has no standard input")?))
    }

    fn begin_with(mut command: Command, input: Stdio) -> Result<Self> {
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        // The error of a failed child contains all its output, so cargo must not print its progress.
        command.env("CARGO_TERM_QUIET", "true");
        let child = command.spawn().with_context(|| not_started(&command))?;
        Ok(Self { command, child: Some(child) })
    }

    /// Waits for the end of the child, and returns its standard output like [`captured`].
    pub(crate) fn captured(self) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.output()?.stdout).into_owned())
    }

    /// Waits for the end of the child, and returns both its outputs.
    pub(crate) fn output(mut self) -> Result<Output> {
        let output = self.child.take().map_or_else(|| Err(io::ErrorKind::NotFound.into()), Child::wait_with_output);
        let output = output.with_context(|| not_started(&self.command))?;
        checked(&self.command, output.status, || {
            [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text)).concat()
        })?;
        Ok(output)
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| child.try_wait().is_ok_and(|status| status.is_none()))
    }
}

impl Drop for BackgroundCommand {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // An error means that the child has already ended.
            let _ = child.kill().and_then(|()| child.wait());
        }
    }
}

/// Runs a child whose output is shown to the user.
pub(crate) fn shown(mut command: Command) -> Result<()> {
    let status = command.status().with_context(|| not_started(&command))?;
    checked(&command, status, String::new)
}

pub(crate) fn not_started(command: &Command) -> String {
    format!("`{}` did not start", line(command))
}

/// Returns an error with the output of the child if the child did not succeed.
pub(crate) fn checked(command: &Command, status: ExitStatus, output: impl FnOnce() -> String) -> Result<()> {
    match status.success() {
        true => Ok(()),
        false => Err(ChildFailure { command: line(command), code: status.code(), output: output() }.into()),
    }
}

fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Runs a child and passes each line of both its outputs to `hear`. Kills a child that prints nothing for the time
/// `silence`.
pub(crate) fn heard(mut command: Command, silence: Duration, mut hear: impl FnMut(&str)) -> Result<()> {
    // One pipe for both outputs keeps the order of the lines.
    let (reader, writer) = io::pipe()?;
    let mut child =
        command.stdout(writer.try_clone()?).stderr(writer).spawn().with_context(|| not_started(&command))?;
    // Closes the write ends of the pipe that the command holds. Otherwise the reader would never reach the end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let lines = lines(reader);
    loop {
        match lines.recv_timeout(silence) {
            Ok(line) => hear(&String::from_utf8_lossy(&line?)),
            Err(RecvTimeoutError::Disconnected) => return checked(&command, child.wait()?, String::new),
            Err(RecvTimeoutError::Timeout) => {
                child.kill()?;
                child.wait()?;
                bail!("{} printed nothing for {} s, and was killed", line(&command), silence.as_secs());
            }
        }
    }
}

/// Reads lines on a separate thread.
fn lines(reader: PipeReader) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    // The thread is never joined: after the child is killed, its own children may hold the pipe open.
    thread::spawn(move || BufReader::new(reader).split(b'\n').try_for_each(|line| sender.send(line)));
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::exit_code;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn variables_of_this_package_are_not_passed_to_cargo() {
        assert!(env::vars_os().any(|(name, _)| name == "CARGO_PKG_NAME"));
        let command = cargo(["--version"]);
        for name in ["CARGO_PKG_NAME", "CARGO_MANIFEST_DIR"] {
            assert!(command.get_envs().any(|variable| variable == (OsStr::new(name), None)), "{name}");
        }
    }

    #[test]
    fn a_captured_command_returns_its_output() {
        assert_eq!(captured(shell("echo yes; echo no >&2")).unwrap(), "yes\n");
    }

    #[test]
    fn a_failed_command_reports_its_exit_code_and_all_output() {
        let error = captured(shell("echo one; echo two >&2; exit 7")).unwrap_err();
        assert_eq!(exit_code(&error), 7);
        assert!(error.to_string().starts_with("one\ntwo\n"));
    }

    #[test]
    fn dropping_a_background_command_kills_its_child() {
        let mut stdout = {
            let mut command = BackgroundCommand::begin(shell("exec sleep 600")).unwrap();
            assert!(command.is_running());
            command.child.as_mut().unwrap().stdout.take().unwrap()
        };
        assert_eq!(io::copy(&mut stdout, &mut io::sink()).unwrap(), 0, "its end of the pipe is closed");
    }

    #[test]
    fn a_missing_program_is_named_in_the_error() {
        let error = captured(Command::new("no-such-program")).unwrap_err();
        assert!(error.to_string().contains("`no-such-program` did not start"));
    }

    #[test]
    fn lines_and_exit_code_of_a_child_are_passed_on() {
        let mut lines = Vec::new();
        let child = shell("echo one; echo two >&2; echo three; exit 7");
        let heard = heard(child, Duration::MAX, |line| lines.push(line.to_owned()));
        assert_eq!(exit_code(&heard.unwrap_err()), 7);
        assert_eq!(lines, ["one", "two", "three"]);
    }

    /// The child has started a process that survives the child and holds the pipe open.
    #[test]
    fn a_silent_child_is_killed() {
        let mut lines = Vec::new();
        let child = shell("echo one; sleep 5 & wait");
        let error = heard(child, Duration::from_secs(1), |line| lines.push(line.to_owned())).unwrap_err();
        assert!(error.to_string().ends_with("printed nothing for 1 s, and was killed"), "{error}");
        assert_eq!(lines, ["one"]);
    }
}

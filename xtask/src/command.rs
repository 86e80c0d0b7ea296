//! Runs child processes, waits for them, and shows their output if they fail.

use std::env;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use crate::failure::Failure;
use crate::workspace;

/// Returns a cargo command at the root of the workspace.
pub(crate) fn cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace::root());
    // Removes the variables that `cargo run` set for xtask. Build scripts read them, and half of the drivers would be
    // built again.
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
///
/// If the child fails, all its output is shown, so cargo's progress is turned off.
pub(crate) fn captured(command: Command) -> Result<String, Failure> {
    BackgroundCommand::begin(command)?.captured()
}

/// The same for a child whose output is not needed.
pub(crate) fn silent(command: Command) -> Result<String, Failure> {
    captured(command).map(|_| String::new())
}

/// A child that runs silently in the background. It is killed when this value is dropped.
#[derive(Debug)]
pub(crate) struct BackgroundCommand {
    command: Command,
    child: Option<Child>,
}

impl BackgroundCommand {
    pub(crate) fn begin(mut command: Command) -> Result<Self, Failure> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("CARGO_TERM_QUIET", "true");
        let child = command.spawn().map_err(|error| not_started(&command, error))?;
        Ok(Self { command, child: Some(child) })
    }

    /// Waits for the end of the child, like [`captured`].
    pub(crate) fn captured(mut self) -> Result<String, Failure> {
        let output = self.child.take().map_or_else(|| Err(io::ErrorKind::NotFound.into()), Child::wait_with_output);
        let Output { status, stdout, stderr } = output.map_err(|error| not_started(&self.command, error))?;
        let stdout = String::from_utf8_lossy(&stdout).into_owned();
        if status.success() {
            return Ok(stdout);
        }
        Err(ended(&self.command, status, format!("{stdout}{}", String::from_utf8_lossy(&stderr))))
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
pub(crate) fn shown(mut command: Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| not_started(&command, error))?;
    if status.success() { Ok(()) } else { Err(ended(&command, status, String::new())) }
}

pub(crate) fn not_started(command: &Command, error: io::Error) -> Failure {
    Failure::NotStarted { command: line(command), error }
}

pub(crate) fn ended(command: &Command, status: ExitStatus, output: String) -> Failure {
    Failure::Exit { command: line(command), code: status.code(), output }
}

fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Runs a child and passes each line of both its outputs to `hear`.
pub(crate) fn heard(mut command: Command, mut hear: impl FnMut(&str)) -> Result<(), Failure> {
    let failed = |error| not_started(&command, error);
    let (reader, writer) = io::pipe().map_err(failed)?;
    // One pipe for both outputs keeps the order of the lines.
    let other = writer.try_clone().map_err(failed)?;
    let mut child = command.stdout(writer).stderr(other).spawn().map_err(|error| not_started(&command, error))?;
    // Closes the command's ends of the pipe, without which the reader would never reach the end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    for line in BufReader::new(reader).split(b'\n') {
        let line = line.map_err(|error| not_started(&command, error))?;
        let line = String::from_utf8_lossy(&line);
        hear(&line);
    }
    let status = child.wait().map_err(|error| not_started(&command, error))?;
    if status.success() { Ok(()) } else { Err(ended(&command, status, String::new())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn cargo_is_told_of_no_package() {
        assert!(env::vars_os().any(|(name, _)| name == "CARGO_PKG_NAME"));
        let removed: Vec<_> = cargo(["--version"])
            .get_envs()
            .filter(|(_, value)| value.is_none())
            .map(|(name, _)| name.to_owned())
            .collect();
        for name in ["CARGO_PKG_NAME", "CARGO_MANIFEST_DIR"] {
            assert!(removed.iter().any(|removed| removed == name), "{removed:?}");
        }
    }

    #[test]
    fn a_success_gives_its_output() {
        assert_eq!(captured(shell("echo yes; echo no >&2")).unwrap(), "yes\n");
    }

    #[test]
    fn a_failure_gives_its_exit_code_and_all_its_output() {
        let failure = captured(shell("echo one; echo two >&2; exit 7")).unwrap_err();
        assert_eq!(failure.exit_code(), 7);
        assert!(failure.to_string().starts_with("one\ntwo\n"));
    }

    #[test]
    fn a_child_beside_us_is_ended_with_its_value() {
        let mut stdout = {
            let mut command = BackgroundCommand::begin(shell("exec sleep 600")).unwrap();
            command.child.as_mut().unwrap().stdout.take().unwrap()
        };
        assert_eq!(io::copy(&mut stdout, &mut io::sink()).unwrap(), 0, "its end of the pipe is closed");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let failure = captured(Command::new("no-such-program")).unwrap_err();
        assert!(failure.to_string().contains("`no-such-program` did not start"));
    }

    #[test]
    fn what_a_child_says_is_heard_in_its_order() {
        let mut lines = Vec::new();
        heard(shell("echo one; echo two >&2; echo three"), |line| lines.push(line.to_owned())).unwrap();
        assert_eq!(lines, ["one", "two", "three"]);
    }

    #[test]
    fn a_child_that_is_heard_fails_with_its_own_code() {
        assert_eq!(heard(shell("echo one; exit 7"), |_| ()).unwrap_err().exit_code(), 7);
    }
}

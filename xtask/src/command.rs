//! Children: run, waited for, and shown if they fail.

use std::env;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use crate::failure::Failure;
use crate::workspace;

/// Cargo at the root of the workspace.
pub(crate) fn cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace::root());
    // What `cargo run` told us of ourselves. Build scripts look at it, and would have half of the drivers built again.
    for (name, _) in env::vars_os().filter(|(name, _)| is_of_this_package(name)) {
        command.env_remove(name);
    }
    command
}

fn is_of_this_package(variable: &OsStr) -> bool {
    let of_a_package = ["CARGO_PKG_", "CARGO_MANIFEST_"];
    variable.to_str().is_some_and(|name| of_a_package.iter().any(|prefix| name.starts_with(prefix)))
}

/// Runs a child in silence and gives back what it wrote to standard output.
///
/// If it fails, all that it wrote is shown, so cargo is told to leave out its progress.
pub(crate) fn captured(command: Command) -> Result<String, Failure> {
    BackgroundCommand::begin(command)?.captured()
}

/// The same of a child whose output says nothing of use.
pub(crate) fn silent(command: Command) -> Result<String, Failure> {
    captured(command).map(|_| String::new())
}

/// A child that is at work beside us, in silence. It is ended with this value.
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

    /// Waits for its end, as [`captured`].
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
            // If it has ended by itself there is nothing to do.
            let _ = child.kill().and_then(|()| child.wait());
        }
    }
}

/// Runs a child whose output is for the reader.
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

/// Runs a child and hears each line of what it writes to either output.
pub(crate) fn heard(mut command: Command, mut hear: impl FnMut(&str)) -> Result<(), Failure> {
    let failed = |error| not_started(&command, error);
    let (reader, writer) = io::pipe().map_err(failed)?;
    // One pipe for both, so that the lines stay in their order.
    let other = writer.try_clone().map_err(failed)?;
    let mut child = command.stdout(writer).stderr(other).spawn().map_err(|error| not_started(&command, error))?;
    // The command keeps its ends of the pipe open, which would never end.
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

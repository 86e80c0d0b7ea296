//! A server's folder, the user that it runs as, and commands that run as this user.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::account::Account;
use crate::failure::Failure;
use crate::folder::Folder;

#[derive(Debug)]
pub(crate) struct Scratch {
    folder: Folder,
    account: Account,
}

impl Scratch {
    pub(crate) fn new(name: &str) -> Result<Self, Failure> {
        Self::make(Folder::new(name)?, Account::for_servers)
    }

    /// Creates a folder in memory, for a server whose data need not survive a crash of the machine.
    pub(crate) fn in_memory(name: &str) -> Result<Self, Failure> {
        Self::make(Folder::in_memory(name)?, Account::for_servers)
    }

    /// Creates a folder for a server that runs as our own user, even if we are root. Another user may have no access to
    /// the program.
    pub(crate) fn as_ourselves(name: &str) -> Result<Self, Failure> {
        Self::make(Folder::new(name)?, |_| Ok(Account::Own))
    }

    fn make(folder: Folder, account: impl Fn(&Path) -> Result<Account, Failure>) -> Result<Self, Failure> {
        let account = account(folder.path())?;
        account.own(folder.path())?;
        Ok(Self { folder, account })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file that only the user of the servers may read.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.path(name);
        let private = fs::Permissions::from_mode(0o600);
        fs::write(&path, text)
            .and_then(|()| fs::set_permissions(&path, private))
            .map_err(|error| Failure::File { path: path.clone(), error })?;
        self.account.own(&path)?;
        Ok(path)
    }

    /// Returns a command that runs in this folder as the user of the servers. Ctrl-C in the terminal does not end the
    /// command.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        // In English, because some messages are parsed.
        command.current_dir(self.folder.path()).env("LC_ALL", "C").stdin(Stdio::null()).process_group(0);
        self.account.run(&mut command);
        command
    }

    pub(crate) fn run(&self, command: &mut Command) -> Result<(), Failure> {
        let program = command.get_program().to_owned();
        let output = command.output().map_err(|error| Failure::Started { program: program.clone().into(), error })?;
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stdout, output.stderr].concat();
        let output_text = String::from_utf8_lossy(&said).trim_end().to_owned();
        let command = program.to_string_lossy().into_owned();
        Err(Failure::Program { command, status: output.status, output: output_text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_of_a_failed_command_shows_its_output() {
        let scratch = Scratch::new("scratch-command-test").unwrap();
        let mut command = scratch.command(Path::new("/bin/sh"));
        let failure = scratch.run(command.args(["-c", "echo the reason >&2; exit 3"])).unwrap_err();
        assert!(failure.to_string().starts_with("the reason\n`/bin/sh` failed"), "{failure}");
    }
}

//! A folder that is removed whatever happens, with the processes that run in it.
//!
//! A shell reads from a pipe whose other end only our process holds. The pipe closes when the folder is dropped, and
//! also when our process ends without a word: by `exit`, from a static, by SIGKILL. Then the shell ends the servers
//! that it finds by their `.pid` files, waits for them and removes the folder.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

use crate::account::Account;
use crate::failure::Failure;

/// The folder takes another name first: a server that is just being started finds no place for its `.pid` file then,
/// and ends. QUIT is the quick end without a loss of shared memory; KILL comes after five seconds. A process that has
/// ended counts as gone although its new parent may never ask for it, as in many containers.
const KEEPER: &str = r#"
cat >/dev/null
folder=$1.ending
mv "$1" "$folder" || exit

runs() {
    kill -0 "$1" 2>/dev/null && ! grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null
}

end() {
    kill -QUIT "$1" 2>/dev/null
    looks=0
    while runs "$1" && [ "$looks" -lt 200 ]; do
        looks=$((looks + 1))
        [ "$looks" -ne 100 ] || kill -KILL "$1"
        sleep 0.05
    done
}

for file in "$folder"/*.pid; do
    [ ! -e "$file" ] || end "$(cat "$file")"
done
# What is not a server yet may still be writing.
looks=0
until rm -rf "$folder" 2>/dev/null || [ "$looks" -eq 100 ]; do
    looks=$((looks + 1))
    sleep 0.05
done
"#;

/// How many folders this process has made.
static MADE: AtomicU32 = AtomicU32::new(0);

#[derive(Debug)]
pub(crate) struct Scratch {
    folder: PathBuf,
    account: Account,
    keeper: Child,
}

impl Scratch {
    /// The name says what it is for.
    pub(crate) fn new(name: &str) -> Result<Self, Failure> {
        Self::make(name, Account::for_servers)
    }

    /// For a server that does not refuse to be root, and whose program may be where only we can go.
    pub(crate) fn as_ourselves(name: &str) -> Result<Self, Failure> {
        Self::make(name, |_| Ok(Account::Own))
    }

    fn make(name: &str, account: impl Fn(&Path) -> Result<Account, Failure>) -> Result<Self, Failure> {
        let count = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("storagebox-{name}-{}-{count}", process::id()));
        fs::create_dir(&folder).map_err(|error| Failure::File { path: folder.clone(), error })?;
        let keeper = keeper(&folder)?;
        let account = account(&folder)?;
        account.own(&folder)?;
        Ok(Self { folder, account, keeper })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A file that the server may read and nobody else.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.path(name);
        let private = fs::Permissions::from_mode(0o600);
        fs::write(&path, text)
            .and_then(|()| fs::set_permissions(&path, private))
            .map_err(|error| Failure::File { path: path.clone(), error })?;
        self.account.own(&path)?;
        Ok(path)
    }

    /// A command in this folder, by the user that servers run as, deaf to the terminal.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        // Messages in English, because some are read.
        command.current_dir(&self.folder).env("LC_ALL", "C").stdin(Stdio::null()).process_group(0);
        self.account.run(&mut command);
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, command: &mut Command) -> Result<(), Failure> {
        let program = command.get_program().to_owned();
        let output =
            command.output().map_err(|error| Failure::Started { program: program.clone().into(), error })?;
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stdout, output.stderr].concat();
        let output_text = String::from_utf8_lossy(&said).trim_end().to_owned();
        let command = program.to_string_lossy().into_owned();
        Err(Failure::Program { command, status: output.status, output: output_text })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // It removes the folder; if it cannot, nobody can.
        let _ = self.keeper.wait();
    }
}

fn keeper(folder: &Path) -> Result<Child, Failure> {
    let mut shell = Command::new("/bin/sh");
    // A process group of its own: the terminal's Ctrl-C must not end it.
    shell.args(["-c", KEEPER, "keeper"]).arg(folder).process_group(0);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    shell.spawn().map_err(|error| Failure::Started { program: "/bin/sh".into(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_gone_afterwards() {
        let scratch = Scratch::new("scratch-test").unwrap();
        let file = scratch.write("file", "text").unwrap();
        assert!(file.is_file());
        let folder = scratch.folder.clone();
        drop(scratch);
        assert!(!folder.exists());
    }

    #[test]
    fn a_command_that_fails_says_why() {
        let scratch = Scratch::new("scratch-command-test").unwrap();
        let mut command = scratch.command(Path::new("/bin/sh"));
        let failure = scratch.run(command.args(["-c", "echo the reason >&2; exit 3"])).unwrap_err();
        assert!(failure.to_string().starts_with("the reason\n`/bin/sh` failed"), "{failure}");
    }
}

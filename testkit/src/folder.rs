//! A folder that is removed in any case, together with the servers that run in it.
//!
//! A shell reads from a pipe whose other end only our process holds. The pipe closes when the folder is dropped, and
//! also when our process ends without dropping it: by `exit`, from a static, by SIGKILL. Then the shell ends the
//! servers that it finds by their `.pid` files, waits for them and removes the folder. If the shell is killed too, the
//! next program of the same user that makes a folder removes this one: the owner file stays locked as long as our
//! process lives.

use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::geteuid;

use crate::failure::Failure;
use crate::memory;

const KEEPER: &str = include_str!("keeper.sh");

const OURS: &str = "storagebox-";

/// The name of the file that the owner of a folder keeps locked.
const OWNER: &str = "owner";

/// The number of folders that this process has created.
static MADE: AtomicU32 = AtomicU32::new(0);

/// An empty folder. It is removed when this value is dropped or our process ends. A process that runs in the folder and
/// whose number is in a `.pid` file there is ended too.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    keeper: Child,
    _owner: File,
}

impl Folder {
    /// Creates a folder in the system's folder for temporary files. The name says what it is for.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error.
    pub fn new(name: &str) -> Result<Self, Failure> {
        Self::new_in(&env::temp_dir(), name)
    }

    /// Creates a folder in memory if the machine has enough memory, and otherwise as [`Self::new`] does.
    pub(crate) fn in_memory(name: &str) -> Result<Self, Failure> {
        memory::folder().map_or_else(|| Self::new(name), |parent| Self::new_in(parent, name))
    }

    /// Creates a folder in `parent`.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error.
    pub fn new_in(parent: &Path, name: &str) -> Result<Self, Failure> {
        let count = MADE.fetch_add(1, Ordering::Relaxed);
        if count == 0 {
            [parent, &env::temp_dir(), Path::new(memory::FOLDER)].into_iter().for_each(remove_abandoned);
        }
        let path = parent.join(format!("{OURS}{name}-{}-{count}", process::id()));
        let failed = |error| Failure::File { path: path.clone(), error };
        fs::create_dir(&path).map_err(failed)?;
        let keeper = keeper(&path, Stdio::piped())?;
        let owner = own(&path).map_err(failed)?;
        Ok(Self { path, keeper, _owner: owner })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // The keeper removes the folder. If the keeper fails, no other way is left.
        let _ = self.keeper.wait();
    }
}

/// Creates the owner file of a folder, and locks the file.
fn own(folder: &Path) -> io::Result<File> {
    // The file gets its name after it is locked, so that no other process finds it unlocked.
    let begun = folder.join("owner.new");
    let owner = File::create(&begun)?;
    owner.lock()?;
    fs::rename(begun, folder.join(OWNER))?;
    Ok(owner)
}

fn keeper(folder: &Path, input: Stdio) -> Result<Child, Failure> {
    let mut shell = Command::new("/bin/sh");
    // In its own process group, so that Ctrl-C in the terminal does not end it.
    shell.args(["-c", KEEPER, "keeper"]).arg(folder).process_group(0);
    shell.stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
    shell.spawn().map_err(|error| Failure::Started { program: "/bin/sh".into(), error })
}

/// Removes the folders whose program and keeper were both killed. A keeper is the shell that removes a folder.
fn remove_abandoned(parent: &Path) {
    // Without /proc, a process with a number from a `.pid` file may be a process of another program.
    if !Path::new("/proc/self/cwd").exists() {
        return;
    }
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(OURS));
        let Some(_lock) = is_ours.then(|| abandoned(&entry.path())).flatten() else { continue };
        if let Ok(mut keeper) = keeper(&entry.path(), Stdio::null()) {
            // A folder that cannot be removed now is left to the next program.
            let _ = keeper.wait();
        }
    }
}

/// Locks the owner file of a folder, and returns the lock. Returns `None` if the owner still runs or the folder belongs
/// to another user.
fn abandoned(folder: &Path) -> Option<File> {
    let path = folder.join(OWNER);
    // The owner file of another user may not be a regular file, and an open of it might wait.
    let told = fs::symlink_metadata(&path).ok()?;
    let is_ours = told.is_file() && told.uid() == geteuid().as_raw();
    let owner = is_ours.then(|| File::open(path).ok()).flatten()?;
    owner.try_lock().ok().map(|()| owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a folder as a killed program and a killed keeper leave it.
    fn left_behind(parent: &Path, name: &str) -> PathBuf {
        let path = parent.join(name);
        fs::create_dir(&path).unwrap();
        own(&path).unwrap();
        path
    }

    #[test]
    fn a_dropped_folder_is_removed() {
        let folder = Folder::new("folder-test").unwrap();
        let path = folder.path().to_owned();
        fs::write(path.join("file"), "text").unwrap();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn only_abandoned_folders_are_removed() {
        let parent = Folder::new("abandoned-test").unwrap();
        let gone = ["storagebox-a-1-0", "storagebox-b-1-0.ending"].map(|it| left_behind(parent.path(), it));
        let others = left_behind(parent.path(), "other-a-1-0");
        let in_use = Folder::new_in(parent.path(), "in-use").unwrap();
        let unlike = parent.path().join("storagebox-without-owner");
        fs::create_dir(&unlike).unwrap();
        let endless = parent.path().join("storagebox-c-1-0");
        fs::create_dir(&endless).unwrap();
        // An open of a FIFO would wait for a writer.
        assert!(Command::new("mkfifo").arg(endless.join(OWNER)).status().unwrap().success());
        remove_abandoned(parent.path());
        assert!(gone.iter().all(|path| !path.exists()), "{gone:?}");
        assert!([&others, &unlike, &endless, in_use.path()].iter().all(|path| path.exists()));
    }

    /// The `.pid` file contains the number of a process that runs in another folder. That process must survive.
    #[test]
    fn a_process_outside_the_folder_is_not_ended() {
        let folder = Folder::new("number-test").unwrap();
        let mut other = Command::new("/bin/sleep").arg("1000").current_dir("/").spawn().unwrap();
        fs::write(folder.path().join("server.pid"), other.id().to_string()).unwrap();
        drop(folder);
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }
}

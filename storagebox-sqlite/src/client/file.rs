//! The database file. Only its owner can use a file that the library creates. A file that another user may have created
//! is refused. This module also has the names of the files that SQLite keeps beside the database file.

mod access;
mod identity;
mod ownership;
mod sidecar_files;

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use storagebox_core::Result;

use crate::error::{self, bad};

pub(crate) use access::is_denied;
pub(super) use identity::WatchedFile;
pub(super) use sidecar_files::SidecarFiles;

/// The suffixes of the files that SQLite keeps beside the database file.
const BESIDE: [&str; 3] = ["-journal", "-shm", "-wal"];

/// The most symbolic links that are followed, as on Linux.
const LINKS: usize = 40;

/// A lock that a setup holds until it has closed the handle of a new file.
static MAKING: Mutex<()> = Mutex::new(());

/// Creates an empty file that only its owner can use, or checks an existing file.
pub(super) fn make(path: &Path) -> Result<()> {
    let end = trusted(path)?;
    match create(&end) {
        Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => Err(error::not_made(cause, &end)),
        // Another process may have created the file since the first check.
        Ok(()) | Err(_) => check(path),
    }
}

fn create(path: &Path) -> io::Result<()> {
    // Closing the handle releases all locks that SQLite has on the file in this process.
    let _turn = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Returns an error if the path does not lead to a regular file, or if the file may belong to another user.
pub(super) fn check(path: &Path) -> Result<()> {
    let end = trusted(path)?;
    match fs::metadata(&end) {
        Ok(found) if found.is_file() => Ok(()),
        found => Err(error::unfit(&end, found)),
    }
}

/// Returns the path to which the links lead. Returns `Denied` if another user may have created a link, the file or a
/// sidecar file.
fn trusted(path: &Path) -> Result<PathBuf> {
    let end = end_of_links(path, |link| ownership::check(&[link.to_owned()]))?;
    ownership::check(&with_sidecars(&end))?;
    Ok(end)
}

/// Returns the paths of the database file and its sidecar files, under `path` and under the path to which its links
/// lead.
pub(super) fn all(path: &Path) -> Vec<PathBuf> {
    // If the links form a loop, no file is ever opened.
    let end = end_of_links(path, |_| Ok(())).unwrap_or_else(|_| path.to_owned());
    let by_link = (end != path).then(|| with_sidecars(&end));
    [with_sidecars(path), by_link.unwrap_or_default()].concat()
}

fn with_sidecars(path: &Path) -> Vec<PathBuf> {
    [""].into_iter().chain(BESIDE).map(|suffix| named(path, suffix)).collect()
}

fn named(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Calls `judge` with each link, and returns the path to which the links lead, even if no file exists there.
fn end_of_links(path: &Path, judge: fn(&Path) -> Result<()>) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(next) => {
                judge(&path)?;
                path = of_a_file(path.with_file_name("").join(next));
            }
            Err(_) => return Ok(path),
        }
    }
    Err(bad("path", format_args!("must not lead through more than {LINKS} links")))
}

/// Removes a trailing slash. A link may lead to `file/`, which SQLite opens as `file`.
fn of_a_file(path: PathBuf) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

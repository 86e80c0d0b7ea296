//! The database file: how it is created for its owner alone, when it is refused because another user may have created
//! it, and the names of the files that SQLite keeps beside it.

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

pub(super) use identity::WatchedFile;
pub(super) use sidecar_files::SidecarFiles;

/// The suffixes of the files that SQLite keeps beside the database file.
const BESIDE: [&str; 3] = ["-journal", "-shm", "-wal"];

/// The largest number of symbolic links that are followed, as on Linux.
const LINKS: usize = 40;

/// Held while this process has a handle of the file that SQLite did not open, so that another setup opens the file
/// later. Closing any handle of a file releases all locks that the process has on it, SQLite's included.
static MAKING: Mutex<()> = Mutex::new(());

/// Creates an empty file if none exists. Only its owner may read it and the files that SQLite keeps beside it, which
/// get the same permissions. An existing file is checked and not changed.
pub(super) fn make(path: &Path) -> Result<()> {
    let end = trusted(path)?;
    match create(&end) {
        Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => Err(error::not_made(cause, &end)),
        // Another process may have created the file since the first check.
        Ok(()) | Err(_) => check(path),
    }
}

fn create(path: &Path) -> io::Result<()> {
    let _turn = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Returns an error if the path is not a regular file or belongs to another user. SQLite itself would open any file,
/// and would create sidecar files beside a device.
pub(super) fn check(path: &Path) -> Result<()> {
    let end = trusted(path)?;
    match fs::metadata(&end) {
        Ok(found) if found.is_file() => Ok(()),
        found => Err(error::unfit(&end, found)),
    }
}

/// Returns the end of the path's links, or `Denied` if another user may have created a link or one of the files.
fn trusted(path: &Path) -> Result<PathBuf> {
    let end = end_of_links(path, |link| ownership::check(&[link.to_owned()]))?;
    ownership::check(&with_sidecars(&end))?;
    Ok(end)
}

/// Returns the file and the files beside it, by the given path and by the path at the end of its links.
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

/// Calls `judge` with each link, and returns the end of the links, where SQLite would create a missing file.
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

/// Removes a trailing slash, to which a link may lead: SQLite opens `file/` as `file`.
fn of_a_file(path: PathBuf) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

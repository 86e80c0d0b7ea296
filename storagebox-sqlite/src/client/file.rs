//! The file: made for its owner alone, refused where a stranger may have put it, and the names of those that SQLite
//! keeps beside it.

mod owner;
mod same;
mod sidecar_files;

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use storagebox_core::Result;

use crate::error::{self, bad};

pub(super) use same::Lasting;
pub(super) use sidecar_files::SidecarFiles;

/// What SQLite adds to the name of the file for those beside it.
const BESIDE: [&str; 3] = ["-journal", "-shm", "-wal"];

/// As many as Linux follows.
const LINKS: usize = 40;

/// Closing any handle of a file gives up all locks that this process has on it, SQLite's too. So nobody opens the file
/// to set it up while another has a handle of it that was made here.
static MAKING: Mutex<()> = Mutex::new(());

/// Makes the file, empty, unless it is there: nobody but its owner may read it, nor what SQLite keeps beside it, which
/// gets the same rights. One that is there is not touched.
pub(super) fn make(path: &Path) -> Result<()> {
    let end = trusted(path)?;
    match create(&end) {
        Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => Err(error::not_made(cause, &end)),
        // What is there now was perhaps not there before.
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

/// Refuses what SQLite should not open: it would take any file, whosever it is, and leave others beside a device.
pub(super) fn check(path: &Path) -> Result<()> {
    let end = trusted(path)?;
    match fs::metadata(&end) {
        Ok(found) if found.is_file() => Ok(()),
        found => Err(error::unfit(&end, found)),
    }
}

/// Where the path leads, if no stranger put anything there or on the way.
fn trusted(path: &Path) -> Result<PathBuf> {
    let end = end_of_links(path, |link| owner::check(&[link.to_owned()]))?;
    owner::check(&with_sidecars(&end))?;
    Ok(end)
}

/// The file and those beside it, under every name that leads there by links of the file itself.
pub(super) fn all(path: &Path) -> Vec<PathBuf> {
    // Where links do not end, nothing is opened.
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

/// Where a link leads, whether anything is there or not: SQLite makes the file there. Each link on the way is judged.
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

/// SQLite takes `file/`, to which a link may lead, for `file`.
fn of_a_file(path: PathBuf) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

//! The file: made for its owner alone, and the names of those that SQLite keeps beside it.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What SQLite adds to the name of the file for those beside it.
const BESIDE: [&str; 3] = ["-journal", "-shm", "-wal"];

/// As many as Linux follows.
const LINKS: usize = 40;

/// Closing any handle of a file gives up all locks that this process has on it, SQLite's too. So nobody opens the file
/// to set it up while another has a handle of it that was made here.
static MAKING: Mutex<()> = Mutex::new(());

/// Makes the file, empty, unless it is there: nobody but its owner may read it, nor what SQLite keeps beside it, which
/// gets the same rights. One that is there is not touched.
pub(super) fn make(path: &Path) {
    let _turn = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // Where that fails SQLite will too, and says why.
    drop(options.open(end_of_links(path)));
}

/// The file and those beside it, under every name that leads there by links of the file itself.
pub(super) fn all(path: &Path) -> Vec<PathBuf> {
    let mut files = vec![];
    for path in [path.to_owned(), end_of_links(path)] {
        let beside = BESIDE.map(|suffix| {
            let mut name = path.clone().into_os_string();
            name.push(suffix);
            PathBuf::from(name)
        });
        files.push(path);
        files.extend(beside);
    }
    files
}

/// Where a link leads, whether anything is there or not: SQLite makes the file there.
fn end_of_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = path.with_file_name("").join(next),
            Err(_) => break,
        }
    }
    path
}

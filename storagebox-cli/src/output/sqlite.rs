//! Files of any SQLite database: the database, and what is kept beside it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How a database, a log of either byte order and a rollback journal begin.
const BEGINNINGS: [&[u8]; 4] =
    [b"SQLite format 3\0", b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"];
const LONGEST: u64 = 16;

/// What SQLite puts after a database's name for the files beside it; they may be empty.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Whether a regular file is there and begins as one of SQLite's.
pub(super) fn is_at(path: &Path) -> io::Result<bool> {
    if !path.is_file() {
        return Ok(false);
    }
    let mut beginning = vec![];
    File::open(path)?.take(LONGEST).read_to_end(&mut beginning)?;
    Ok(BEGINNINGS.iter().any(|known| beginning.starts_with(known)))
}

/// The database that a file of this name would belong to, if that were one.
pub(super) fn database_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let name = BESIDE.iter().find_map(|end| name.strip_suffix(end))?;
    Some(path.with_file_name(name))
}

//! The check that a file is still the one that was opened.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use storagebox_core::Result;

use crate::error;

/// A file that must stay at its path, because SQLite does not notice its removal or replacement.
#[derive(Debug)]
pub(in crate::client) struct WatchedFile {
    path: PathBuf,
    remembered: OnceLock<Identity>,
}

impl WatchedFile {
    pub(in crate::client) fn at(path: PathBuf) -> Self {
        Self { path, remembered: OnceLock::new() }
    }

    pub(in crate::client) fn path(&self) -> &Path {
        &self.path
    }

    /// Remembers the identity of the file on the first call. Later calls return `Corrupt` if the file was replaced or
    /// removed.
    pub(in crate::client) fn remember(&self) -> Result<()> {
        let now = self.now();
        match now.map(|now| self.remembered.get_or_init(|| now)).or_else(|| self.remembered.get()) {
            Some(remembered) => self.judge(*remembered, now),
            None => Ok(()),
        }
    }

    /// Returns `Corrupt` if the remembered file was replaced or removed.
    pub(in crate::client) fn check(&self) -> Result<()> {
        match self.remembered.get() {
            Some(remembered) => self.judge(*remembered, self.now()),
            None => Ok(()),
        }
    }

    fn judge(&self, remembered: Identity, now: Option<Identity>) -> Result<()> {
        match now {
            Some(now) if now == remembered => Ok(()),
            _ => Err(error::replaced(&self.path, now.is_some())),
        }
    }

    fn now(&self) -> Option<Identity> {
        at(&self.path)
    }
}

/// Returns the identity of the file at the path, or `None` if there is no file.
pub(super) fn at(path: &Path) -> Option<Identity> {
    fs::metadata(path).ok().as_ref().map(identity)
}

/// The device and the inode of a file, unique while the file is open.
#[cfg(unix)]
pub(super) type Identity = (u64, u64);

#[cfg(unix)]
fn identity(found: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino())
}

/// The empty identity of a file on Windows, which neither removes nor replaces an open file.
#[cfg(not(unix))]
pub(super) type Identity = ();

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {}

//! Whether a file is still the one that was opened.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use storagebox_core::Result;

use crate::error;

/// A file that must stay where it is. SQLite does not notice that another took its place, or that it was removed: a
/// process that has it open goes on in a file that nobody else sees any more, and both give the same item.
#[derive(Debug)]
pub(in crate::client) struct Lasting {
    path: PathBuf,
    met: OnceLock<Identity>,
}

impl Lasting {
    pub(in crate::client) fn at(path: PathBuf) -> Self {
        Self { path, met: OnceLock::new() }
    }

    pub(in crate::client) fn path(&self) -> &Path {
        &self.path
    }

    /// The one that is there is the one from now on, unless it was met before.
    pub(in crate::client) fn meet(&self) -> Result<()> {
        let now = self.now();
        match now.map(|now| self.met.get_or_init(|| now)).or_else(|| self.met.get()) {
            Some(met) => self.judge(*met, now),
            None => Ok(()),
        }
    }

    /// Refuses another file, or none, where one was met.
    pub(in crate::client) fn check(&self) -> Result<()> {
        match self.met.get() {
            Some(met) => self.judge(*met, self.now()),
            None => Ok(()),
        }
    }

    fn judge(&self, met: Identity, now: Option<Identity>) -> Result<()> {
        match now {
            Some(now) if now == met => Ok(()),
            _ => Err(error::replaced(&self.path, now.is_some())),
        }
    }

    fn now(&self) -> Option<Identity> {
        at(&self.path)
    }
}

/// The file that is there now.
pub(super) fn at(path: &Path) -> Option<Identity> {
    fs::metadata(path).ok().as_ref().map(identity)
}

/// Device and number, which no other file has as long as this one is open.
#[cfg(unix)]
pub(super) type Identity = (u64, u64);

#[cfg(unix)]
fn identity(found: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino())
}

/// Windows neither removes nor replaces a file that is open.
#[cfg(not(unix))]
pub(super) type Identity = ();

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {}

//! The files that SQLite keeps beside an open database file.

use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use storagebox_core::Result;

use super::identity::{self, Identity, WatchedFile};
use super::{end_of_links, named};

/// The sidecar files that this process has open. SQLite maps the shared memory of a database file once per process, so
/// a new connection uses the existing mapping even if the file was removed.
static OPEN_FILES: Mutex<Vec<Weak<SidecarFiles>>> = Mutex::new(Vec::new());

fn lock() -> MutexGuard<'static, Vec<Weak<SidecarFiles>>> {
    OPEN_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The write-ahead log and the shared memory of a database file. Both must stay in their folder while a connection is
/// open.
#[derive(Debug)]
pub(in crate::client) struct SidecarFiles {
    file: (Option<Identity>, PathBuf),
    log: WatchedFile,
    memory: WatchedFile,
}

impl SidecarFiles {
    /// Returns the sidecar files of a new connection, which has read nothing yet.
    pub(in crate::client) fn new(path: &Path) -> Result<Self> {
        let end = end_of_links(path, |_| Ok(()))?;
        let end = fs::canonicalize(&end).unwrap_or(end);
        let (log, memory) = (WatchedFile::at(named(&end, "-wal")), WatchedFile::at(named(&end, "-shm")));
        Ok(Self { file: (identity::at(&end), end), log, memory })
    }

    /// Returns the entry of `OPEN_FILES` for the same database file, and adds these files if there is no such entry.
    pub(in crate::client) fn shared(self) -> Arc<Self> {
        let mut open_files = lock();
        open_files.retain(|one| one.strong_count() > 0);
        self.among(&open_files).unwrap_or_else(|| {
            let sidecars = Arc::new(self);
            open_files.push(Arc::downgrade(&sidecars));
            sidecars
        })
    }

    /// Returns `Corrupt` if the sidecar files that this process has open for the same database file were replaced or
    /// removed.
    pub(in crate::client) fn check_shared(&self) -> Result<()> {
        let open_files = lock();
        match self.among(&open_files) {
            Some(known) => known.check().or_else(|refused| match Arc::strong_count(&known) {
                // Only this function still holds `known`: the last connection closed and may have removed the files.
                1 => Ok(()),
                _ => Err(refused),
            }),
            None => Ok(()),
        }
    }

    fn among(&self, open_files: &[Weak<Self>]) -> Option<Arc<Self>> {
        open_files.iter().filter_map(Weak::upgrade).find(|one| one.file == self.file)
    }

    pub(in crate::client) fn has_log(&self) -> bool {
        self.log.path().exists()
    }

    /// Remembers the identities of the files on the first call. Later calls return `Corrupt` if a file was replaced or
    /// removed.
    pub(in crate::client) fn remember(&self) -> Result<()> {
        self.log.remember().and_then(|()| self.memory.remember())
    }

    /// Returns `Corrupt` if the remembered files were replaced or removed.
    pub(in crate::client) fn check(&self) -> Result<()> {
        self.log.check().and_then(|()| self.memory.check())
    }

    /// Returns whether a connection with these files must never be closed, because its log was removed or replaced.
    /// SQLite would move that log to the database file and remove the log of other processes.
    pub(in crate::client) fn is_lost(&self) -> bool {
        self.check().is_err() && identity::at(&self.file.1) == self.file.0
    }

    /// Marks these files as lost, so that this process cannot open the database file again.
    pub(in crate::client) fn lose(self: Arc<Self>) {
        lock().insert(0, Arc::downgrade(&self));
        mem::forget(self);
    }
}

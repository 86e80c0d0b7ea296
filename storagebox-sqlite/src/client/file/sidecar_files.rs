//! What SQLite keeps beside the file for as long as anybody has it open.

use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use storagebox_core::Result;

use super::same::{self, Identity, Lasting};
use super::{end_of_links, named};

/// Those of this process's connections. SQLite maps the shared memory of a file once in each process: a connection that
/// is opened anew has what the others have, also what was removed.
static MET: Mutex<Vec<Weak<SidecarFiles>>> = Mutex::new(Vec::new());

fn lock() -> MutexGuard<'static, Vec<Weak<SidecarFiles>>> {
    MET.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The write-ahead log, and the memory that processes share, where the locks of those who write are. They stand beside
/// the end of the links, and stay for as long as a connection is open.
#[derive(Debug)]
pub(in crate::client) struct SidecarFiles {
    file: (Option<Identity>, PathBuf),
    log: Lasting,
    memory: Lasting,
}

impl SidecarFiles {
    /// Of a connection that has read nothing yet.
    pub(in crate::client) fn new(path: &Path) -> Result<Self> {
        let end = end_of_links(path, |_| Ok(()))?;
        let end = fs::canonicalize(&end).unwrap_or(end);
        let (log, memory) = (Lasting::at(named(&end, "-wal")), Lasting::at(named(&end, "-shm")));
        Ok(Self { file: (same::at(&end), end), log, memory })
    }

    /// What this process's connections that have read the file have in common, from now on this one too.
    pub(in crate::client) fn shared(self) -> Arc<Self> {
        let mut met = lock();
        met.retain(|one| one.strong_count() > 0);
        self.among(&met).unwrap_or_else(|| {
            let sidecars = Arc::new(self);
            met.push(Arc::downgrade(&sidecars));
            sidecars
        })
    }

    /// Refuses others, or none, where those of this process met some.
    pub(in crate::client) fn check_shared(&self) -> Result<()> {
        let met = lock();
        match self.among(&met) {
            Some(known) => known.check().or_else(|refused| match Arc::strong_count(&known) {
                // The connection that had it was closed meanwhile, and may have removed it.
                1 => Ok(()),
                _ => Err(refused),
            }),
            None => Ok(()),
        }
    }

    fn among(&self, met: &[Weak<Self>]) -> Option<Arc<Self>> {
        met.iter().filter_map(Weak::upgrade).find(|one| one.file == self.file)
    }

    pub(in crate::client) fn has_log(&self) -> bool {
        self.log.path().exists()
    }

    /// Those that are there are the ones from now on, unless others were met before.
    pub(in crate::client) fn meet(&self) -> Result<()> {
        self.log.meet().and_then(|()| self.memory.meet())
    }

    /// Refuses others, or none, where some were met.
    pub(in crate::client) fn check(&self) -> Result<()> {
        self.log.check().and_then(|()| self.memory.check())
    }

    /// Whether a connection that has them must not be closed: SQLite's last connection to a file moves its log to it
    /// and removes what has the log's name, whosever they are. It does neither where the file itself is another.
    pub(in crate::client) fn is_lost(&self) -> bool {
        self.check().is_err() && same::at(&self.file.1) == self.file.0
    }

    /// A connection that has them is never closed: as long as this process lives, all who open the file are refused.
    pub(in crate::client) fn lose(self: Arc<Self>) {
        lock().insert(0, Arc::downgrade(&self));
        mem::forget(self);
    }
}

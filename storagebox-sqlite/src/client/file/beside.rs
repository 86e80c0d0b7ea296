//! What SQLite keeps beside the file for as long as anybody has it open.

use std::path::Path;

use storagebox_core::Result;

use super::same::Lasting;
use super::{end_of_links, named};

/// The write-ahead log, and the memory that processes share, where the locks of those who write are. They stand beside the
/// end of the links, and stay for as long as a connection is open.
#[derive(Debug)]
pub(in crate::client) struct Beside {
    log: Lasting,
    memory: Lasting,
}

impl Beside {
    pub(in crate::client) fn of(path: &Path) -> Result<Self> {
        let end = end_of_links(path, |_| Ok(()))?;
        let lasting = |suffix| Lasting::at(named(&end, suffix));
        Ok(Self { log: lasting("-wal"), memory: lasting("-shm") })
    }

    /// Those that are there are the ones from now on, unless others were met before.
    pub(in crate::client) fn meet(&self) -> Result<()> {
        self.log.meet().and_then(|()| self.memory.meet())
    }

    /// Refuses others, or none, where some were met.
    pub(in crate::client) fn check(&self) -> Result<()> {
        self.log.check().and_then(|()| self.memory.check())
    }
}

//! The target for SQLite. Each case has a file in a new folder beside the file of the URL.

use std::path::Path;

use storagebox::time::ManualClock;
use storagebox::{Error, Result, SqliteStore, async_trait};
use storagebox_conformance::{Declared, Part};
use tempfile::TempDir;

use super::cases::Case;
use super::{CALL_TIMEOUT, MARK, TestTarget};

pub(super) struct Folder(TempDir);

impl Folder {
    pub(super) fn at(url: &str) -> Result<Self> {
        let files = storagebox::files(url)?;
        let parent = files.first().and_then(|file| file.parent()).filter(|path| !path.as_os_str().is_empty());
        let folder = tempfile::Builder::new().prefix(MARK).tempdir_in(parent.unwrap_or(Path::new(".")));
        folder.map(Self).map_err(|error| Error::misconfigured("url", "names no writable folder").caused_by(error))
    }
}

#[async_trait]
impl TestTarget for Folder {
    fn name(&self) -> String {
        "sqlite".to_owned()
    }

    fn declared(&self) -> Declared {
        Declared::all()
            .without(Part::Strategies, "of the counters, SQLite has Atomic, Marker, Window and Sharded")
            .without_network("a file has no server")
            .without_restart("a file has no server")
    }

    async fn bare(&self, number: u64) -> Result<Case> {
        let (path, clock) = (self.0.path().join(format!("{number}.db")), ManualClock::new());
        let builder = SqliteStore::builder().clock(clock.clone()).call_timeout(CALL_TIMEOUT);
        Ok(Case::new(clock, move |_| builder.clone().open(&path)))
    }

    fn left(&self) -> String {
        format!("the folder {}", self.0.path().display())
    }
}

//! Files of SQLite, in a folder beside the file of the URL.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use storagebox::bank::ListedItem;
use storagebox::parts::Backend;
use storagebox::time::ManualClock;
use storagebox::values::Namespace;
use storagebox::{Error, Result, SqliteStore, async_trait};
use storagebox_conformance::{Declared, Harness, Part, Sandbox, TestClock, listed};
use tempfile::TempDir;

use super::{CALL_TIMEOUT, MARK, TestTarget};

/// The folder, which goes with the run.
pub(super) struct Folder(Arc<TempDir>);

impl Folder {
    pub(super) fn at(url: &str) -> Result<Self> {
        let files = storagebox::files(url)?;
        let parent = files.first().and_then(|file| file.parent()).filter(|path| !path.as_os_str().is_empty());
        let folder = tempfile::Builder::new().prefix(MARK).tempdir_in(parent.unwrap_or(Path::new(".")));
        let folder =
            folder.map_err(|error| Error::misconfigured("url", "names no folder to write to").caused_by(error))?;
        Ok(Self(Arc::new(folder)))
    }
}

#[async_trait]
impl TestTarget for Folder {
    fn harness(&self) -> Box<dyn Harness> {
        Box::new(Files { folder: Arc::clone(&self.0), next: AtomicU64::new(0) })
    }

    async fn reach(&self) -> Result<()> {
        Ok(())
    }

    /// Dropping it removes it.
    async fn remove(&self) -> Result<()> {
        Ok(())
    }

    fn left(&self) -> String {
        format!("the folder {}", self.0.path().display())
    }
}

struct Files {
    folder: Arc<TempDir>,
    next: AtomicU64,
}

#[async_trait]
impl Harness for Files {
    fn name(&self) -> String {
        "sqlite".to_owned()
    }

    fn declared(&self) -> Declared {
        Declared::all()
            .without(Part::Strategies, "of the counters, SQLite has Atomic, Marker, Window and Sharded")
            .without_network("a file has no server")
            .without_restart("a file has no server")
            .without_processes("the command starts no others")
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(File { path: self.folder.path().join(format!("{number}.db")), clock: ManualClock::new() }))
    }
}

struct File {
    path: PathBuf,
    clock: ManualClock,
}

#[async_trait]
impl Sandbox for File {
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        let builder = SqliteStore::builder().clock(self.clock.clone()).call_timeout(CALL_TIMEOUT);
        Ok(Arc::new(builder.open(&self.path)?))
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        listed(&*self.open().await?, bank).await
    }

    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        Some(Arc::new(self.clock.clone()))
    }
}

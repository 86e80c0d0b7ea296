//! The harness of the backend: an empty file, clients of the file, other processes that use it, and an audit that reads
//! the file without the library.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use custom_backend::RedbStore;
use redb::{Database, ReadableDatabase, TableDefinition, TableError};
use storagebox_conformance::{Declared, Harness, Part, Profile, Sandbox, TestClock, neighbour, run_with};
use storagebox_core::{
    Backend, ClaimId, Clock, Error, ErrorKind, Item, ItemState, ListedItem, ManualClock, Namespace, Result, async_trait,
};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

/// Opens the stores that the suite tests.
struct Redb(Opened);

type Opened = fn(RedbStore) -> Arc<dyn Backend>;

struct Place {
    folder: TempDir,
    store: RedbStore,
    clock: ManualClock,
    opened: Opened,
}

impl Place {
    fn file(&self) -> PathBuf {
        self.folder.path().join("store.redb")
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the audit could not read the file: {error}"))
}

#[async_trait]
impl Harness for Redb {
    fn name(&self) -> String {
        "redb".into()
    }

    fn declared(&self) -> Declared {
        Declared::all()
            .without(Part::Entities, "this store has none")
            .without(Part::JoinedEntities, "this store has none")
            .without(Part::Strategies, "of the counters, this backend has Atomic, Marker, Window and Sharded")
            .without_network("a file has no server to connect to")
            .without_restart("a file has no server that could be restarted")
            .one_process_at_a_time("redb locks the file")
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(failed)?;
        let clock = ManualClock::new();
        let store = RedbStore::with_clock(folder.path().join("store.redb"), clock.clone());
        Ok(Box::new(Place { folder, store, clock, opened: self.0 }))
    }
}

#[async_trait]
impl Sandbox for Place {
    /// Returns a clone of the store, because redb does not open a file twice.
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        Ok((self.opened)(self.store.clone()))
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        let (file, bank, now) = (self.file(), bank.clone(), self.clock.now().as_micros() as i64);
        let audit = async { spawn_blocking(move || items(&file, bank.as_str(), now)).await.map_err(failed)? };
        self.store.lend(audit).await?
    }

    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        Some(Arc::new(self.clock.clone()))
    }

    fn address(&self) -> Option<String> {
        Some(self.file().display().to_string())
    }
}

/// Reads the items of a bank without the library.
fn items(file: &Path, bank: &str, now: i64) -> Result<Vec<ListedItem>> {
    type Row = (u8, Option<&'static str>, i64);
    const ITEMS: TableDefinition<(&str, &str), Row> = TableDefinition::new("items");
    let database = Database::open(file).map_err(failed)?;
    let reading = database.begin_read().map_err(failed)?;
    let items = match reading.open_table(ITEMS) {
        // A file without the table has no items.
        Err(TableError::TableDoesNotExist(_)) => return Ok(vec![]),
        items => items.map_err(failed)?,
    };
    let mut listed = vec![];
    for row in items.range::<(&str, &str)>((bank, "")..).map_err(failed)? {
        let (key, row) = row.map_err(failed)?;
        let ((of, item), (place, by, until)) = (key.value(), row.value());
        if of != bank {
            break;
        }
        let by = by.map(ClaimId::new).transpose()?;
        let state = match (place, by) {
            (1, Some(by)) if now < until => ItemState::Held(by),
            (0 | 1, _) => ItemState::Free,
            (2, by) => ItemState::Spent(by),
            _ => ItemState::Withdrawn,
        };
        listed.push(ListedItem { item: Item::new(item)?, state });
    }
    Ok(listed)
}

/// Runs the suite on the stores that `opened` returns.
pub fn suite(opened: Opened, profile: Profile) -> ExitCode {
    neighbour(async |file| Ok(Arc::new(RedbStore::with_clock(file, ManualClock::new())) as _))
        .unwrap_or_else(|| run_with(Redb(opened), profile))
}

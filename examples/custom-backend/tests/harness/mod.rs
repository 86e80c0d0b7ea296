//! What the suite needs of the backend: an empty file, clients of it, a look past the library, and a restart.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use custom_backend::RedbStore;
use redb::{Database, ReadableDatabase, TableDefinition};
use storagebox_conformance::{Declared, Harness, Part, Profile, Restart, Sandbox, TestClock, run_with};
use storagebox_core::{
    Backend, ClaimId, Clock, Error, Hold, Item, ItemBank, ItemState, ListedItem, ManualClock, Namespace, Result,
    async_trait,
};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

/// Opens stores for the suite, as this function makes them of the store on a file.
struct Redb(Opened);

type Opened = fn(RedbStore) -> Arc<dyn Backend>;

/// A file in a folder that goes with it, the store on it, and the store's clock.
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
    Error::corrupt("the test", error)
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
    }

    async fn fresh(&self) -> Result<Box<dyn Sandbox>> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(failed)?;
        let clock = ManualClock::new();
        let store = RedbStore::with_clock(folder.path().join("store.redb"), clock.clone());
        store.setup().await?;
        Ok(Box::new(Place { folder, store, clock, opened: self.0 }))
    }
}

#[async_trait]
impl Sandbox for Place {
    /// redb locks the file, so another process cannot have it. Another client is another handle on the open file.
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

    /// The store lives in its caller's process, so there is no server to restart. The file is closed and opened again;
    /// to be killed, another process has it in between, and is killed while it writes.
    async fn restart(&self, how: Restart) -> Result<()> {
        let file = self.file();
        let claims = match how {
            Restart::Clean => self.store.lend(async { vec![] }).await?,
            Restart::Kill => {
                let killed = async { spawn_blocking(move || killed_neighbour(&file)).await.map_err(failed)? };
                self.store.lend(killed).await??
            }
        };
        let bank = self.store.item_bank(&NEIGHBOUR.parse()?)?;
        for claim in claims {
            if bank.take(&ClaimId::new(claim)?, Hold::Forever).await?.item().is_none() {
                return Err(failed("a take was acknowledged and is not there"));
            }
        }
        Ok(())
    }
}

/// The items of a bank, read past the library.
fn items(file: &Path, bank: &str, now: i64) -> Result<Vec<ListedItem>> {
    type Row = (u8, Option<&'static str>, i64);
    const ITEMS: TableDefinition<(&str, &str), Row> = TableDefinition::new("items");
    let database = Database::open(file).map_err(failed)?;
    let reading = database.begin_read().map_err(failed)?;
    let items = reading.open_table(ITEMS).map_err(failed)?;
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

/// Names the file to a process that is to be killed.
const NEIGHBOUR: &str = "CUSTOM_BACKEND_NEIGHBOUR";

/// Starts this program again, kills it while it takes items, and returns the claims whose takes were acknowledged.
fn killed_neighbour(file: &Path) -> Result<Vec<String>> {
    let program = std::env::current_exe().map_err(failed)?;
    let mut neighbour = Command::new(program).env(NEIGHBOUR, file).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let told = neighbour.stdout.take().ok_or_else(|| failed("it tells nothing"))?;
    let claims = BufReader::new(told).lines().take(5).collect::<std::io::Result<Vec<_>>>().map_err(failed)?;
    neighbour.kill().and_then(|()| neighbour.wait()).map_err(failed)?;
    if claims.len() == 5 { Ok(claims) } else { Err(failed("a neighbour ended too early")) }
}

/// Runs the suite on the store as this function makes it, or takes items if this process is to be killed.
pub fn suite(opened: Opened, profile: Profile) -> ExitCode {
    let Some(file) = std::env::var_os(NEIGHBOUR) else {
        return run_with(Redb(opened), profile);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let ended = runtime.map(|runtime| runtime.block_on(take_until_killed(file.into())));
    eprintln!("a neighbour ended before it was killed: {ended:?}");
    ExitCode::FAILURE
}

/// Takes items until it is killed, and tells which claims have one.
async fn take_until_killed(file: PathBuf) -> Result<()> {
    let bank = RedbStore::with_clock(file, ManualClock::new()).item_bank(&NEIGHBOUR.parse()?)?;
    for number in 0.. {
        let claim = format!("{}/{number}", std::process::id());
        bank.add(&[Item::new(claim.as_str())?]).await?;
        let _item = bank.take(&ClaimId::new(claim.as_str())?, Hold::Forever).await?;
        println!("{claim}");
    }
    Ok(())
}

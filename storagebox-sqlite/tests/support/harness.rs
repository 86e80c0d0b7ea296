//! The suite's harness: one file per case.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::SqliteRow;
use sqlx::{ConnectOptions, Row, SqliteConnection, raw_sql};
use storagebox_conformance::{CallerTransaction, Declared, Harness, Part, Sandbox, TestClock};
use storagebox_core::{Backend, ListedItem, ManualClock, Namespace, Result, async_trait};
use storagebox_sqlite::SqliteStore;
use storagebox_testkit::checks::harness;

use super::place::{Place, failed};

/// The timeout of calls, longer than the suite lets a case run without progress.
const PATIENCE: Duration = Duration::from_secs(300);

/// The settings of the stores under test.
#[derive(Clone, Copy, Debug)]
pub struct SetUp {
    pub name: &'static str,
    pub combining: bool,
    /// Whether the stores use pools of the caller.
    pub pools: bool,
}

impl SetUp {
    pub const PLAIN: Self = Self { name: "plain", combining: true, pools: false };
}

/// The suite's harness.
#[derive(Debug)]
pub struct SqliteHarness(pub SetUp);

/// Opens a store on the file, in a process that the suite has started.
pub async fn open_beside(path: String) -> Result<Arc<dyn Backend>> {
    Ok(Arc::new(SqliteStore::builder().clock(ManualClock::new()).call_timeout(PATIENCE).open(path)?))
}

struct File {
    place: Place,
    set_up: SetUp,
}

/// A caller's connection, inside an open transaction of the caller.
struct Caller(SqliteConnection);

impl Caller {
    async fn run(&mut self, sql: &'static str) -> Result<()> {
        raw_sql(sql).execute(&mut self.0).await.map(drop).map_err(failed)
    }
}

#[async_trait]
impl CallerTransaction for Caller {
    fn connection(&mut self) -> &mut (dyn Any + Send) {
        &mut self.0
    }

    async fn commit(mut self: Box<Self>) -> Result<()> {
        self.run("COMMIT").await
    }

    async fn rollback(mut self: Box<Self>) -> Result<()> {
        self.run("ROLLBACK").await
    }
}

impl File {
    async fn caller(&self) -> Result<Caller> {
        let options = self.place.options().busy_timeout(PATIENCE);
        options.connect().await.map(Caller).map_err(failed)
    }
}

#[async_trait]
impl Harness for SqliteHarness {
    fn name(&self) -> String {
        format!("sqlite ({})", self.0.name)
    }

    fn declared(&self) -> Declared {
        Declared::all()
            .with_transactions()
            .without(Part::Strategies, "of the counters, SQLite has Atomic, Marker, Window and Sharded")
            .without_network("a file has no server to connect to")
            .without_restart("a file has no server that could be restarted")
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        let place = Place::bare()?;
        if self.0.pools {
            // A pool of the caller opens only an existing file.
            place.empty_file().await?;
        }
        Ok(Box::new(File { place, set_up: self.0 }))
    }
}

#[async_trait]
impl Sandbox for File {
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        let builder = self.place.builder().combining(self.set_up.combining).call_timeout(PATIENCE);
        Ok(Arc::new(match self.set_up.pools {
            true => builder.from_pool(self.place.pool())?,
            false => builder.open(self.place.path())?,
        }))
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        let now = storagebox_core::Clock::now(&self.place.clock).as_micros();
        let audit = sqlx::query(AUDIT).bind(bank.as_str()).bind(i64::try_from(now).map_err(failed)?);
        let rows = audit.fetch_all(&mut self.place.raw().await?).await.map_err(failed)?;
        rows.iter().map(listed).collect()
    }

    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        Some(Arc::new(self.place.clock.clone()))
    }

    async fn begin(&self) -> Result<Box<dyn CallerTransaction>> {
        let mut caller = self.caller().await?;
        caller.run("BEGIN IMMEDIATE").await?;
        Ok(Box::new(caller))
    }

    async fn connect(&self) -> Result<Box<dyn CallerTransaction>> {
        Ok(Box::new(self.caller().await?))
    }

    fn address(&self) -> Option<String> {
        Some(self.place.path().display().to_string())
    }
}

/// The query that reads the items directly from the tables.
const AUDIT: &str = "
    SELECT i.item, CASE WHEN i.until <= ?2 THEN 'free' ELSE i.state END AS state, i.claim
    FROM storagebox_items i JOIN storagebox_namespaces b ON b.number = i.bank
    WHERE b.kind = 'bank' AND b.name = ?1";

fn listed(row: &SqliteRow) -> Result<ListedItem> {
    let (item, claim) = (row.try_get("item").map_err(failed)?, row.try_get("claim").map_err(failed)?);
    harness::listed(item, row.try_get("state").map_err(failed)?, claim)
}

//! The suite's harness: a schema for each case, opened by the role with the least rights.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use sqlx::{AssertSqlSafe, Row, query};
use storagebox_conformance::{Declared, Harness, Namespace, Restart, TestClock};
use storagebox_core::{BoxName, ClaimId, Error, Item, ItemState, ListedItem, Result, Store, async_trait};
use storagebox_postgres::{PostgresBuilder, Statements};
use storagebox_testkit::postgres::{Postgres, Settings};
use tokio::runtime::{Handle, Runtime};
use tokio::task::block_in_place;

use super::place::{Database, Place, failed};

/// How the stores under test are set up.
#[derive(Clone, Copy, Debug)]
pub struct SetUp {
    pub name: &'static str,
    pub combining: bool,
    pub statements: Statements,
    /// Where they connect to, if that is not the server.
    pub through: Option<SocketAddr>,
}

impl SetUp {
    pub const PLAIN: Self =
        Self { name: "plain", combining: true, statements: Statements::Prepared, through: None };

    fn builder(&self, builder: PostgresBuilder) -> PostgresBuilder {
        builder.combining(self.combining).statements(self.statements)
    }
}

/// The suite's harness.
pub struct PostgresHarness {
    database: Arc<Database>,
    set_up: SetUp,
    version: String,
}

impl PostgresHarness {
    pub async fn new(database: Arc<Database>, set_up: SetUp) -> Result<Self> {
        let row = query("SHOW server_version").fetch_one(database.owner()).await.map_err(failed)?;
        let version = row.try_get(0).map_err(failed)?;
        Ok(Self { database, set_up, version })
    }

    /// Runs something that needs a database, and removes it afterwards.
    pub fn with_database(run: impl FnOnce(&Runtime, Arc<Database>) -> Result<ExitCode>) -> ExitCode {
        let outcome = Runtime::new().map_err(failed).and_then(|runtime| {
            let database = runtime.block_on(Database::shared())?;
            let outcome = run(&runtime, Arc::clone(&database));
            runtime.block_on(database.remove())?;
            outcome
        });
        outcome.unwrap_or_else(|error| {
            eprintln!("{error}");
            ExitCode::FAILURE
        })
    }

    fn store(&self, place: &Place, address: SocketAddr, timeout: Duration) -> Result<Arc<dyn Store>> {
        let builder = self.set_up.builder(place.builder()?).call_timeout(timeout);
        Ok(Arc::new(builder.connect(&place.url_at(address))?))
    }
}

fn place(namespace: &Namespace) -> Result<&Arc<Place>> {
    namespace.guard().ok_or_else(|| Error::corrupt(namespace.name(), "it is another harness's"))
}

#[async_trait]
impl Harness for PostgresHarness {
    fn name(&self) -> String {
        format!("postgres {} ({})", self.version, self.set_up.name)
    }

    fn declared(&self) -> Declared {
        match self.set_up.through {
            None => Declared::all(),
            Some(_) => Declared::all()
                .without_network("the pooler's connections are not the callers'")
                .without_restart("the pooler stays when its server is restarted"),
        }
    }

    async fn fresh(&self) -> Result<Namespace> {
        let place = self.database.place().await?;
        Ok(Namespace::new(place.schema.clone(), Arc::new(place)))
    }

    async fn fresh_alone(&self) -> Result<Namespace> {
        let server = block_in_place(|| Postgres::start(&Settings::durable())).map_err(failed)?;
        let place = Database::alone(server).await?.place().await?;
        Ok(Namespace::new(place.schema.clone(), Arc::new(place)))
    }

    /// Connected by now: the driver pends hundreds of times while it proves the password, and the suite drops each
    /// call at every point where it pends.
    async fn open(&self, namespace: &Namespace) -> Result<Arc<dyn Store>> {
        let place = place(namespace)?;
        let address = self.set_up.through.unwrap_or(place.database.server());
        let store = self.store(place, address, Duration::from_secs(10))?;
        store.ping().await?;
        Ok(store)
    }

    fn upstream(&self, namespace: &Namespace) -> Option<SocketAddr> {
        place(namespace).ok().map(|place| place.database.server())
    }

    async fn open_through(&self, namespace: &Namespace, proxy: SocketAddr) -> Result<Arc<dyn Store>> {
        self.store(place(namespace)?, proxy, Duration::from_secs(300))
    }

    async fn audit(&self, namespace: &Namespace, bank: &BoxName) -> Result<Vec<ListedItem>> {
        let place = place(namespace)?;
        let sql = AUDIT.replace("{schema}", &place.schema);
        let rows = query(AssertSqlSafe(sql)).bind(bank.as_str()).fetch_all(place.database.owner()).await;
        rows.map_err(failed)?.iter().map(listed).collect()
    }

    fn clock(&self, namespace: &Namespace) -> Option<Arc<dyn TestClock>> {
        place(namespace).ok().map(|place| Arc::new(Hand(Arc::clone(place))) as _)
    }

    async fn restart(&self, namespace: &Namespace, how: Restart) -> Result<()> {
        let server =
            place(namespace)?.database.own().ok_or_else(|| failed("this server is not the case's own"))?;
        block_in_place(|| {
            match how {
                Restart::Clean => server.stop()?,
                Restart::Kill => server.kill()?,
            }
            server.start_again()
        })
        .map_err(failed)
    }
}

/// Past the library: the tables as they are.
const AUDIT: &str = "
    SELECT f.item, 'free' AS state, NULL AS claim FROM {schema}.free_items f JOIN {schema}.boxes b ON b.box = f.bank WHERE b.name = $1
    UNION ALL
    SELECT w.item, 'withdrawn', NULL FROM {schema}.withdrawn_items w JOIN {schema}.boxes b ON b.box = w.bank WHERE b.name = $1
    UNION ALL
    SELECT c.item, CASE WHEN c.until <= {schema}.clock() THEN 'free' ELSE c.state END, c.claim
    FROM {schema}.claims c JOIN {schema}.boxes b ON b.box = c.bank WHERE b.name = $1 AND c.item IS NOT NULL";

fn listed(row: &sqlx::postgres::PgRow) -> Result<ListedItem> {
    let claim: Option<String> = row.try_get("claim").map_err(failed)?;
    let claim = claim.map(ClaimId::new).transpose()?;
    let state = match (row.try_get("state").map_err(failed)?, claim) {
        ("free", _) => ItemState::Free,
        ("withdrawn", _) => ItemState::Withdrawn,
        ("spent", claim) => ItemState::Spent(claim),
        ("held", Some(claim)) => ItemState::Held(claim),
        (state, _) => return Err(failed(format_args!("an item is {state}"))),
    };
    let item: String = row.try_get("item").map_err(failed)?;
    Ok(ListedItem { item: Item::new(item)?, state })
}

struct Hand(Arc<Place>);

impl TestClock for Hand {
    fn advance(&self, duration: Duration) {
        let moved = block_in_place(|| Handle::current().block_on(self.0.advance(duration)));
        moved.unwrap_or_else(|error| panic!("{error}"));
    }
}

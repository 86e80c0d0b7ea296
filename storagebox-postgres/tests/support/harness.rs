//! The suite's harness: a schema for each case, opened by the role with the least rights.

use std::any::Any;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Row, query, raw_sql};
use storagebox_conformance::{CallerTransaction, Declared, Harness, Part, Restart, Sandbox, TestClock};
use storagebox_core::{Backend, ErrorKind, ListedItem, Namespace, Result, async_trait};
use storagebox_postgres::{PostgresBuilder, PostgresStore, Statements};
use storagebox_testkit::checks::harness::{self, restart, run_with};
use storagebox_testkit::pgbouncer::{self, PgBouncer};
use storagebox_testkit::postgres::{Postgres, Settings};
use tokio::runtime::{Handle, Runtime};
use tokio::task::block_in_place;

use super::place::{Database, Place, failed, run};

/// A timeout that no call reaches, because the suite ends a case without progress before that.
const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Clone, Copy, Debug)]
pub struct SetUp {
    pub name: &'static str,
    pub combining: bool,
    pub statements: Statements,
    /// Whether the stores connect through PgBouncer in transaction mode, with fewer connections than callers.
    pub pooled: bool,
    /// Settings of the server. If there are any, the stores have their own server.
    pub server: &'static [(&'static str, &'static str)],
    /// The SQL that an administrator runs in the database of the stores.
    pub beside: &'static str,
    /// The number of connections per store, and of the pooler to the server. `None` is the default.
    pub connections: Option<usize>,
}

impl SetUp {
    pub const PLAIN: Self = Self {
        name: "plain",
        combining: true,
        statements: Statements::Prepared,
        pooled: false,
        server: &[],
        beside: "",
        connections: None,
    };

    fn builder(&self, builder: PostgresBuilder) -> PostgresBuilder {
        let builder = builder.combining(self.combining).statements(self.statements);
        match self.connections {
            Some(most) => builder.max_connections(most),
            None => builder,
        }
    }

    fn start(&self, settings: Settings) -> Result<Postgres> {
        let settings = self.server.iter().fold(settings, |settings, (name, value)| settings.with(*name, *value));
        block_in_place(|| Postgres::start(&settings)).map_err(failed)
    }

    async fn database(&self) -> Result<Arc<Database>> {
        match self.server {
            [] => Database::shared().await,
            _ => Database::alone(self.start(Settings::quick())?).await,
        }
    }

    async fn prepare(&self, database: &Database) -> Result<()> {
        run(database.owner(), self.beside.replace("{database}", database.role())).await
    }
}

pub struct PostgresHarness {
    database: Arc<Database>,
    pooler: Option<Arc<PgBouncer>>,
    set_up: SetUp,
    version: String,
}

struct Schema {
    place: Arc<Place>,
    pooler: Option<Arc<PgBouncer>>,
    set_up: SetUp,
}

/// Opens a store on a schema, in a process that the suite has started.
pub async fn open_beside(url: String) -> Result<Arc<dyn Backend>> {
    Ok(Arc::new(PostgresStore::builder().call_timeout(PATIENCE).connect(&url)?))
}

/// A connection of a caller that has an open transaction.
struct Caller(PgConnection);

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

    /// Sends a `SELECT` before the COMMIT, because COMMIT returns no error for a failed transaction.
    async fn commit(mut self: Box<Self>) -> Result<()> {
        self.run("SELECT").await?;
        self.run("COMMIT").await
    }

    async fn rollback(mut self: Box<Self>) -> Result<()> {
        self.run("ROLLBACK").await
    }
}

impl Schema {
    async fn caller(&self) -> Result<Caller> {
        let url = self.place.url_at(self.address());
        PgConnection::connect(&url).await.map(Caller).map_err(failed)
    }

    /// Returns the address of the pooler, or of the server if there is no pooler.
    fn address(&self) -> SocketAddr {
        self.pooler.as_ref().map_or(self.place.database.server(), |pooler| pooler.address())
    }

    fn store(&self, address: SocketAddr) -> Result<PostgresStore> {
        let builder = self.set_up.builder(self.place.builder()?).call_timeout(PATIENCE);
        builder.connect(&self.place.url_at(address))
    }
}

/// Starts a pooler that reconnects at once after a restart of its server.
fn pooler(database: &Database, connections: Option<usize>) -> Result<Arc<PgBouncer>> {
    let settings = pgbouncer::Settings::transactions().with("server_login_retry", "1");
    let settings = match connections {
        Some(most) => settings.with("default_pool_size", most.to_string()),
        None => settings,
    };
    block_in_place(|| PgBouncer::start(&database.url(), &settings)).map(Arc::new).map_err(failed)
}

impl PostgresHarness {
    pub async fn new(database: Arc<Database>, set_up: SetUp) -> Result<Self> {
        let row = query("SHOW server_version").fetch_one(database.owner()).await.map_err(failed)?;
        let version = row.try_get(0).map_err(failed)?;
        set_up.prepare(&database).await?;
        let pooler = set_up.pooled.then(|| pooler(&database, set_up.connections)).transpose()?;
        Ok(Self { database, pooler, set_up, version })
    }

    /// Removes the database after `run`.
    pub fn with_database(set_up: SetUp, run: impl FnOnce(&Runtime, Arc<Database>) -> Result<ExitCode>) -> ExitCode {
        run_with(async |_| set_up.database().await, run, async |database| database.remove().await)
    }

    fn schema(&self, place: Place, pooler: Option<Arc<PgBouncer>>) -> Box<dyn Sandbox> {
        Box::new(Schema { place: Arc::new(place), pooler, set_up: self.set_up })
    }
}

#[async_trait]
impl Harness for PostgresHarness {
    fn name(&self) -> String {
        format!("postgres {} ({})", self.version, self.set_up.name)
    }

    fn declared(&self) -> Declared {
        let declared = Declared::all()
            .without(Part::Strategies, "of the counters, PostgreSQL has Atomic, Marker, Window and Sharded");
        match self.set_up.connections {
            None => declared.with_transactions(),
            // A caller's transaction would hold the only connection.
            Some(_) => declared,
        }
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        Ok(self.schema(self.database.bare(), None))
    }

    async fn fresh(&self) -> Result<Box<dyn Sandbox>> {
        Ok(self.schema(self.database.place().await?, self.pooler.clone()))
    }

    async fn fresh_alone(&self) -> Result<Box<dyn Sandbox>> {
        let database = Database::alone(self.set_up.start(Settings::durable())?).await?;
        self.set_up.prepare(&database).await?;
        let pooler = self.set_up.pooled.then(|| pooler(&database, self.set_up.connections)).transpose()?;
        Ok(self.schema(database.place().await?, pooler))
    }
}

#[async_trait]
impl Sandbox for Schema {
    /// Opens a store and its first connection.
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        // The suite would drop a call that has to connect at hundreds of points.
        let store = self.store(self.address())?;
        // `counts` connects faster than a ping, which checks every right: the suite opens thousands of clients.
        match store.item_bank(&"opened".parse()?)?.counts().await {
            Err(error) if error.kind() != ErrorKind::NotSetUp => Err(error),
            _ => Ok(Arc::new(store)),
        }
    }

    /// Returns the URL for other processes, which leads through the pooler if there is one.
    fn address(&self) -> Option<String> {
        let statements = match self.set_up.statements {
            Statements::Prepared => "",
            Statements::Simple => "&statements=simple",
        };
        Some(format!("{}&schema={}{statements}", self.place.url_at(self.address()), self.place.schema))
    }

    fn upstream(&self) -> Option<SocketAddr> {
        Some(self.address())
    }

    /// Returns the bytes that a store sends for this text. Simple statements have every argument in hexadecimal.
    fn on_the_wire(&self, text: &str) -> Vec<u8> {
        match self.set_up.statements {
            Statements::Prepared => text.as_bytes().to_vec(),
            Statements::Simple => text.bytes().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect(),
        }
    }

    async fn open_through(&self, proxy: SocketAddr) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(self.store(proxy)?))
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        let sql = AUDIT.replace("{schema}", &self.place.schema);
        let rows = query(AssertSqlSafe(sql)).bind(bank.as_str()).fetch_all(self.place.database.owner()).await;
        rows.map_err(failed)?.iter().map(listed).collect()
    }

    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        Some(Arc::new(Hand(Arc::clone(&self.place))))
    }

    async fn begin(&self) -> Result<Box<dyn CallerTransaction>> {
        let mut caller = self.caller().await?;
        caller.run("BEGIN ISOLATION LEVEL READ COMMITTED").await?;
        Ok(Box::new(caller))
    }

    async fn connect(&self) -> Result<Box<dyn CallerTransaction>> {
        Ok(Box::new(self.caller().await?))
    }

    async fn restart(&self, how: Restart) -> Result<()> {
        restart(self.place.database.own(), how)
    }
}

/// Reads the items directly from the tables.
const AUDIT: &str = "
    SELECT f.item, 'free' AS state, NULL AS claim FROM {schema}.free_items f JOIN {schema}.namespaces b ON b.namespace = f.bank WHERE b.name = $1
    UNION ALL
    SELECT w.item, 'withdrawn', NULL FROM {schema}.withdrawn_items w JOIN {schema}.namespaces b ON b.namespace = w.bank WHERE b.name = $1
    UNION ALL
    SELECT c.item, CASE WHEN c.until <= {schema}.clock() THEN 'free' ELSE c.state END, c.claim
    FROM {schema}.claims c JOIN {schema}.namespaces b ON b.namespace = c.bank WHERE b.name = $1 AND c.item IS NOT NULL";

fn listed(row: &sqlx::postgres::PgRow) -> Result<ListedItem> {
    let (item, claim) = (row.try_get("item").map_err(failed)?, row.try_get("claim").map_err(failed)?);
    harness::listed(item, row.try_get("state").map_err(failed)?, claim)
}

struct Hand(Arc<Place>);

impl Hand {
    fn set(&self, moved: impl FnOnce(Duration) -> Duration) {
        let moved = block_in_place(|| Handle::current().block_on(self.0.move_clock(moved)));
        moved.unwrap_or_else(|error| panic!("{error}"));
    }
}

impl TestClock for Hand {
    fn advance(&self, duration: Duration) {
        self.set(|moved| moved + duration);
    }

    fn turn_back(&self, duration: Duration) {
        self.set(|moved| moved.saturating_sub(duration));
    }
}

//! A database for one test program, with a schema for each case.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor, Row, query, raw_sql};
use storagebox_core::{Backend as _, Result};
use storagebox_postgres::{PostgresBuilder, PostgresStore, moved_clock};
pub use storagebox_testkit::checks::failed;
use storagebox_testkit::postgres::Postgres;
use storagebox_testkit::servers;
use tokio::sync::Mutex;

const PASSWORD: &str = "hunter2-app";
/// The SCRAM verifier of the roles' password, with one iteration to save time.
const VERIFIER: &str = "SCRAM-SHA-256$1:c3RvcmFnZWJveC10ZXN0cw==\
    $0Gm0f4OQvktdOfCZCfD62n2l/IX1B+t5LWTuI55Ax+E=:8p7I9uO8N6a2VT/fEiEVnj96tNV4FoJrYBmbj8vFNFM=";
const GRANTS: &str = include_str!("../../sql/grants.sql");

/// A temporary database, and the roles that own its schemas and use them.
#[derive(Debug)]
pub struct Database {
    server: SocketAddr,
    owner: PgPool,
    name: String,
    schemas: AtomicU64,
    /// The schemas that no case uses any more, in the order in which they became unused.
    used: std::sync::Mutex<VecDeque<String>>,
    /// The database's own server; `None` if it uses the server of the test program.
    own: Option<Postgres>,
}

impl Database {
    pub async fn shared() -> Result<Arc<Self>> {
        let server = servers::shared_postgres().map_err(failed)?;
        Self::create(server.url(), None).await
    }

    /// Creates a database in its own server, which can be killed.
    pub async fn alone(own: Postgres) -> Result<Arc<Self>> {
        let url = own.url();
        Self::create(&url, Some(own)).await
    }

    async fn create(url: &str, own: Option<Postgres>) -> Result<Arc<Self>> {
        let options = PgConnectOptions::from_str(url).map_err(failed)?;
        let server = tokio::net::lookup_host((options.get_host(), options.get_port()))
            .await
            .map_err(failed)?
            .next()
            .ok_or_else(|| failed("the server has no address"))?;
        let name = format!("sbtest_{:016x}", fastrand::Rng::new().u64(..));
        let admin = pool(options.clone(), 1).await?;
        run(&admin, format!("CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0")).await?;
        run(&admin, format!("CREATE ROLE {name} LOGIN PASSWORD '{VERIFIER}'")).await?;
        admin.close().await;
        let owner = pool(options.database(&name), 4).await?;
        Ok(Arc::new(Self { server, owner, name, schemas: AtomicU64::new(0), used: Default::default(), own }))
    }

    /// Creates a database in the server of `other`. `other` must live longer, because it owns the server.
    pub async fn beside(other: &Self) -> Result<Arc<Self>> {
        Self::create(&other.owner_url("beside"), None).await
    }

    pub fn server(&self) -> SocketAddr {
        self.server
    }

    pub fn own(&self) -> Option<&Postgres> {
        self.own.as_ref()
    }

    pub fn owner(&self) -> &PgPool {
        &self.owner
    }

    pub fn owner_url(&self, name: &str) -> String {
        let mut url = self.owner.connect_options().to_url_lossy();
        url.set_query(Some(&format!("application_name={name}")));
        url.to_string()
    }

    pub fn url_at(&self, address: SocketAddr) -> String {
        let name = &self.name;
        format!("postgres://{name}:{PASSWORD}@{address}/{name}")
    }

    pub fn url(&self) -> String {
        self.url_at(self.server)
    }

    pub fn role(&self) -> &str {
        &self.name
    }

    pub fn schema(&self) -> String {
        format!("sb_{}", self.schemas.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns an empty schema that its owner has set up. The other role has the rights that the README names.
    pub async fn place(self: &Arc<Self>) -> Result<Place> {
        let schema = match self.quiet().await? {
            Some(schema) => self.emptied(schema).await?,
            None => self.made().await?,
        };
        Ok(Place { database: Arc::clone(self), schema, moved: Mutex::default(), is_bare: false })
    }

    /// Returns a place without a schema. Its sessions have the owner's role, which may create the schema.
    pub fn bare(self: &Arc<Self>) -> Place {
        Place { database: Arc::clone(self), schema: self.schema(), moved: Mutex::default(), is_bare: true }
    }

    /// Returns an unused schema to which no session is connected. Schemas are used again, because each schema of a
    /// database makes every session slower.
    async fn quiet(&self) -> Result<Option<String>> {
        let known = Vec::from(self.used().clone());
        let quiet =
            "SELECT s FROM unnest($1) s WHERE NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = s)";
        let quiet = query(quiet).bind(known).fetch_all(&self.owner).await.map_err(failed)?;
        let quiet: Vec<String> = quiet.iter().map(|row| row.try_get(0).map_err(failed)).collect::<Result<_>>()?;
        let mut used = self.used();
        let quiet = used.iter().position(|schema| quiet.contains(schema));
        Ok(quiet.and_then(|quiet| used.remove(quiet)))
    }

    fn used(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Empties the tables of a schema for another case.
    async fn emptied(&self, schema: String) -> Result<String> {
        let tables: String = TABLES.iter().map(|table| format!("DELETE FROM {schema}.{table};")).collect();
        let deleted = self.owner.execute(raw_sql(AssertSqlSafe(tables))).await.map_err(failed)?.rows_affected();
        if deleted > LARGE {
            let tables: Vec<_> = TABLES.iter().map(|table| format!("{schema}.{table}")).collect();
            run(&self.owner, format!("TRUNCATE {}", tables.join(","))).await?;
        }
        run(&self.owner, moved_clock(&schema, Duration::ZERO)).await?;
        Ok(schema)
    }

    async fn made(&self) -> Result<String> {
        let schema = self.schema();
        PostgresStore::builder().schema(&schema)?.connect(&self.owner_url("owner"))?.setup().await?;
        let grants = GRANTS.replace("{schema}", &schema).replace("{role}", &self.name);
        run(&self.owner, grants + ";" + &moved_clock(&schema, Duration::ZERO)).await?;
        Ok(schema)
    }

    pub async fn remove(&self) -> Result<()> {
        let options = self.owner.connect_options().as_ref().clone().database("postgres");
        self.owner.close().await;
        let admin = pool(options, 1).await?;
        run(&admin, format!("DROP DATABASE {} WITH (FORCE)", self.name)).await?;
        run(&admin, format!("DROP ROLE {}", self.name)).await
    }
}

/// A schema of a database, with a clock that tests move.
#[derive(Debug)]
pub struct Place {
    pub database: Arc<Database>,
    pub schema: String,
    moved: Mutex<Duration>,
    is_bare: bool,
}

impl Place {
    pub fn of(database: &Arc<Database>, schema: &str) -> Self {
        Self { database: Arc::clone(database), schema: schema.to_owned(), moved: Mutex::default(), is_bare: false }
    }

    pub fn builder(&self) -> Result<PostgresBuilder> {
        PostgresStore::builder().schema(&self.schema)
    }

    pub async fn advance(&self, duration: Duration) -> Result<()> {
        self.move_clock(|moved| moved + duration).await
    }

    /// Replaces the offset of the schema's clock by the result of `by`, which gets the present offset.
    pub async fn move_clock(&self, by: impl FnOnce(Duration) -> Duration) -> Result<()> {
        let mut moved = self.moved.lock().await;
        *moved = by(*moved);
        run(&self.database.owner, moved_clock(&self.schema, *moved)).await
    }

    /// Returns the URL of a store at this address. Its role has the least rights, and its sessions have the schema's
    /// name. For a place without a schema, returns the owner's URL at the server.
    pub fn url_at(&self, address: SocketAddr) -> String {
        if self.is_bare {
            return self.database.owner_url(&self.schema);
        }
        format!("{}?application_name={}", self.database.url_at(address), self.schema)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_bare {
            return;
        }
        self.database.used().push_back(self.schema.clone());
    }
}

/// The number of rows above which a table is truncated and not deleted row by row.
const LARGE: u64 = 500;

const TABLES: [&str; 15] = [
    "namespaces",
    "free_items",
    "bank_sections",
    "bank_cells",
    "bank_lapses",
    "claims",
    "withdrawn_items",
    "records",
    "ended_ops",
    "tokens",
    "entities",
    "outbox_entries",
    "counters",
    "counter_ops",
    "ordered_values",
];

async fn pool(options: PgConnectOptions, most: u32) -> Result<PgPool> {
    PgPoolOptions::new().max_connections(most).connect_with(options).await.map_err(failed)
}

pub async fn run(pool: &PgPool, sql: String) -> Result<()> {
    pool.execute(raw_sql(AssertSqlSafe(sql))).await.map(drop).map_err(failed)
}

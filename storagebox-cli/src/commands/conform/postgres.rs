//! The target for a server with PostgreSQL's protocol. Each case has a schema in the database.

use std::any::Any;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::error::DatabaseError;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor, Row, query, raw_sql};
use storagebox::{Error, ErrorKind, PostgresStore, Result, async_trait};
use storagebox_conformance::{CallerTransaction, Declared, Part, TestClock};
use tokio::runtime::Handle;
use tokio::task::block_in_place;
use tokio::time::timeout;

use crate::message::{Kind, eprint_message};

use super::cases::Case;
use super::watch::{ANSWER, unanswered};
use super::{CALL_TIMEOUT, MARK, TestTarget, address};

const PORT: u16 = 5432;

const TOO_MANY_CONNECTIONS: &str = "53300";

/// The class of the error codes for an invalid user or password.
const WRONG_LOGIN: &str = "28";

/// A statement that lets a later `DROP SCHEMA` wait up to 30 seconds for the locks of other sessions.
const WITH_PATIENCE: &str = "SET lock_timeout = '30s';";

/// The query keys that the suite sets itself or that the driver does not know.
const OURS: [&str; 6] = ["schema", "statements", "combining", "max_connections", "call_timeout", "remember"];

/// The schemas that one run of the suite creates.
#[derive(Clone)]
pub(super) struct Schemas {
    url: String,
    prefix: String,
    upstream: Option<SocketAddr>,
    name: String,
    owner: PgConnectOptions,
    /// The schemas of ended cases, which are dropped later.
    used: Arc<Mutex<Vec<String>>>,
}

impl Schemas {
    pub(super) async fn at(url: &str) -> Result<Self> {
        let (plain, _) = address::without(url, &OURS);
        let (url, _) = address::without(url, &["schema", "call_timeout"]);
        let prefix = format!("storagebox_{MARK}_{:08x}", fastrand::u32(..));
        // Refuses an invalid URL before anything is sent.
        PostgresStore::builder().schema(&prefix)?.connect(&url)?;
        let owner: PgConnectOptions = plain.parse().map_err(failed)?;
        let mut connection = connection(&owner).await?;
        let row = query("SELECT version()").fetch_one(&mut connection).await.map_err(failed)?;
        let version: String = row.try_get(0).map_err(failed)?;
        let name = version.split(" on ").next().unwrap_or_default().to_owned();
        let encrypted = query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
        let encrypted = encrypted.fetch_optional(&mut connection).await;
        let encrypted = encrypted.ok().flatten().and_then(|row| row.try_get(0).ok()).unwrap_or(false);
        let upstream = if encrypted { None } else { address::of(&url, PORT).await };
        Ok(Self { url, prefix, upstream, name, owner, used: Arc::default() })
    }

    async fn run(&self, sql: String) -> Result<()> {
        let mut connection = connection(&self.owner).await?;
        let sql = format!("{WITH_PATIENCE} {sql}");
        connection.execute(raw_sql(AssertSqlSafe(sql))).await.map(drop).map_err(failed)
    }

    async fn drop_unused(&self) -> Result<()> {
        let used = std::mem::take(&mut *self.used.lock().unwrap_or_else(PoisonError::into_inner));
        for schema in used {
            self.run(format!("DROP SCHEMA IF EXISTS {schema} CASCADE")).await?;
        }
        Ok(())
    }
}

/// Opens a connection without the library and without a pool.
async fn connection(owner: &PgConnectOptions) -> Result<PgConnection> {
    // A connection works only in the runtime that opened it, and the suite has its own runtime, so a pool cannot be
    // used.
    timeout(ANSWER, owner.connect()).await.map_err(|_| unanswered(ANSWER))?.map_err(failed)
}

fn failed(error: sqlx::Error) -> Error {
    let code = error.as_database_error().and_then(DatabaseError::code);
    let kind = match code.is_some_and(|code| code.starts_with(WRONG_LOGIN)) {
        true => ErrorKind::Denied,
        false => ErrorKind::Unavailable,
    };
    Error::new(kind, "the request to the server failed").caused_by(error)
}

#[async_trait]
impl TestTarget for Schemas {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn declared(&self) -> Declared {
        let declared = Declared::all()
            .with_transactions()
            .without(Part::Strategies, "of the counters, PostgreSQL has Atomic, Marker, Window and Sharded")
            .without_restart("a server by its URL is not restarted");
        match self.upstream {
            Some(_) => declared,
            None => declared.without_network("the proxy cannot read what is encrypted, or found no address"),
        }
    }

    async fn bare(&self, number: u64) -> Result<Case> {
        self.drop_unused().await?;
        let schema = Schema { schemas: self.clone(), name: format!("{}_{number}", self.prefix) };
        let clock = SchemaClock { schemas: self.clone(), schema: schema.name.clone(), moved: Mutex::default() };
        let mut case = Case::new(clock, move |proxy| schema.store(proxy));
        case.upstream = self.upstream;
        let owner = self.owner.clone();
        case.caller = Some(Box::new(move |begin| Box::pin(caller(owner.clone(), begin))));
        if self.url.contains("statements=simple") {
            case.on_the_wire = in_hexadecimal;
        }
        Ok(case)
    }

    async fn reach(&self) -> Result<()> {
        match self.owner.connect().await {
            Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(TOO_MANY_CONNECTIONS) => Ok(()),
            connected => connected.map(drop).map_err(failed),
        }
    }

    /// Drops all schemas of the run.
    async fn remove(&self) -> Result<()> {
        // A running setup may still create a schema.
        self.run(storagebox_postgres::wait_for_setups()).await?;
        let pattern = format!("{}\\_%", self.prefix.replace('_', "\\_"));
        let mut connection = connection(&self.owner).await?;
        let made = query("SELECT nspname FROM pg_namespace WHERE nspname LIKE $1").bind(pattern);
        for row in made.fetch_all(&mut connection).await.map_err(failed)? {
            let schema: String = row.try_get(0).map_err(failed)?;
            self.run(format!("DROP SCHEMA IF EXISTS {schema} CASCADE")).await?;
        }
        Ok(())
    }

    fn left(&self) -> String {
        format!("the schemas whose names begin with {}_", self.prefix)
    }
}

/// The connection of a caller, on which a transaction may be open.
struct Caller(PgConnection);

async fn caller(owner: PgConnectOptions, begin: Option<&'static str>) -> Result<Box<dyn CallerTransaction>> {
    let mut caller = Caller(connection(&owner).await?);
    if let Some(begin) = begin {
        caller.run(begin).await?;
    }
    Ok(Box::new(caller))
}

impl Caller {
    async fn run(&mut self, sql: &'static str) -> Result<()> {
        self.0.execute(raw_sql(sql)).await.map(drop).map_err(failed)
    }
}

#[async_trait]
impl CallerTransaction for Caller {
    fn connection(&mut self) -> &mut (dyn Any + Send) {
        &mut self.0
    }

    /// Commits the transaction. Fails if the transaction has failed.
    async fn commit(mut self: Box<Self>) -> Result<()> {
        // The server answers the COMMIT of a failed transaction without an error.
        self.run("SELECT").await?;
        self.run("COMMIT").await
    }

    async fn rollback(mut self: Box<Self>) -> Result<()> {
        self.run("ROLLBACK").await
    }
}

struct Schema {
    schemas: Schemas,
    name: String,
}

impl Schema {
    fn store(&self, proxy: Option<SocketAddr>) -> Result<PostgresStore> {
        let builder = PostgresStore::builder().schema(&self.name)?.call_timeout(CALL_TIMEOUT);
        builder.connect(&address::through(&self.schemas.url, proxy)?)
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        self.schemas.used.lock().unwrap_or_else(PoisonError::into_inner).push(self.name.clone());
    }
}

/// Returns the text in hexadecimal, the form of every argument in a simple statement.
fn in_hexadecimal(text: &str) -> Vec<u8> {
    text.bytes().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}

struct SchemaClock {
    schemas: Schemas,
    schema: String,
    moved: Mutex<Duration>,
}

impl TestClock for SchemaClock {
    fn advance(&self, duration: Duration) {
        self.set(|moved| moved + duration);
    }

    fn turn_back(&self, duration: Duration) {
        self.set(|moved| moved.saturating_sub(duration));
    }
}

impl SchemaClock {
    fn set(&self, by: impl FnOnce(Duration) -> Duration) {
        let moved = {
            let mut moved = self.moved.lock().unwrap_or_else(PoisonError::into_inner);
            *moved = by(*moved);
            *moved
        };
        let sql = storagebox_postgres::moved_clock(&self.schema, moved);
        let moved = timeout(ANSWER, self.schemas.run(sql));
        let moved = block_in_place(|| Handle::current().block_on(moved));
        let moved = moved.unwrap_or_else(|_| Err(unanswered(ANSWER)));
        if let Err(error) = moved {
            eprint_message(
                Kind::Error,
                format_args!("the clock of {} cannot be moved: {}", self.schema, error.message()),
            );
            // A case that continues with the old time would give a wrong verdict.
            resume_unwind(Box::new("the clock cannot be moved"));
        }
    }
}

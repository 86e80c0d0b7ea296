//! The tables: setup, migrations and the check of `ping`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, Executor, SqliteConnection, query, raw_sql};
use storagebox_core::backend::micros_of;
use storagebox_core::{Error, ErrorKind, Result, Retention};
use tokio::time::timeout;

use crate::client::{
    Ask, Client, FORMAT, Inner, Pauses, STORE, STORE_INFO, StoreInfo, VERSION, check_writable, has_tables, integrity,
    log, spawn_detached, store_info, version,
};
use crate::error;

/// The migrations in order, from version 1 on. A released migration is never changed.
const MIGRATIONS: [&str; VERSION as usize] =
    [include_str!("../sql/migrations/1.sql"), include_str!("../sql/migrations/2.sql")];

const VERSIONS: &str = include_str!("../sql/store/versions.sql");
/// The statements that create all tables and indexes.
pub(crate) const MADE: [&str; 1 + MIGRATIONS.len()] = [VERSIONS, MIGRATIONS[0], MIGRATIONS[1]];

const KEEP: &str = include_str!("../sql/store/keep.sql");

/// Creates or migrates the tables in one transaction, in its own task. A dropped setup changes all or nothing.
pub(crate) async fn setup(client: &Client) -> Result<()> {
    let (inner, limit) = (Arc::clone(client.inner()), client.settings().options.call_timeout);
    let setup = Arc::new(Setup { inner, ends: AtomicBool::new(false) });
    let task = Arc::clone(&setup);
    let made = tokio::spawn(async move { timeout(limit, task.make()).await });
    let made = match made.await {
        Ok(Ok(made)) => made,
        Ok(Err(_)) if setup.ends.load(Ordering::SeqCst) => Err(error::not_ended(limit)),
        Ok(Err(_)) => Err(error::not_begun(limit)),
        Err(_) => Err(Error::unknown("the task that ran `setup` was stopped").on("sqlite")),
    };
    made.map_err(|error| error.during("setup"))
}

struct Setup {
    inner: Arc<Inner>,
    /// Whether the commit has begun, so that the setup may have been applied.
    ends: AtomicBool,
}

impl Setup {
    async fn make(&self) -> Result<()> {
        let mut pauses = Pauses::new();
        loop {
            match self.attempt().await {
                Err(error) if error.kind() == ErrorKind::Contention => pauses.wait().await,
                made => return made,
            }
        }
    }

    async fn attempt(&self) -> Result<()> {
        let connections = &self.inner.connections;
        let mut connection = connections.making().await?;
        let found = has_tables(&mut connection).await;
        let made = match found.map_err(|error| connections.explained(error))? {
            true => self.bring(&mut connection).await,
            false => self.make_file(&mut connection).await,
        };
        // Closing the connection rolls back an open transaction.
        let closed = connection.close().await.map_err(error::before_commit);
        made.and(closed.map_err(Error::after_unresolved))
    }

    /// Sets the journal mode of a file without tables, which the file keeps, and then creates the tables.
    async fn make_file(&self, connection: &mut SqliteConnection) -> Result<()> {
        if !self.inner.connections.are_shared() {
            let mode = log::begin(connection).await.map_err(|error| self.inner.connections.explained(error))?;
            if mode != log::MODE {
                let what = format_args!("the journal mode {mode}, the only one that this file system supports,");
                return Err(Error::unsupported(what, "a folder on a local disk").on("sqlite"));
            }
        }
        self.bring(connection).await
    }

    /// Migrates the tables if they have an older version, and checks the tables and the store's memory.
    async fn bring(&self, connection: &mut SqliteConnection) -> Result<()> {
        let asked = self.inner.settings.options.remember;
        self.migrate(connection, asked.unwrap_or(Retention::DEFAULT)).await?;
        store_info(connection).await?.check(asked)?;
        integrity::check_on(connection).await
    }

    /// Migrates the tables, and stores the memory of a new store.
    async fn migrate(&self, connection: &mut SqliteConnection, memory: Retention) -> Result<()> {
        let found = match has_tables(connection).await.map_err(error::before_commit)? {
            true => version(connection).await?,
            false => 0,
        };
        FORMAT.refuse_newer(found)?;
        if found == VERSION {
            return check_writable(connection).await.map_err(error::before_commit);
        }
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(error::before_commit)?;
        upgrade(&mut transaction, memory).await?;
        self.ends.store(true, Ordering::SeqCst);
        transaction.commit().await.map_err(error::at_commit)
    }
}

async fn upgrade(connection: &mut SqliteConnection, memory: Retention) -> Result<()> {
    run(connection, VERSIONS).await?;
    let found = version(connection).await?;
    FORMAT.refuse_newer(found)?;
    for (number, migration) in (1..).zip(MIGRATIONS).filter(|(number, _)| *number > found) {
        run(connection, migration).await?;
        let applied = query("INSERT INTO storagebox_versions (version) VALUES (?1)").bind(number);
        connection.execute(applied).await.map_err(error::before_commit)?;
    }
    if found == 0 {
        let kept = query(KEEP).bind(micros_of(memory));
        connection.execute(kept).await.map_err(error::before_commit)?;
    }
    Ok(())
}

async fn run(connection: &mut SqliteConnection, sql: &'static str) -> Result<()> {
    connection.execute(raw_sql(sql)).await.map(drop).map_err(error::before_commit)
}

/// Checks that the tables exist, are writable, and have the expected version and memory.
pub(crate) async fn ping(client: &Client) -> Result<()> {
    let (inner, limit) = (Arc::clone(client.inner()), client.settings().options.call_timeout);
    let found = timeout(limit, spawn_detached(async move { found(&inner).await })).await;
    let found = found.unwrap_or_else(|_| Err(error::not_begun(limit)));
    found.map_err(|error| error.during("ping"))
}

async fn found(inner: &Inner) -> Result<()> {
    let found = looked(inner, || query(STORE_INFO)).await?;
    let info = StoreInfo::of(found.first().ok_or_else(|| error::unreadable(STORE))?)?;
    info.check(inner.settings.options.remember)?;
    integrity::check(&looked(inner, integrity::ask).await?)?;
    inner.connections.check_writable().await
}

async fn looked<'q>(inner: &Inner, ask: impl Fn() -> Ask<'q> + Send + Sync) -> Result<Vec<SqliteRow>> {
    let mut pauses = Pauses::new();
    loop {
        match inner.connections.look(&ask).await {
            Ok(found) => return Ok(found),
            Err(error) => inner.connections.passes(error, &pauses)?,
        }
        pauses.wait().await;
    }
}

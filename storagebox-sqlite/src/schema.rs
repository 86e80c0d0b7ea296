//! The tables: their version and how they are made.

use std::sync::Arc;

use sqlx::{Connection, Executor, SqliteConnection, query_scalar, raw_sql};
use storagebox_core::{Error, ErrorKind, Result};
use tokio::time::timeout;

use crate::client::{Client, Inner, Pauses, apart, log};
use crate::error;

/// The migrations, in order; the first brings version 1. A released one is never changed.
const MIGRATIONS: [&str; 1] = [include_str!("../sql/migrations/1.sql")];

/// The version that this library works with.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

const VERSIONS: &str = include_str!("../sql/store/versions.sql");
const FOUND: &str = include_str!("../sql/store/version.sql");

/// Makes the tables or brings them up to date, in one transaction of a task of its own: a setup that is dropped half-way
/// leaves nothing half done, and of many at once one goes after another.
pub(crate) async fn setup(client: &Client) -> Result<()> {
    let (inner, limit) = (Arc::clone(client.inner()), client.settings().call_timeout);
    let made = tokio::spawn(async move { timeout(limit, make(&inner)).await });
    let made = match made.await {
        Ok(Ok(made)) => made,
        Ok(Err(_)) => Err(error::not_begun(limit)),
        Err(_) => Err(Error::unknown("the task that set up was stopped").on("sqlite")),
    };
    made.map_err(|error| error.during("setup"))
}

async fn make(inner: &Inner) -> Result<()> {
    let mut pauses = Pauses::new();
    loop {
        match attempt(inner).await {
            Err(error) if error.kind() == ErrorKind::Contention => pauses.wait().await,
            made => return made,
        }
    }
}

async fn attempt(inner: &Inner) -> Result<()> {
    let explained = |error| inner.connections.explained(error);
    let mut connection = inner.connections.making().await?;
    let made = match has_tables(&mut connection).await.map_err(explained)? {
        true => bring(&mut connection).await,
        false => make_file(&mut connection, inner).await,
    };
    // A connection that is closed has nothing half done; what it had begun is rolled back.
    let closed = connection.close().await.map_err(error::before_commit);
    made.and(closed)
}

pub(crate) async fn has_tables(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let found = query_scalar("SELECT count(*) FROM sqlite_schema WHERE name = 'storagebox_versions'");
    found.fetch_one(connection).await.map(|found: i64| found > 0)
}

/// The file's mode lasts; it is chosen once, before there is anything in it.
async fn make_file(connection: &mut SqliteConnection, inner: &Inner) -> Result<()> {
    if !inner.connections.are_shared() {
        let mode = log::begin(connection).await.map_err(error::before_commit)?;
        if mode != log::MODE {
            let what = format_args!("the journal mode {mode}, which is all that this file system has,");
            return Err(Error::unsupported(what, "a folder on a local disk").on("sqlite"));
        }
    }
    bring(connection).await
}

/// Brings the tables to this library's version.
async fn bring(connection: &mut SqliteConnection) -> Result<()> {
    let found = match has_tables(connection).await.map_err(error::before_commit)? {
        true => version(connection).await?,
        false => 0,
    };
    refuse_newer(found)?;
    if found == VERSION {
        return Ok(());
    }
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(error::before_commit)?;
    run(&mut transaction, VERSIONS).await?;
    let found = version(&mut transaction).await?;
    refuse_newer(found)?;
    for (number, migration) in (1..).zip(MIGRATIONS).filter(|(number, _)| *number > found) {
        run(&mut transaction, migration).await?;
        let applied = sqlx::query("INSERT INTO storagebox_versions (version) VALUES (?1)").bind(number);
        transaction.execute(applied).await.map_err(error::before_commit)?;
    }
    transaction.commit().await.map_err(error::at_commit)
}

async fn run(connection: &mut SqliteConnection, sql: &'static str) -> Result<()> {
    connection.execute(raw_sql(sql)).await.map(drop).map_err(error::before_commit)
}

/// The version that is there.
pub(crate) async fn version(connection: &mut SqliteConnection) -> Result<i64> {
    query_scalar(FOUND).fetch_one(connection).await.map_err(error::before_commit)
}

/// Whether the tables are there and of this library's version.
pub(crate) async fn ping(client: &Client) -> Result<()> {
    let (inner, limit) = (Arc::clone(client.inner()), client.settings().call_timeout);
    let found = timeout(limit, apart(async move { found(&inner).await })).await;
    let found = found.unwrap_or_else(|_| Err(error::not_begun(limit)));
    found.and_then(check).map_err(|error| error.during("ping"))
}

async fn found(inner: &Inner) -> Result<i64> {
    let mut pauses = Pauses::new();
    loop {
        inner.connections.check()?;
        let found = match inner.connections.looking().await {
            Ok(mut connection) => query_scalar(FOUND).fetch_one(&mut *connection).await,
            Err(error) => Err(error),
        };
        match found {
            Ok(found) => return Ok(found),
            Err(error) => inner.connections.passes(error, &pauses)?,
        }
        pauses.wait().await;
    }
}

/// Judges the version that a box was opened with.
pub(crate) fn check(version: i64) -> Result<()> {
    refuse_newer(version)?;
    if version == VERSION {
        return Ok(());
    }
    let why = format!("the tables are of version {version}, and this library needs {VERSION}");
    Err(Error::new(ErrorKind::NotSetUp, why).on("sqlite"))
}

fn refuse_newer(version: i64) -> Result<()> {
    if version <= VERSION {
        return Ok(());
    }
    let what = format!("the tables' version {version}: this library knows up to {VERSION}, and it");
    Err(Error::unsupported(what, "a newer storagebox").on("sqlite"))
}

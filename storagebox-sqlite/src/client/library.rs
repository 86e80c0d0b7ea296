//! Checks the linked SQLite, whose version another package of the program may have chosen, and the write permission.

use sqlx::{AssertSqlSafe, Executor, SqliteConnection, query_scalar, raw_sql};
use storagebox_core::{Error, Result};

use crate::config::Synchronous;
use crate::error;

pub(super) const WRITABLE: &str = include_str!("../../sql/store/writable.sql");

/// Moves the write-ahead log into the database file and truncates the log.
pub(super) const CHECKPOINT: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// The oldest supported version of SQLite. Earlier versions can lose committed changes when they restart a write-ahead
/// log.
const OLDEST: [u32; 3] = [3, 51, 3];

/// Returns `Misconfigured` if the linked SQLite is too old.
pub(crate) async fn check(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let found: String = query_scalar("SELECT sqlite_version()").fetch_one(connection).await?;
    judge(&found).map_err(error::through)
}

/// Checks a connection of the caller: the linked SQLite must not be too old, and commits must be at least as durable as
/// the store promises.
pub(super) async fn check_shared(connection: &mut SqliteConnection, asked: Synchronous) -> Result<()> {
    check(connection).await.map_err(error::before_commit)?;
    let found = query_scalar("PRAGMA synchronous").fetch_one(connection).await;
    let found: i64 = found.map_err(error::before_commit)?;
    if found >= asked.number() {
        return Ok(());
    }
    let what = format_args!("a connection that has `PRAGMA synchronous` = {found}");
    let instead = format_args!("{} or more, or call `synchronous(Normal)` on the builder", asked.number());
    Err(Error::unsupported(what, instead).on("sqlite"))
}

fn judge(found: &str) -> Result<()> {
    let parts: Vec<u32> = found.split('.').map_while(|part| part.parse().ok()).collect();
    if parts >= OLDEST.to_vec() {
        return Ok(());
    }
    let why = format_args!(
        "{found} is too old: 3.51.3 or later is needed, because earlier versions can lose commits when they reset the \
        write-ahead log; another package of this program, or its machine, links the old version"
    );
    Err(Error::misconfigured("SQLite", why).on("sqlite"))
}

/// Changes nothing. Returns an error if the file is read-only.
pub(crate) async fn check_writable(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    without_waiting(connection, WRITABLE).await
}

/// Runs a statement, or does nothing if another connection is using the file. Dropping the future may leave the busy
/// timeout of the connection at 0.
pub(super) async fn without_waiting(connection: &mut SqliteConnection, sql: &'static str) -> Result<(), sqlx::Error> {
    // A connection of the caller's pool would wait for its busy timeout, for example until a transaction of the same
    // task ends, which itself waits for this call.
    let timeout: i64 = query_scalar("PRAGMA busy_timeout").fetch_one(&mut *connection).await?;
    set_busy_timeout(connection, 0).await?;
    let executed = connection.execute(raw_sql(sql)).await;
    set_busy_timeout(connection, timeout).await?;
    match executed {
        Err(error) if !error::is_busy(&error) => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

async fn set_busy_timeout(connection: &mut SqliteConnection, milliseconds: i64) -> Result<(), sqlx::Error> {
    let set = AssertSqlSafe(format!("PRAGMA busy_timeout = {milliseconds}"));
    connection.execute(raw_sql(set)).await.map(drop)
}

#[cfg(test)]
mod tests {
    use storagebox_core::ErrorKind;

    use super::judge;

    #[test]
    fn a_sqlite_that_can_lose_commits_is_refused_by_its_version() {
        for found in ["3.51.3", "3.51.10", "3.52.0", "4.0.0"] {
            assert!(judge(found).is_ok(), "{found}");
        }
        for found in ["3.51.2", "3.50.99", "3.40.1", "3.6.23.1", "2.8.17", "3.51", "", "new"] {
            let error = judge(found).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Misconfigured, "{found}");
            assert!(error.to_string().contains(found) && error.to_string().contains("3.51.3"), "{error}");
        }
    }
}

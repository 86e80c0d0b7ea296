//! Checks the linked SQLite, whose version another package of the program may have chosen, and the write permission.

use sqlx::{Executor, SqliteConnection, query, query_scalar};
use storagebox_core::{Error, Result};

use crate::config::Synchronous;
use crate::error;

const WRITABLE: &str = include_str!("../../sql/store/writable.sql");

/// The oldest supported version of SQLite. Earlier versions can lose committed changes when they restart a write-ahead
/// log.
const OLDEST: [u32; 3] = [3, 51, 3];

/// Returns `Misconfigured` if the linked SQLite is too old.
pub(crate) async fn check(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let found: String = query_scalar("SELECT sqlite_version()").fetch_one(connection).await?;
    judge(&found).map_err(error::through)
}

/// Checks a connection that the store did not open: the linked SQLite, and how durable a commit on it is.
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
        "{found} is linked by a package of this program or by its machine, but 3.51.3 or later is needed: earlier \
        versions can lose commits when they reset the write-ahead log"
    );
    Err(Error::misconfigured("SQLite", why).on("sqlite"))
}

/// Returns an error if the file is read-only. A file that another connection is writing to is not read-only.
pub(crate) async fn check_writable(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    match connection.execute(query(WRITABLE)).await {
        Err(error) if !error::is_busy(&error) => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
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

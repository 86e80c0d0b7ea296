//! The write-ahead log, with which readers do not block writers.

use sqlx::{SqliteConnection, query_scalar};

use super::store_info::has_tables;

pub(crate) const MODE: &str = "wal";

/// Turns on the write-ahead log of a file that has tables but no log, as after `VACUUM INTO` or a restored dump.
pub(super) async fn keep(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    if !is_kept(connection).await? && has_tables(connection).await? {
        begin(connection).await?;
    }
    Ok(())
}

/// Returns whether the file has a write-ahead log, and opens the log if so.
pub(super) async fn is_kept(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let mode: String = query_scalar("PRAGMA journal_mode").fetch_one(connection).await?;
    Ok(mode == MODE)
}

/// Gives the file a write-ahead log if its file system supports one, and returns its journal mode.
pub(crate) async fn begin(connection: &mut SqliteConnection) -> Result<String, sqlx::Error> {
    query_scalar("PRAGMA journal_mode = WAL").fetch_one(connection).await
}

//! The write-ahead log: with it, nobody who looks is in the way of who writes.

use sqlx::{SqliteConnection, query_scalar};

use super::known::has_tables;

/// The mode that SQLite names when a file has one.
pub(crate) const MODE: &str = "wal";

/// A file that `VACUUM INTO` or a dump made has none, and says so to nobody. One that holds no storagebox is left as it
/// is.
pub(super) async fn keep(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    if !is_kept(connection).await? && has_tables(connection).await? {
        begin(connection).await?;
    }
    Ok(())
}

/// Whether the file has one, which the connection has opened then.
pub(super) async fn is_kept(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let mode: String = query_scalar("PRAGMA journal_mode").fetch_one(connection).await?;
    Ok(mode == MODE)
}

/// Gives the file one, where its file system can have it; the mode that it has now.
pub(crate) async fn begin(connection: &mut SqliteConnection) -> Result<String, sqlx::Error> {
    query_scalar("PRAGMA journal_mode = WAL").fetch_one(connection).await
}

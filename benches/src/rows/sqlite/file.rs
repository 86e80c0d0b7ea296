//! A file with one bank in it.

use sqlx::SqliteConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, query_scalar};
use storagebox::parts::Backend as _;
use storagebox::values::Item;
use storagebox_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::error::{Failure, Result};
use crate::row::Load;
use crate::rows::filled::{BANK, Filled, these};

/// A bank in a separate file. The bank's store stays open during all measurements.
pub(super) struct Bank {
    pub(super) filled: Filled,
    folder: TempDir,
}

impl Bank {
    pub(super) async fn new(items: usize) -> Result<Self> {
        let folder = tempfile::tempdir().map_err(Failure::Folder)?;
        // The last connection to a file checkpoints the log when it closes. While this store is open, no connection of
        // a measurement is the last.
        let store = SqliteStore::open(folder.path().join("store.db"))?;
        store.setup().await?;
        let filled = Filled::with_items(store, items).await?;
        Ok(Self { filled, folder })
    }

    pub(super) fn url(&self) -> String {
        format!("sqlite://{}", self.folder.path().join("store.db").display())
    }

    /// Returns the same connection settings as those of the library.
    pub(super) fn options(&self) -> SqliteConnectOptions {
        SqliteConnectOptions::new()
            .filename(self.folder.path().join("store.db"))
            .synchronous(SqliteSynchronous::Full)
            .pragma("wal_autocheckpoint", "1000")
            .disable_statement_logging()
    }
}

/// Returns the number that stands for the bank's namespace in the bank's rows.
pub(super) async fn number(connection: &mut SqliteConnection) -> Result<i64> {
    let number = query_scalar("SELECT number FROM storagebox_namespaces WHERE kind = 'bank' AND name = ?1");
    Ok(number.bind(BANK).fetch_one(connection).await?)
}

/// Returns items that no other measurement uses.
pub(super) fn fresh(load: Load) -> Result<Vec<Item>> {
    let first = load.slice as usize * 1_000_000_000;
    these(first..first + load.calls)
}

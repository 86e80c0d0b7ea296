//! The version of the tables and the store's memory, as stored in them.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection, query, query_scalar};
use storagebox_core::backend::{StoreFormat, retention_of};
use storagebox_core::{Result, Retention};

use crate::error;

/// The version of the tables that this library reads and writes.
pub(crate) const VERSION: i64 = 2;

pub(crate) const FORMAT: StoreFormat = StoreFormat::new("sqlite", "store", VERSION);

const FOUND: &str = include_str!("../../sql/store/version.sql");
pub(crate) const STORE_INFO: &str = include_str!("../../sql/store/store_info.sql");

/// The name of the store's row in error texts.
pub(crate) const STORE: &str = "the store";

pub(crate) async fn has_tables(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let found = query_scalar("SELECT count(*) FROM sqlite_schema WHERE name = 'storagebox_versions'");
    found.fetch_one(connection).await.map(|found: i64| found > 0)
}

/// Returns the version of the tables, or 0 if the file has no tables.
pub(crate) async fn version(connection: &mut SqliteConnection) -> Result<i64> {
    query_scalar(FOUND).fetch_one(connection).await.map_err(error::before_commit)
}

/// The version of the tables, and for how many microseconds the store remembers what has ended (`None`: for ever).
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoreInfo {
    version: i64,
    memory: Option<i64>,
}

impl StoreInfo {
    /// Reads a row of `STORE_INFO`, or of another statement with the same columns.
    pub(crate) fn of(row: &SqliteRow) -> Result<Self> {
        let version = error::read(STORE, row.try_get("version"))?;
        Ok(Self { version, memory: error::read(STORE, row.try_get("memory"))? })
    }

    /// Checks the version of the tables and the memory that the caller asked for. Returns the stored memory in
    /// microseconds (`None`: for ever).
    pub(crate) fn check(self, asked: Option<Retention>) -> Result<Option<i64>> {
        FORMAT.check(self.version)?;
        FORMAT.check_memory(retention_of(self.memory), asked).map(|()| self.memory)
    }
}

pub(crate) async fn store_info(connection: &mut SqliteConnection) -> Result<StoreInfo> {
    let found = query(STORE_INFO).fetch_all(connection).await.map_err(error::before_commit)?;
    StoreInfo::of(found.first().ok_or_else(|| error::unreadable(STORE))?)
}

//! The last step of the builder, which opens the store.

use std::path::Path;

use sqlx::SqlitePool;
use storagebox_core::Result;

use super::SqliteStore;
use crate::client::Connections;
use crate::config::{self, SqliteBuilder, checked_path};

impl SqliteBuilder {
    /// Opens a store by URL. The first call opens the file. Only `setup` creates the file and its tables.
    ///
    /// The URL is `sqlite:path/to/file.db` or `sqlite:///path/to/file.db`. In the path, write `?` as `%3F` and `%` as
    /// `%25`. The query keys are `synchronous=full|normal|extra`, `combining=on|off`, `call_timeout` (as in `10s`),
    /// `remember` (as in `7d`, or `forever`) and `wal_autocheckpoint` (pages).
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the URL cannot be read or a query key is unknown. The message never contains the URL.
    pub fn connect(self, url: &str) -> Result<SqliteStore> {
        let (builder, path) = config::read(self, url).map_err(|error| error.on("sqlite"))?;
        builder.open(path)
    }

    /// Opens a store in the file at this path, as [`connect`](Self::connect) does.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the path is empty, is not UTF-8, names a folder (ends in a slash, `.` or `..`) or is
    /// `:memory:`, or if a setting is out of range.
    pub fn open(self, path: impl AsRef<Path>) -> Result<SqliteStore> {
        let path = checked_path(path.as_ref())?;
        let connections = Connections::own(&path, &self.settings);
        self.build(connections)
    }

    /// Opens a store on an existing pool. The caller keeps the pool and is responsible for its file, its pragmas and
    /// closing it. The store's tables are in the same file as the caller's tables; their names begin with
    /// `storagebox_`.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if a setting is out of range.
    pub fn from_pool(self, pool: SqlitePool) -> Result<SqliteStore> {
        self.build(Connections::Shared(pool))
    }

    fn build(self, connections: Connections) -> Result<SqliteStore> {
        Ok(SqliteStore::with(connections, self.settings.checked()?))
    }
}

//! How a store is opened: the end of its builder.

use std::path::Path;

use sqlx::SqlitePool;
use storagebox_core::Result;

use super::SqliteStore;
use crate::client::Connections;
use crate::config::{self, SqliteBuilder, checked_path};

impl SqliteBuilder {
    /// A store by its URL. Nothing is opened before the first call, and nothing is created but by `setup`.
    ///
    /// `sqlite:path/to/file.db` or `sqlite:///path/to/file.db`, a `?` in it as `%3F` and a `%` as `%25`, with the keys
    /// `synchronous=full|normal|extra`, `combining=on|off`, `call_timeout` (as in `10s`), `memory` (as in `7d`, or
    /// `forever`) and `wal_autocheckpoint` (pages).
    ///
    /// # Errors
    ///
    /// `Misconfigured` for a URL that cannot be read or a key that is not known; never shows the URL.
    pub fn connect(self, url: &str) -> Result<SqliteStore> {
        let (builder, path) = config::read(self, url).map_err(|error| error.on("sqlite"))?;
        builder.open(path)
    }

    /// A store in the file of this path, as [`connect`](Self::connect).
    ///
    /// # Errors
    ///
    /// `Misconfigured` for a path that is empty, not UTF-8 or a folder's (it ends in a slash, `.` or `..`), `:memory:`, or a setting that is out of its range.
    pub fn open(self, path: impl AsRef<Path>) -> Result<SqliteStore> {
        let path = checked_path(path.as_ref())?;
        let connections = Connections::own(&path, &self.settings);
        self.build(connections)
    }

    /// A store on a pool that the caller has and keeps: its file, its pragmas and its closing are the caller's. The
    /// tables stand beside the caller's own; their names begin with `storagebox_`.
    ///
    /// # Errors
    ///
    /// `Misconfigured` for a setting that is out of its range.
    pub fn from_pool(self, pool: SqlitePool) -> Result<SqliteStore> {
        self.build(Connections::Shared(pool))
    }

    fn build(self, connections: Connections) -> Result<SqliteStore> {
        Ok(SqliteStore::with(connections, self.settings.checked()?))
    }
}

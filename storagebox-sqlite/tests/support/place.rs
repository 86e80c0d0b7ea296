//! A file for one case, in a folder that is deleted with it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection, SqlitePool};
use storagebox_core::{Backend as _, Error, ErrorKind, ManualClock, Result};
use storagebox_sqlite::{SqliteBuilder, SqliteStore};
use storagebox_testkit::{Failure, Folder};
use tempfile::TempDir;

/// The folder of all [`Place`] folders, deleted when the program ends, even by a kill.
static FOLDER: LazyLock<Result<Folder, Failure>> =
    LazyLock::new(|| Folder::new_in(Path::new(env!("CARGO_TARGET_TMPDIR")), "sqlite"));

/// A folder with the file of a store.
#[derive(Debug)]
pub struct Place {
    folder: TempDir,
    pub clock: ManualClock,
}

impl Place {
    /// Creates an empty folder for a store.
    pub fn bare() -> Result<Self> {
        let parent = FOLDER.as_ref().map_err(failed)?;
        let folder = tempfile::tempdir_in(parent.path()).map_err(failed)?;
        Ok(Self { folder, clock: ManualClock::new() })
    }

    /// Creates a folder with the file of a store that is set up.
    pub async fn ready() -> Result<Self> {
        let place = Self::bare()?;
        place.store()?.setup().await?;
        Ok(place)
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("store.db")
    }

    pub fn builder(&self) -> SqliteBuilder {
        SqliteStore::builder().clock(self.clock.clone())
    }

    pub fn store(&self) -> Result<SqliteStore> {
        self.builder().open(self.path())
    }

    pub fn options(&self) -> SqliteConnectOptions {
        let options = SqliteConnectOptions::new().filename(self.path());
        options.synchronous(SqliteSynchronous::Full).disable_statement_logging()
    }

    /// Opens a connection of the driver to the file, without the library.
    pub async fn raw(&self) -> Result<SqliteConnection> {
        self.options().connect().await.map_err(failed)
    }

    /// Creates an empty file.
    pub async fn empty_file(&self) -> Result<()> {
        self.options().create_if_missing(true).connect().await.map_err(failed)?.close().await.map_err(failed)
    }

    /// Creates a pool on the file, as a caller would.
    pub fn pool(&self) -> SqlitePool {
        SqlitePoolOptions::new().max_connections(4).connect_lazy_with(self.options())
    }
}

pub fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the file could not be looked at past the library: {error}"))
}

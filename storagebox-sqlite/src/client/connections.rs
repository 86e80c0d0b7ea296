//! Where connections come from: one that writes and a few that look, all ours, or a pool that the caller has.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{ConnectOptions, Connection, Executor, Sqlite, SqliteConnection, SqlitePool, raw_sql};
use storagebox_core::{Error, Result};
use tokio::sync::{Mutex, MutexGuard};

use super::{Pauses, file};
use crate::config::Settings;
use crate::error;

/// Connections that look: readers do not wait for the writer, nor for each other.
const READERS: u32 = 4;

/// Statements that a connection keeps prepared; there are fewer than that.
const PREPARED: usize = 128;

pub(crate) enum Connections {
    /// Our own.
    Own(Box<Own>),
    /// The caller's.
    Shared(SqlitePool),
}

pub(crate) struct Own {
    path: PathBuf,
    options: SqliteConnectOptions,
    /// The connection that writes, while nobody does.
    writer: Mutex<Option<SqliteConnection>>,
    /// Made by the first look.
    readers: OnceLock<SqlitePool>,
    is_closed: AtomicBool,
    call_timeout: Duration,
}

/// The connection that writes, for as long as it is somebody's. One that is not given back is closed, and whatever it had
/// begun is rolled back.
pub(super) enum Writing<'a> {
    Own(MutexGuard<'a, Option<SqliteConnection>>, SqliteConnection),
    Shared(PoolConnection<Sqlite>),
}

impl Writing<'_> {
    pub(super) fn connection(&mut self) -> &mut SqliteConnection {
        match self {
            Self::Own(_, connection) => connection,
            Self::Shared(connection) => connection,
        }
    }

    /// Gives it back, if it is as it was before.
    pub(super) fn end(self, is_clean: bool) {
        match self {
            Self::Own(mut place, connection) if is_clean => *place = Some(connection),
            Self::Shared(mut connection) if !is_clean => connection.close_on_drop(),
            Self::Own(..) | Self::Shared(_) => {}
        }
    }
}

impl Connections {
    pub(crate) fn own(path: &Path, settings: &Settings) -> Self {
        // Waiting is ours: the driver would wait longer each time, and longest who came first.
        let options = SqliteConnectOptions::new()
            .filename(path)
            .busy_timeout(Duration::ZERO)
            .synchronous(settings.synchronous.as_driver_s())
            .pragma("wal_autocheckpoint", settings.checkpoint_after.to_string())
            .statement_cache_capacity(PREPARED)
            .disable_statement_logging();
        Self::Own(Box::new(Own {
            path: path.to_owned(),
            options,
            writer: Mutex::default(),
            readers: OnceLock::new(),
            is_closed: AtomicBool::new(false),
            call_timeout: settings.call_timeout,
        }))
    }

    /// The connection that writes, when it is this caller's turn.
    pub(super) async fn writing(&self, is_wanted: impl Fn() -> bool) -> Result<Writing<'_>> {
        match self {
            Self::Own(own) => {
                let mut place = own.writer.lock().await;
                let connection = match place.take() {
                    Some(connection) => connection,
                    None => own.connect(is_wanted).await?,
                };
                Ok(Writing::Own(place, connection))
            }
            Self::Shared(pool) => pool.acquire().await.map(Writing::Shared).map_err(error::before_commit),
        }
    }

    /// A connection that looks. It may be dropped at any time: what it does is one statement.
    pub(crate) async fn looking(&self) -> Result<PoolConnection<Sqlite>, sqlx::Error> {
        match self {
            Self::Own(own) => own.readers()?.acquire().await,
            Self::Shared(pool) => pool.acquire().await,
        }
    }

    /// A connection for `setup`, which makes the file if there is none.
    pub(crate) async fn making(&self) -> Result<SqliteConnection> {
        let made = match self {
            Self::Own(own) => {
                file::make(&own.path)?;
                own.options.connect().await
            }
            Self::Shared(pool) => pool.acquire().await.map(PoolConnection::detach),
        };
        made.map_err(|error| self.explained(error))
    }

    /// Refuses files that should not be opened, before a look that would open them.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Self::Own(own) if !own.has_idle_reader() => file::check(&own.path),
            Self::Own(_) | Self::Shared(_) => Ok(()),
        }
    }

    /// Moves the write-ahead log to the file and cuts it, as far as nobody is in the way.
    pub(crate) async fn checkpoint(&self) -> Result<()> {
        let mut writing = self.writing(|| true).await?;
        let moved = writing.connection().execute(raw_sql("PRAGMA wal_checkpoint(TRUNCATE)")).await;
        writing.end(moved.is_ok());
        match moved {
            Err(error) if !error::is_busy(&error) => Err(self.explained(error)),
            _ => Ok(()),
        }
    }

    /// Whether the same may be tried again after a pause; if not, what the error means here.
    pub(crate) fn passes(&self, error: sqlx::Error, pauses: &Pauses) -> Result<()> {
        error::passes(error, self.path(), pauses.are_few())
    }

    /// What a driver's error means here.
    pub(crate) fn explained(&self, error: sqlx::Error) -> Error {
        error::opening(error, self.path())
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Own(own) => Some(&own.path),
            Self::Shared(_) => None,
        }
    }

    /// The files that are this store's alone; of the caller's pool none is known.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.path().map(file::all).unwrap_or_default()
    }

    /// Whether how much is on the disk when is the caller's choice, and not the library's.
    pub(crate) fn are_shared(&self) -> bool {
        matches!(self, Self::Shared(_))
    }

    /// Closes what is ours, after the transaction that is under way; the caller's pool is the caller's to close.
    pub(crate) async fn close(&self) -> Result<()> {
        let Self::Own(own) = self else {
            return Ok(());
        };
        own.is_closed.store(true, Ordering::SeqCst);
        if let Some(readers) = own.readers.get() {
            readers.close().await;
        }
        match own.writer.lock().await.take() {
            Some(connection) => connection.close().await.map_err(error::before_commit),
            None => Ok(()),
        }
    }
}

impl Own {
    fn readers(&self) -> Result<&SqlitePool, sqlx::Error> {
        if self.is_closed.load(Ordering::SeqCst) {
            return Err(sqlx::Error::PoolClosed);
        }
        Ok(self.readers.get_or_init(|| {
            SqlitePoolOptions::new()
                .max_connections(READERS)
                .test_before_acquire(false)
                .acquire_timeout(self.call_timeout)
                .idle_timeout(None)
                .max_lifetime(None)
                .connect_lazy_with(self.options.clone().pragma("query_only", "on"))
        }))
    }

    fn has_idle_reader(&self) -> bool {
        self.readers.get().is_some_and(|readers| readers.num_idle() > 0)
    }

    async fn connect(&self, is_wanted: impl Fn() -> bool) -> Result<SqliteConnection> {
        let mut pauses = Pauses::new();
        loop {
            if self.is_closed.load(Ordering::SeqCst) {
                return Err(error::closed());
            }
            file::check(&self.path)?;
            match self.options.connect().await {
                Ok(connection) => return Ok(connection),
                Err(error) if !is_wanted() => return Err(error::opening(error, Some(&self.path))),
                Err(error) => error::passes(error, Some(&self.path), pauses.are_few())?,
            }
            pauses.wait().await;
        }
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(own) => f.debug_tuple("Own").field(&own.path).finish(),
            Self::Shared(_) => f.write_str("Shared"),
        }
    }
}

#[cfg(test)]
mod tests {
    use sqlx::query_scalar;

    use super::*;
    use crate::config::Synchronous;

    async fn pragma(connection: &mut SqliteConnection, sql: &'static str) -> i64 {
        query_scalar(sql).fetch_one(connection).await.unwrap()
    }

    #[tokio::test]
    async fn what_is_promised_of_the_disk_is_asked_of_every_connection() {
        let folder = storagebox_testkit::Folder::new("sqlite-test").unwrap();
        for synchronous in [Synchronous::Normal, Synchronous::Full, Synchronous::Extra] {
            let settings = Settings { synchronous, checkpoint_after: 7, ..Settings::default() };
            let connections = Connections::own(&folder.path().join("box.db"), &settings);
            connections.making().await.unwrap().close().await.unwrap();
            let mut writing = connections.writing(|| true).await.unwrap();
            let writer = writing.connection();
            assert_eq!(pragma(writer, "PRAGMA synchronous").await, synchronous.number());
            assert_eq!(pragma(writer, "PRAGMA wal_autocheckpoint").await, 7);
            let mut reader = connections.looking().await.unwrap();
            assert_eq!(pragma(&mut reader, "PRAGMA query_only").await, 1);
        }
        assert_eq!(Settings::default().synchronous, Synchronous::Full);
    }
}

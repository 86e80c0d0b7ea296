//! Where connections come from: one that writes and a few that look, all ours, or a pool that the caller has.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Executor, Sqlite, SqliteConnection, SqlitePool, raw_sql};
use storagebox_core::{Error, Result};
use tokio::sync::Mutex;

use super::file::{self, Beside, Lasting};
use super::readers::Readers;
use super::writing::{Place, Writer, Writing};
use super::{Pauses, log};
use crate::config::Settings;
use crate::error;

/// Statements that a connection keeps prepared; there are fewer than that.
const PREPARED: usize = 128;

pub(crate) enum Connections {
    /// Our own.
    Own(Box<Own>),
    /// The caller's.
    Shared(SqlitePool),
}

pub(crate) struct Own {
    file: Lasting,
    options: SqliteConnectOptions,
    writer: Mutex<Place>,
    /// Made by the first look.
    readers: OnceLock<Readers>,
    is_closed: AtomicBool,
    call_timeout: Duration,
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
            file: Lasting::at(path.to_owned()),
            options,
            writer: Mutex::default(),
            readers: OnceLock::new(),
            is_closed: AtomicBool::new(false),
            call_timeout: settings.call_timeout,
        }))
    }

    /// The connection that writes, when it is this caller's turn: to files that are still where they were opened.
    pub(super) async fn writing(&self, is_wanted: impl Fn() -> bool) -> Result<Writing<'_>> {
        match self {
            Self::Own(own) => {
                let mut place = own.writer.lock().await;
                let writer = match place.taken().await {
                    Some(writer) => own.file.check().and_then(|()| writer.checked())?,
                    None => own.connect(is_wanted).await?,
                };
                Ok(Writing::own(place, writer))
            }
            Self::Shared(pool) => pool.acquire().await.map(Writing::Shared).map_err(error::before_commit),
        }
    }

    /// A connection that looks. It may be dropped at any time: what it does is one statement.
    pub(crate) async fn looking(&self) -> Result<PoolConnection<Sqlite>, sqlx::Error> {
        match self {
            Self::Own(own) => own.looking().await,
            Self::Shared(pool) => pool.acquire().await,
        }
    }

    /// A connection for `setup`, which makes the file if there is none.
    pub(crate) async fn making(&self) -> Result<SqliteConnection> {
        let made = match self {
            Self::Own(own) => {
                own.are_still_there()?;
                file::make(own.file.path())?;
                own.opened(false).await
            }
            Self::Shared(pool) => pool.acquire().await.map(PoolConnection::detach),
        };
        made.map_err(|error| self.explained(error))
    }

    /// Refuses files that should not be opened, before a look that would open them.
    pub(crate) fn check(&self) -> Result<()> {
        self.are_still_there()?;
        match self {
            Self::Own(own) if !own.has_idle_reader() => {
                own.are_still_there()?;
                file::check(own.file.path())
            }
            Self::Own(_) | Self::Shared(_) => Ok(()),
        }
    }

    /// Refuses to go on in a file that is no more where it was opened. Of the caller's pool the file is not known.
    pub(super) fn are_still_there(&self) -> Result<()> {
        match self {
            Self::Own(own) => own.file.check(),
            Self::Shared(_) => Ok(()),
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
            Self::Own(own) => Some(own.file.path()),
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
        own.writer.lock().await.close().await.map_err(error::before_commit)
    }
}

impl Own {
    fn readers(&self) -> Result<&Readers, sqlx::Error> {
        if self.is_closed.load(Ordering::SeqCst) {
            return Err(sqlx::Error::PoolClosed);
        }
        if let Some(readers) = self.readers.get() {
            return Ok(readers);
        }
        let beside = Beside::new(self.file.path()).map_err(error::through)?;
        Ok(self.readers.get_or_init(|| Readers::new(&self.options, self.call_timeout, beside)))
    }

    fn has_idle_reader(&self) -> bool {
        self.readers.get().is_some_and(Readers::has_idle)
    }

    /// Refuses what a connection that is opened now would go on in; what stays beside the file, if it may.
    fn are_still_there(&self) -> Result<Arc<Beside>> {
        self.file.meet()?;
        let beside = Beside::of(self.file.path())?;
        beside.check()?;
        self.readers.get().map_or(Ok(()), Readers::check).map(|()| beside)
    }

    async fn looking(&self) -> Result<PoolConnection<Sqlite>, sqlx::Error> {
        self.meet()?;
        let connection = self.readers()?.acquire().await?;
        self.meet().map(|()| connection)
    }

    /// A connection to the file that is there before it is opened and after. Where a log is beside it, SQLite goes on with that,
    /// and need not be asked; it opens it with the first statement.
    async fn opened(&self, has_log: bool) -> Result<SqliteConnection, sqlx::Error> {
        self.meet()?;
        let mut connection = self.options.connect().await?;
        self.meet()?;
        if !has_log {
            log::keep(&mut connection).await?;
        }
        Ok(connection)
    }

    fn meet(&self) -> Result<(), sqlx::Error> {
        self.file.meet().map_err(error::through)
    }

    async fn connect(&self, is_wanted: impl Fn() -> bool) -> Result<Writer> {
        let (path, mut pauses) = (self.file.path(), Pauses::new());
        loop {
            if self.is_closed.load(Ordering::SeqCst) {
                return Err(error::closed());
            }
            let beside = self.are_still_there()?;
            file::check(path)?;
            let has_log = beside.has_log();
            match self.opened(has_log).await {
                Ok(connection) if has_log => return Ok(Writer::new(connection, beside)),
                // It has opened its log, which nobody removes from now on.
                Ok(connection) => return beside.meet().map(|()| Writer::new(connection, beside)),
                Err(error) if !is_wanted() => return Err(error::opening(error, Some(path))),
                Err(error) => error::passes(error, Some(path), pauses.are_few())?,
            }
            pauses.wait().await;
        }
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(own) => f.debug_tuple("Own").field(&own.file.path()).finish(),
            Self::Shared(_) => f.write_str("Shared"),
        }
    }
}

#[cfg(test)]
mod tests {
    use sqlx::{Connection, query_scalar};

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

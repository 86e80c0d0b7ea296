//! The connections: one writer and a few readers of our own, or a pool of the caller.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{ConnectOptions, SqliteConnection, SqlitePool};
use storagebox_core::{Error, Result};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout, timeout_at};

use super::file::{self, SidecarFiles, WatchedFile};
use super::opened::Opened;
use super::readers::Readers;
use super::task::stopped;
use super::writer_slot::{WriterGuard, WriterSlot};
use super::{Ask, Pauses, library, log};
use crate::config::Settings;
use crate::error;

/// The number of prepared statements that a connection keeps, more than the library has.
const PREPARED: usize = 128;

pub(crate) enum Connections {
    /// Connections that the store opens itself.
    Own(Box<Own>),
    /// A pool of the caller.
    Shared(SqlitePool),
}

pub(crate) struct Own {
    file: WatchedFile,
    options: SqliteConnectOptions,
    writer: Mutex<WriterSlot>,
    readers: Readers,
    is_closed: AtomicBool,
    call_timeout: Duration,
}

impl Connections {
    pub(crate) fn own(path: &Path, settings: &Settings) -> Self {
        // The driver does not wait for locks: its pauses grow, so the oldest caller would wait longest. `Pauses` waits
        // instead.
        let options = SqliteConnectOptions::new()
            .filename(path)
            .busy_timeout(Duration::ZERO)
            .synchronous(settings.synchronous.as_driver_s())
            .pragma("wal_autocheckpoint", settings.checkpoint_after.to_string())
            .statement_cache_capacity(PREPARED)
            .disable_statement_logging();
        Self::Own(Box::new(Own {
            file: WatchedFile::at(path.to_owned()),
            readers: Readers::new(&options),
            options,
            writer: Mutex::default(),
            is_closed: AtomicBool::new(false),
            call_timeout: settings.options.call_timeout,
        }))
    }

    /// Waits for the connection that writes. Returns `Corrupt` if its files were replaced or removed.
    pub(super) async fn writing(&self, is_wanted: impl Fn() -> bool) -> Result<WriterGuard<'_>> {
        match self {
            Self::Own(own) => {
                let mut place = own.writer.lock().await;
                let writer = match place.taken().await {
                    Some(writer) => own.file.check().and_then(|()| writer.checked())?,
                    None => own.connect(is_wanted).await?,
                };
                Ok(WriterGuard::own(place, writer))
            }
            Self::Shared(pool) => pool.acquire().await.map(WriterGuard::Shared).map_err(error::before_commit),
        }
    }

    /// Runs one reading statement as soon as a connection is free. Calls `ask`, which reads the clock, after the wait.
    /// Dropping the future is safe at any time.
    pub(crate) async fn look<'q>(&self, ask: impl FnOnce() -> Ask<'q>) -> Result<Vec<SqliteRow>, sqlx::Error> {
        match self {
            Self::Own(own) => own.look(ask).await,
            Self::Shared(pool) => {
                let mut connection = pool.acquire().await?;
                ask().fetch_all(&mut *connection).await
            }
        }
    }

    /// Opens a connection for `setup`, and creates the file if it does not exist.
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

    /// Returns `Corrupt` if a file that the store itself opened is no longer at its path.
    pub(super) fn are_still_there(&self) -> Result<()> {
        match self {
            Self::Own(own) => own.file.check(),
            Self::Shared(_) => Ok(()),
        }
    }

    /// Returns `Denied` if the file is read-only.
    pub(crate) async fn check_writable(&self) -> Result<()> {
        // A file to which a call of this process is writing is writable.
        if matches!(self, Self::Own(own) if own.writer.try_lock().is_err()) {
            return Ok(());
        }
        self.without_waiting(library::WRITABLE).await
    }

    /// Moves the write-ahead log into the database file and truncates the log, as far as the file is not in use.
    pub(crate) async fn checkpoint(&self) -> Result<()> {
        self.without_waiting(library::CHECKPOINT).await
    }

    /// Runs a statement, or does nothing if another connection is using the file, or another call the connection.
    async fn without_waiting(&self, sql: &'static str) -> Result<()> {
        let own = match self {
            Self::Own(own) => own,
            Self::Shared(pool) => {
                let pool = pool.clone();
                // Dropping the call does not stop this task, so the connection always gets its busy timeout back.
                let task =
                    tokio::spawn(async move { library::without_waiting(&mut *pool.acquire().await?, sql).await });
                return task.await.map_err(|_| stopped())?.map_err(|error| self.explained(error));
            }
        };
        // The call that has the connection may be in a runtime that no longer runs.
        let Ok(writing) = timeout(own.call_timeout, self.writing(|| true)).await else { return Ok(()) };
        let mut writing = writing?;
        let executed = library::without_waiting(writing.connection(), sql).await;
        executed.map_err(|error| self.explained(error))?;
        writing.remember_sidecars().map(|()| writing.end(true))
    }

    /// Returns `Ok` if the statement can be retried after a pause, and otherwise the mapped error.
    pub(crate) fn passes(&self, error: sqlx::Error, pauses: &Pauses) -> Result<()> {
        error::passes(error, self.path(), pauses.are_few())
    }

    /// Maps an error of the driver. If the file could not be opened, the message says what is at its path.
    pub(crate) fn explained(&self, error: sqlx::Error) -> Error {
        error::opening(error, self.path())
    }

    /// Returns whether the path leads to the file of the store, directly or through links.
    pub(super) fn are_on(&self, file: &Path) -> bool {
        match self {
            Self::Own(own) => is_same(own.file.path(), file),
            Self::Shared(pool) => {
                let options = pool.connect_options();
                let path = options.get_filename();
                // Databases in memory have no file, and count as the same.
                is_same(path, file) || !path.exists() && !file.exists()
            }
        }
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Own(own) => Some(own.file.path()),
            Self::Shared(_) => None,
        }
    }

    /// Returns the files of the store, or none for a pool of the caller.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.path().map(file::all).unwrap_or_default()
    }

    /// Returns whether the connections are a pool of the caller.
    pub(crate) fn are_shared(&self) -> bool {
        matches!(self, Self::Shared(_))
    }

    /// Closes the store's own connections after the current calls. Leaves a pool of the caller open.
    pub(crate) async fn close(&self) -> Result<()> {
        let Self::Own(own) = self else {
            return Ok(());
        };
        own.is_closed.store(true, Ordering::SeqCst);
        own.close().await
    }
}

impl Own {
    async fn close(&self) -> Result<()> {
        let end = now() + self.call_timeout;
        let have_ended = self.readers.close(end).await;
        let closed = timeout_at(end, async { self.writer.lock().await.close().await }).await;
        match closed {
            Ok(closed) if have_ended => closed.map_err(error::before_commit),
            _ => Err(error::not_closed(self.call_timeout)),
        }
    }

    /// Returns the sidecar files for a new connection, or `Corrupt` if the database file or a sidecar file was replaced
    /// or removed.
    fn are_still_there(&self) -> Result<SidecarFiles> {
        self.file.remember()?;
        let sidecars = SidecarFiles::new(self.file.path())?;
        sidecars.check_shared().map(|()| sidecars)
    }

    /// Returns the sidecar files for a new connection, or an error if a file is unsuitable.
    fn are_fit(&self) -> Result<SidecarFiles> {
        let sidecars = self.are_still_there()?;
        file::check(self.file.path()).map(|()| sidecars)
    }

    async fn look<'q>(&self, ask: impl FnOnce() -> Ask<'q>) -> Result<Vec<SqliteRow>, sqlx::Error> {
        self.file.check().map_err(error::through)?;
        if self.is_closed.load(Ordering::SeqCst) {
            return Err(sqlx::Error::PoolClosed);
        }
        let _turn = self.readers.turn().await?;
        let reader = match self.readers.idle() {
            Some(reader) => reader,
            None => self.reader().await?,
        };
        self.remember()?;
        let rows = self.readers.look(reader, ask()).await?;
        self.remember().map(|()| rows)
    }

    async fn reader(&self) -> Result<Opened, sqlx::Error> {
        let sidecars = self.are_fit().map_err(error::through)?;
        let has_log = sidecars.has_log();
        let mut connection = self.readers.connect().await?;
        library::check(&mut connection).await?;
        let has_log = has_log || log::is_kept(&mut connection).await?;
        Ok(Opened::new(connection, has_log.then_some(sidecars)))
    }

    /// Opens a connection to a file that must not be replaced meanwhile. Begins a write-ahead log unless `has_log`.
    async fn opened(&self, has_log: bool) -> Result<SqliteConnection, sqlx::Error> {
        self.remember()?;
        let mut connection = self.options.connect().await?;
        library::check(&mut connection).await?;
        self.remember()?;
        if !has_log {
            log::keep(&mut connection).await?;
        }
        Ok(connection)
    }

    fn remember(&self) -> Result<(), sqlx::Error> {
        self.file.remember().map_err(error::through)
    }

    async fn connect(&self, is_wanted: impl Fn() -> bool) -> Result<Opened> {
        let (path, mut pauses) = (self.file.path(), Pauses::new());
        loop {
            if self.is_closed.load(Ordering::SeqCst) {
                return Err(error::closed());
            }
            let sidecars = self.are_fit()?;
            match self.opened(sidecars.has_log()).await {
                Ok(connection) => return Ok(Opened::new(connection, Some(sidecars))),
                Err(error) if !is_wanted() => return Err(error::opening(error, Some(path))),
                Err(error) => error::passes(error, Some(path), pauses.are_few())?,
            }
            pauses.wait().await;
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "how long closing waits; no promise depends on it")]
fn now() -> Instant {
    Instant::now()
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(own) => f.debug_tuple("Own").field(&own.file.path()).finish(),
            Self::Shared(_) => f.write_str("Shared"),
        }
    }
}

/// Returns whether both paths lead to the same existing file.
fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests;

//! Where connections come from: one that writes and a few that look, all ours, or a pool that the caller has.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{ConnectOptions, Executor, SqliteConnection, SqlitePool, raw_sql};
use storagebox_core::{Error, Result};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use super::file::{self, Lasting, SidecarFiles};
use super::opened::Opened;
use super::readers::Readers;
use super::writing::{Place, Writing};
use super::{Ask, Pauses, library, log};
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
    readers: Readers,
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
            readers: Readers::new(&options),
            options,
            writer: Mutex::default(),
            is_closed: AtomicBool::new(false),
            call_timeout: settings.options.call_timeout,
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

    /// One look, which may be dropped at any time: it is one statement, made when there is a connection for it.
    pub(crate) async fn look<'q>(&self, ask: impl FnOnce() -> Ask<'q>) -> Result<Vec<SqliteRow>, sqlx::Error> {
        match self {
            Self::Own(own) => own.look(ask).await,
            Self::Shared(pool) => ask().fetch_all(&mut *pool.acquire().await?).await,
        }
    }

    /// A connection for `setup`, which creates the file if it does not exist.
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

    /// Refuses to go on in a file that is no more where it was opened. Of the caller's pool the file is not known.
    pub(super) fn are_still_there(&self) -> Result<()> {
        match self {
            Self::Own(own) => own.file.check(),
            Self::Shared(_) => Ok(()),
        }
    }

    /// Refuses a file that may only be read. Where a call of this process is writing, it may be written to.
    pub(crate) async fn check_writable(&self) -> Result<()> {
        if matches!(self, Self::Own(own) if own.writer.try_lock().is_err()) {
            return Ok(());
        }
        let mut writing = self.writing(|| true).await?;
        let checked = library::check_writable(writing.connection()).await;
        checked.map_err(|error| self.explained(error))?;
        writing.meet_sidecars().map(|()| writing.end(true))
    }

    /// Moves the write-ahead log to the file and cuts it, as far as nobody is in the way.
    pub(crate) async fn checkpoint(&self) -> Result<()> {
        let mut writing = self.writing(|| true).await?;
        let moved = writing.connection().execute(raw_sql("PRAGMA wal_checkpoint(TRUNCATE)")).await;
        match moved {
            Err(error) if !error::is_busy(&error) => Err(self.explained(error)),
            moved => {
                let met = moved.map_or(Ok(()), |_| writing.meet_sidecars());
                met.map(|()| writing.end(true))
            }
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

    /// Refuses what a connection that is opened now would go on in; what stays beside the file, if it may.
    fn are_still_there(&self) -> Result<SidecarFiles> {
        self.file.meet()?;
        let sidecars = SidecarFiles::new(self.file.path())?;
        sidecars.check_shared().map(|()| sidecars)
    }

    /// The same, of files that may be opened at all.
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
        self.meet()?;
        let rows = self.readers.look(reader, ask()).await?;
        self.meet().map(|()| rows)
    }

    /// A connection that looks.
    async fn reader(&self) -> Result<Opened, sqlx::Error> {
        let sidecars = self.are_fit().map_err(error::through)?;
        let has_log = sidecars.has_log();
        let mut connection = self.readers.connect().await?;
        library::check(&mut connection).await?;
        let has_log = has_log || log::is_kept(&mut connection).await?;
        Ok(Opened::new(connection, has_log.then_some(sidecars)))
    }

    /// A connection to the file that is there before it is opened and after. Where a log is beside it, SQLite goes on
    /// with that, and need not be asked; it opens it with the first statement.
    async fn opened(&self, has_log: bool) -> Result<SqliteConnection, sqlx::Error> {
        self.meet()?;
        let mut connection = self.options.connect().await?;
        library::check(&mut connection).await?;
        self.meet()?;
        if !has_log {
            log::keep(&mut connection).await?;
        }
        Ok(connection)
    }

    fn meet(&self) -> Result<(), sqlx::Error> {
        self.file.meet().map_err(error::through)
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

#[cfg(test)]
mod tests;

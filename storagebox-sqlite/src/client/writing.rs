//! The connection that writes, and whose it is.

use std::mem;
use std::sync::Arc;
use std::time::Instant;

use sqlx::pool::PoolConnection;
use sqlx::{Connection, Sqlite, SqliteConnection};
use storagebox_core::Result;
use tokio::sync::MutexGuard;

use super::file::Beside;
use super::turns::{self, InARow};

/// Where the connection that writes is while nobody does.
#[derive(Default)]
pub(super) struct Place {
    writer: Option<Writer>,
    turns: InARow,
}

impl Place {
    /// The connection, if there is one, when it is this process's turn.
    pub(super) async fn taken(&mut self) -> Option<Writer> {
        self.turns.give_way().await;
        self.writer.take()
    }

    pub(super) async fn close(&mut self) -> Result<(), sqlx::Error> {
        match self.writer.take() {
            Some(writer) => writer.close().await,
            None => Ok(()),
        }
    }
}

/// The connection that writes, and what stays beside its file for as long as it is open.
pub(super) struct Writer {
    /// Until it is closed.
    connection: Option<SqliteConnection>,
    beside: Arc<Beside>,
}

impl Writer {
    pub(super) fn new(connection: SqliteConnection, beside: Arc<Beside>) -> Self {
        Self { connection: Some(connection), beside }
    }

    /// Refuses a log or shared memory that is no more where it was.
    pub(super) fn checked(self) -> Result<Self> {
        self.beside.check().map(|()| self)
    }

    fn connection(&mut self) -> &mut SqliteConnection {
        self.connection.as_mut().expect("it is taken by what closes the writer, which is not used after that")
    }

    async fn close(mut self) -> Result<(), sqlx::Error> {
        match self.connection.take_if(|_| !self.beside.is_lost()) {
            Some(connection) => connection.close().await,
            None => Ok(()),
        }
    }
}

/// Where closing it would undo what others have committed, it is left open, with its thread, until the process ends.
impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take_if(|_| self.beside.is_lost()) {
            mem::forget(connection);
            Arc::clone(&self.beside).lose();
        }
    }
}

/// The connection that writes, for as long as it is somebody's. One that is not given back is closed, and whatever it had
/// begun is rolled back.
pub(super) enum Writing<'a> {
    Own { place: MutexGuard<'a, Place>, writer: Writer, since: Instant },
    Shared(PoolConnection<Sqlite>),
}

impl<'a> Writing<'a> {
    pub(super) fn own(place: MutexGuard<'a, Place>, writer: Writer) -> Self {
        Self::Own { place, writer, since: turns::now() }
    }

    pub(super) fn connection(&mut self) -> &mut SqliteConnection {
        match self {
            Self::Own { writer, .. } => writer.connection(),
            Self::Shared(connection) => connection,
        }
    }

    /// Another attempt to begin: the time before was others'.
    pub(super) fn begins(&mut self) {
        if let Self::Own { since, .. } = self {
            *since = turns::now();
        }
    }

    /// Refuses a log or shared memory that is no more where it was, after a transaction, which opened them if nobody had.
    pub(super) fn meet_beside(&self) -> Result<()> {
        match self {
            Self::Own { writer, .. } => writer.beside.meet(),
            Self::Shared(_) => Ok(()),
        }
    }

    /// Gives it back, if it is as it was before.
    pub(super) fn end(self, is_clean: bool) {
        match self {
            Self::Own { mut place, writer, since } => {
                place.turns.add(since, turns::now());
                place.writer = is_clean.then_some(writer);
            }
            Self::Shared(mut connection) if !is_clean => connection.close_on_drop(),
            Self::Shared(_) => {}
        }
    }
}

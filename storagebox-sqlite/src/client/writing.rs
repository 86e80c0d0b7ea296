//! The connection that writes, and whose it is.

use std::time::Instant;

use sqlx::pool::PoolConnection;
use sqlx::{Sqlite, SqliteConnection};
use storagebox_core::Result;
use tokio::sync::MutexGuard;

use super::opened::Opened;
use super::turns::{self, FairnessBreak};

/// Where the connection that writes is while nobody does.
#[derive(Default)]
pub(super) struct Place {
    writer: Option<Opened>,
    turns: FairnessBreak,
}

impl Place {
    /// The connection, if there is one, when it is this process's turn.
    pub(super) async fn taken(&mut self) -> Option<Opened> {
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

/// The connection that writes, for as long as it is somebody's. One that is not given back is closed, and whatever it
/// had begun is rolled back.
pub(super) enum Writing<'a> {
    Own { place: MutexGuard<'a, Place>, writer: Opened, since: Instant },
    Shared(PoolConnection<Sqlite>),
}

impl<'a> Writing<'a> {
    pub(super) fn own(place: MutexGuard<'a, Place>, writer: Opened) -> Self {
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

    /// Refuses a log or shared memory that is no more where it was, after a transaction, which opened them if nobody
    /// had.
    pub(super) fn meet_sidecars(&mut self) -> Result<()> {
        match self {
            Self::Own { writer, .. } => writer.meet(),
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

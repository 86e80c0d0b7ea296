//! The connection that writes.

use std::time::Instant;

use sqlx::pool::PoolConnection;
use sqlx::{Sqlite, SqliteConnection};
use storagebox_core::Result;
use tokio::sync::MutexGuard;

use super::fairness::{self, FairnessBreak};
use super::opened::Opened;

/// Holds the connection that writes, while no call uses the connection.
#[derive(Default)]
pub(super) struct WriterSlot {
    writer: Option<Opened>,
    turns: FairnessBreak,
}

impl WriterSlot {
    /// Makes a break if a break is due. Takes the connection out of the slot, if there is one.
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

/// The connection that writes, while a call uses it. Dropping the guard closes the connection and rolls its transaction
/// back.
pub(super) enum WriterGuard<'a> {
    Own { place: MutexGuard<'a, WriterSlot>, writer: Opened, since: Instant },
    Shared(PoolConnection<Sqlite>),
}

impl<'a> WriterGuard<'a> {
    pub(super) fn own(place: MutexGuard<'a, WriterSlot>, writer: Opened) -> Self {
        Self::Own { place, writer, since: fairness::now() }
    }

    pub(super) fn connection(&mut self) -> &mut SqliteConnection {
        match self {
            Self::Own { writer, .. } => writer.connection(),
            Self::Shared(connection) => connection,
        }
    }

    /// Records that an attempt to begin a transaction starts now. The time before does not count as use of the file.
    pub(super) fn begins(&mut self) {
        if let Self::Own { since, .. } = self {
            *since = fairness::now();
        }
    }

    /// Remembers the log and the shared memory. Returns `Corrupt` if a later transaction finds other files. Must be
    /// called after a transaction.
    pub(super) fn remember_sidecars(&mut self) -> Result<()> {
        match self {
            Self::Own { writer, .. } => writer.remember(),
            Self::Shared(_) => Ok(()),
        }
    }

    /// Returns the connection to its slot or pool if `is_clean`, and closes it otherwise.
    pub(super) fn end(self, is_clean: bool) {
        match self {
            Self::Own { mut place, writer, since } => {
                place.turns.add(since, fairness::now());
                place.writer = is_clean.then_some(writer);
            }
            Self::Shared(mut connection) if !is_clean => connection.close_on_drop(),
            Self::Shared(_) => {}
        }
    }
}

//! One of our own connections, with the sidecar files that must stay while it is open.

use std::mem;
use std::sync::Arc;

use sqlx::{Connection, SqliteConnection};
use storagebox_core::Result;

use super::file::SidecarFiles;

/// An open connection. After its first read it holds SQLite's lock, and no other connection removes its log. Before
/// that, the last other connection that closes removes the log, which is no error.
pub(super) struct Opened {
    /// `None` after it is closed.
    connection: Option<SqliteConnection>,
    /// The sidecar files until the first read. `None` for a file without a log, which has no sidecar files.
    unmet: Option<SidecarFiles>,
    met: Option<Arc<SidecarFiles>>,
}

impl Opened {
    pub(super) fn new(connection: SqliteConnection, unmet: Option<SidecarFiles>) -> Self {
        Self { connection: Some(connection), unmet, met: None }
    }

    pub(super) fn connection(&mut self) -> &mut SqliteConnection {
        self.connection.as_mut().expect("only `close` takes the connection, and nothing uses it after that")
    }

    /// Returns `Corrupt` if the log or the shared memory was replaced or removed. Call it only after a first read.
    pub(super) fn meet(&mut self) -> Result<()> {
        if let Some(unmet) = self.unmet.take_if(|unmet| unmet.has_log()) {
            self.met = Some(unmet.shared());
        }
        self.met.as_ref().map_or(Ok(()), |met| met.meet())
    }

    pub(super) fn has_met(&self) -> bool {
        self.met.is_some()
    }

    /// Checks the same before a statement, and returns the connection.
    pub(super) fn checked(self) -> Result<Self> {
        self.met.as_ref().map_or(Ok(()), |met| met.check())?;
        Ok(self)
    }

    pub(super) async fn close(mut self) -> Result<(), sqlx::Error> {
        self.leave_if_lost();
        // A connection that opens the file while this one closes may find the log removed, which is no error.
        self.met = None;
        match self.connection.take() {
            Some(connection) => connection.close().await,
            None => Ok(()),
        }
    }

    /// Leaves the connection and its thread open until the process ends, if closing it would undo commits of others.
    fn leave_if_lost(&mut self) {
        if let Some(met) = self.met.take_if(|met| met.is_lost()) {
            mem::forget(self.connection.take());
            met.lose();
        }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.leave_if_lost();
        self.met = None;
    }
}

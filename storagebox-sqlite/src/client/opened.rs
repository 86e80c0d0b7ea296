//! One of our own connections, with the sidecar files that must stay while it is open.

use std::mem;
use std::sync::Arc;

use sqlx::{Connection, SqliteConnection};
use storagebox_core::Result;

use super::file::SidecarFiles;

/// An open connection. After its first read, no other connection can remove the log.
pub(super) struct Opened {
    /// `None` after the connection was closed.
    connection: Option<SqliteConnection>,
    /// The sidecar files before the first read of a file with a log.
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

    /// Remembers the log and the shared memory at the first read. Returns `Corrupt` if a later read finds other files.
    pub(super) fn remember(&mut self) -> Result<()> {
        if let Some(unmet) = self.unmet.take_if(|unmet| unmet.has_log()) {
            self.met = Some(unmet.shared());
        }
        self.met.as_ref().map_or(Ok(()), |met| met.remember())
    }

    pub(super) fn has_met(&self) -> bool {
        self.met.is_some()
    }

    /// Returns `Corrupt` if the log or the shared memory was replaced or removed since the last read.
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

    /// Leaves the connection open until the process ends if the log was replaced.
    fn leave_if_lost(&mut self) {
        if let Some(met) = self.met.take_if(|met| met.is_lost()) {
            // Closing the connection would undo commits of other processes.
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

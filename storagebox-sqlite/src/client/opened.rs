//! A connection of ours, and what stays beside its file for as long as it is open.

use std::mem;
use std::sync::Arc;

use sqlx::{Connection, SqliteConnection};
use storagebox_core::Result;

use super::file::SidecarFiles;

/// A connection that holds SQLite's lock once it has read: from then on nobody removes its log. Before that, the last
/// other connection that is closed does so rightly.
pub(super) struct Opened {
    /// Until it is closed.
    connection: Option<SqliteConnection>,
    /// Until it has read. None for a file without a log, which no connection holds.
    unmet: Option<SidecarFiles>,
    met: Option<Arc<SidecarFiles>>,
}

impl Opened {
    pub(super) fn new(connection: SqliteConnection, unmet: Option<SidecarFiles>) -> Self {
        Self { connection: Some(connection), unmet, met: None }
    }

    pub(super) fn connection(&mut self) -> &mut SqliteConnection {
        self.connection.as_mut().expect("it is taken by what closes it, and it is not used after that")
    }

    /// Refuses a log or shared memory that is no more where it was. Only after a statement that has read.
    pub(super) fn meet(&mut self) -> Result<()> {
        if let Some(unmet) = self.unmet.take_if(|unmet| unmet.has_log()) {
            self.met = Some(unmet.shared());
        }
        self.met.as_ref().map_or(Ok(()), |met| met.meet())
    }

    pub(super) fn has_met(&self) -> bool {
        self.met.is_some()
    }

    /// The same before a statement.
    pub(super) fn checked(self) -> Result<Self> {
        self.met.as_ref().map_or(Ok(()), |met| met.check())?;
        Ok(self)
    }

    pub(super) async fn close(mut self) -> Result<(), sqlx::Error> {
        self.leave_if_lost();
        // A connection that opens the file while this one closes may find the log removed, and that is right.
        self.met = None;
        match self.connection.take() {
            Some(connection) => connection.close().await,
            None => Ok(()),
        }
    }

    /// Where closing it would undo what others have committed, it is left open, with its thread, until the process
    /// ends.
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

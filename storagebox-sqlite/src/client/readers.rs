//! The connections that look.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{Sqlite, SqlitePool};
use storagebox_core::Result;

use super::file::Beside;

/// Readers do not wait for the writer, nor for each other.
const MOST: u32 = 4;

/// Our own connections that look, and what stays beside their file for as long as they are open.
pub(super) struct Readers {
    pool: SqlitePool,
    beside: Arc<Beside>,
}

impl Readers {
    pub(super) fn new(options: &SqliteConnectOptions, patience: Duration, beside: Beside) -> Self {
        let pool = SqlitePoolOptions::new()
            .max_connections(MOST)
            .test_before_acquire(false)
            .acquire_timeout(patience)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_lazy_with(options.clone().pragma("query_only", "on"));
        Self { pool, beside: Arc::new(beside) }
    }

    pub(super) fn has_idle(&self) -> bool {
        self.pool.num_idle() > 0
    }

    pub(super) async fn acquire(&self) -> Result<PoolConnection<Sqlite>, sqlx::Error> {
        let connection = self.pool.acquire().await?;
        // A look changes nothing: what is not there any more is judged when the connections are to be closed.
        let _judged_later = self.beside.meet();
        Ok(connection)
    }

    /// Refuses another log or memory than those that are open, or none.
    pub(super) fn check(&self) -> Result<()> {
        match self.pool.size() {
            0 => Ok(()),
            _ => self.beside.check(),
        }
    }

    pub(super) async fn close(&self) {
        if !self.are_lost() {
            self.pool.close().await;
        }
    }

    fn are_lost(&self) -> bool {
        self.pool.size() > 0 && self.beside.is_lost()
    }
}

/// They are left open for the same reason as the one that writes.
impl Drop for Readers {
    fn drop(&mut self) {
        if self.are_lost() {
            mem::forget(self.pool.clone());
            Arc::clone(&self.beside).lose();
        }
    }
}

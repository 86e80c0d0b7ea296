//! The connections that look.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{ConnectOptions, SqliteConnection};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

use super::Ask;
use super::opened::Opened;
use crate::error;

/// Readers do not wait for the writer, nor for each other.
const MOST: u32 = 4;

/// Our own connections that look. The driver's pool would take one back in a task of the caller's runtime, which
/// perhaps nobody drives any more.
pub(super) struct Readers {
    options: SqliteConnectOptions,
    turns: Semaphore,
    idle: Mutex<Idle>,
}

/// Those that nobody uses.
#[derive(Default)]
struct Idle {
    readers: Vec<Opened>,
    are_closed: bool,
}

impl Readers {
    pub(super) fn new(options: &SqliteConnectOptions) -> Self {
        let options = options.clone().pragma("query_only", "on");
        Self { options, turns: Semaphore::new(MOST as usize), idle: Mutex::default() }
    }

    /// Kept for as long as the connection is used.
    pub(super) async fn turn(&self) -> Result<SemaphorePermit<'_>, sqlx::Error> {
        self.turns.acquire().await.map_err(|_| sqlx::Error::PoolClosed)
    }

    pub(super) fn idle(&self) -> Option<Opened> {
        self.lock().readers.pop()
    }

    pub(super) async fn connect(&self) -> Result<SqliteConnection, sqlx::Error> {
        self.options.connect().await
    }

    /// One look, which is not answered from a log that is no more where it was: others do not see what is in it. The
    /// connection is not kept if a file without a log is what it looked at, or if it did not come to that.
    pub(super) async fn look(&self, mut reader: Opened, ask: Ask<'_>) -> Result<Vec<SqliteRow>, sqlx::Error> {
        let rows = ask.fetch_all(reader.connection()).await;
        if rows.is_ok() {
            reader.meet().map_err(error::through)?;
        }
        if reader.has_met() {
            self.give_back(reader);
        }
        rows
    }

    fn give_back(&self, reader: Opened) {
        let mut idle = self.lock();
        if !idle.are_closed {
            idle.readers.push(reader);
        }
    }

    /// Closes them, after the looks that are under way, for which it waits until then: whether they came to their end.
    pub(super) async fn close(&self, end: Instant) -> bool {
        let ended = timeout_at(end, self.turns.acquire_many(MOST)).await.is_ok();
        let idle = mem::replace(&mut *self.lock(), Idle { readers: vec![], are_closed: true });
        for reader in idle.readers {
            // What a look has read is answered, whatever comes after it.
            let _closed = reader.close().await;
        }
        ended
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! The connections that read.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{ConnectOptions, SqliteConnection};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

use super::Ask;
use super::opened::Opened;
use crate::error;

/// The most connections that read at the same time.
const MOST: u32 = 4;

/// A pool of connections that read, independent of the runtime of a caller.
pub(super) struct Readers {
    options: SqliteConnectOptions,
    turns: Semaphore,
    idle: Mutex<Idle>,
}

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

    /// Waits for a permit, which must be kept while one connection is used.
    pub(super) async fn turn(&self) -> Result<SemaphorePermit<'_>, sqlx::Error> {
        self.turns.acquire().await.map_err(|_| sqlx::Error::PoolClosed)
    }

    pub(super) fn idle(&self) -> Option<Opened> {
        self.lock().readers.pop()
    }

    pub(super) async fn connect(&self) -> Result<SqliteConnection, sqlx::Error> {
        self.options.connect().await
    }

    /// Runs a reading statement. Returns an error if the log was replaced or removed. Keeps the connection for the next
    /// read only if the file has a log.
    pub(super) async fn look(&self, mut reader: Opened, ask: Ask<'_>) -> Result<Vec<SqliteRow>, sqlx::Error> {
        let rows = ask.fetch_all(reader.connection()).await;
        if rows.is_ok() {
            reader.remember().map_err(error::through)?;
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

    /// Closes the connections. Returns whether the current reads ended before `end`.
    pub(super) async fn close(&self, end: Instant) -> bool {
        let ended = timeout_at(end, self.turns.acquire_many(MOST)).await.is_ok();
        let idle = mem::replace(&mut *self.lock(), Idle { readers: vec![], are_closed: true });
        for reader in idle.readers {
            // An error of closing a reader is ignored: its reads are already answered.
            let _closed = reader.close().await;
        }
        ended
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

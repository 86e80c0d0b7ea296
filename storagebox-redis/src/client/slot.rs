//! A place for one connection, which is made when it is first needed and again after it broke.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redis::RedisError;
use storagebox_core::{Error, ErrorKind, Result};

use super::server::{Server, Wire};
use crate::error;
use crate::script::Edition;
use crate::turns::Turns;

/// One connection, made when it is first needed, and again after it broke.
#[derive(Default)]
pub(super) struct Slot {
    open: Mutex<Open>,
    /// One connects at a time, as long as that goes on; the others wait for it.
    connecting: Turns,
}

#[derive(Default)]
struct Open {
    /// Grows with each connection, so that a broken one is not taken for its successor.
    number: u64,
    connection: Option<Connection>,
    closed: bool,
}

/// A connection, and how many answers came on it.
#[derive(Clone)]
pub(super) struct Connection {
    number: u64,
    wire: Wire,
    /// Whether the login that it was made with may not be valid for ever.
    login_changes: bool,
    /// Whether somebody else says which server is the master.
    is_watched: bool,
    /// How many answers came on it.
    heard: Arc<AtomicU64>,
}

/// A call that is under way. If it is dropped, its caller has waited long enough, and where the server has not said a
/// word since, it may be gone: new calls open another connection. Those that still wait keep this one.
struct UnderWay<'a> {
    slot: &'a Slot,
    number: u64,
    heard: Arc<AtomicU64>,
    before: u64,
    answered: bool,
}

impl Connection {
    /// That of scripts that do not look at the clock.
    pub(super) fn edition(&self) -> Edition {
        Edition { moved: 0, clustered: self.wire.is_cluster() }
    }

    /// Makes one call on it.
    pub(super) async fn make<T>(
        &mut self,
        slot: &Slot,
        call: impl AsyncFnOnce(&mut Wire) -> Result<T, RedisError>,
    ) -> Result<T, RedisError> {
        let heard = Arc::clone(&self.heard);
        let before = heard.load(Ordering::Relaxed);
        let mut under_way = UnderWay { slot, number: self.number, heard, before, answered: false };
        let reply = call(&mut self.wire).await;
        self.heard.fetch_add(1, Ordering::Relaxed);
        under_way.answered = true;
        reply
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if !self.answered && self.heard.load(Ordering::Relaxed) == self.before {
            self.slot.leave(Some(self.number));
        }
    }
}

impl Slot {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn found(&self) -> Result<Option<Connection>> {
        let open = self.open();
        match open.closed {
            true => Err(closed()),
            false => Ok(open.connection.clone()),
        }
    }

    /// The connection, opened if there is none.
    pub(super) async fn connected(&self, server: &Server) -> Result<Connection> {
        match self.found()? {
            Some(found) => Ok(found),
            // Boxed, because every call carries what it may have to wait for.
            None => Box::pin(self.first_connected(server)).await,
        }
    }

    async fn first_connected(&self, server: &Server) -> Result<Connection> {
        let _turn = self.connecting.next().await;
        match self.found()? {
            Some(found) => Ok(found),
            None => Ok(self.put(server.connect().await?, server)),
        }
    }

    /// A store that was closed meanwhile does not keep it. Nor is one kept that took so long that another was made.
    fn put(&self, wire: Wire, server: &Server) -> Connection {
        let mut open = self.open();
        if let Some(other) = &open.connection {
            return other.clone();
        }
        open.number += 1;
        let (login_changes, is_watched) = (server.access.changes(), server.is_watched());
        let (number, heard) = (open.number, Arc::default());
        let connection = Connection { number, wire, login_changes, is_watched, heard };
        open.connection = (!open.closed).then(|| connection.clone());
        connection
    }

    pub(super) fn close(&self) {
        let mut open = self.open();
        (open.connection, open.closed) = (None, true);
    }

    /// A call that still waits for an answer keeps the connection; new calls open another.
    pub(super) fn leave(&self, number: Option<u64>) {
        let mut open = self.open();
        if number.is_none_or(|number| number == open.number) {
            open.connection = None;
        }
    }

    /// A reply, with its connection left if that is of no use any more.
    pub(super) fn ended<T>(&self, connection: &Connection, keys: &str, reply: Result<T, RedisError>) -> Result<T> {
        reply.map_err(|error| {
            let is_lost = match connection.wire.is_cluster() {
                false => {
                    error::ends_connection(&error) || connection.is_watched && error::may_want_another_master(&error)
                }
                // Its driver connects to a node again by itself, but with the login that it was given.
                true => connection.login_changes && error::may_want_another_login(&error),
            };
            if is_lost {
                self.leave(Some(connection.number));
            }
            error::of(error, keys)
        })
    }
}

pub(super) fn closed() -> Error {
    Error::new(ErrorKind::Unavailable, "the store is closed").on("redis")
}

//! A slot for one connection.

use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::{RedisError, Value};
use storagebox_core::backend::{SingleFlight, in_time};
use storagebox_core::{Error, ErrorKind, Result};

use super::line::Line;
use super::server::{Server, Wire};
use super::since_now;
use crate::error;
use crate::script::Edition;

/// A slot for one connection. A call opens a new connection if the slot is empty.
#[derive(Default)]
pub(super) struct Slot {
    open: Mutex<Open>,
    /// Lets one caller at a time open the connection, while the other callers wait for the connection.
    connecting: SingleFlight,
}

#[derive(Default)]
struct Open {
    /// The number of the last opened connection, which distinguishes a broken connection from a later connection.
    number: u64,
    connection: Option<Connection>,
    closed: bool,
}

#[derive(Clone)]
pub(super) struct Connection {
    number: u64,
    wire: Wire,
    /// Whether the login can change. The login may then be invalid when the driver reconnects by itself.
    login_changes: bool,
    is_watched: bool,
    heard: Arc<Heard>,
    /// Whether the last call was not sent, because the stream had ended.
    is_unsent: bool,
}

/// The server's answers on a connection, shared by all clones of the connection.
struct Heard {
    answers: AtomicU64,
    /// The age of the connection at the last answer, in milliseconds.
    at: AtomicU64,
    age: Box<dyn Fn() -> Duration + Send + Sync>,
}

/// The idle time after which a `PING` precedes the next call. The idle timeouts of load balancers and firewalls are
/// longer. They drop a connection silently, and reset it at its next use.
const IDLE: Duration = Duration::from_secs(30);
/// The longest wait for the answer to a `PING` on an idle connection.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// A guard for a call in progress. If the call is dropped before any answer arrives on the connection, the slot drops
/// the connection, because the server may be gone.
struct UnderWay<'a> {
    slot: &'a Slot,
    number: u64,
    heard: Arc<Heard>,
    before: u64,
    answered: bool,
}

impl Connection {
    /// Returns the `Edition` of the scripts for this server (one node or a cluster), with an unmoved clock.
    pub(super) fn edition(&self) -> Edition {
        Edition { moved: 0, clustered: self.wire.is_cluster() }
    }

    pub(super) fn is_unsent(&self) -> bool {
        self.is_unsent
    }

    /// Makes one call on the connection. Tests move the connection's clock forward by `moved`.
    pub(super) async fn make<T>(
        &mut self,
        slot: &Slot,
        moved: Duration,
        call: impl AsyncFnOnce(&mut Wire) -> Result<T, RedisError>,
    ) -> Result<T, RedisError> {
        if self.is_idle(moved) && self.wire.line().is_some() {
            self.is_unsent = !Box::pin(self.is_there()).await;
            if self.is_unsent {
                return Err(io::Error::from(io::ErrorKind::NotConnected).into());
            }
        }
        let heard = Arc::clone(&self.heard);
        let before = heard.answers.load(Ordering::Relaxed);
        let written = self.wire.line().map(Line::written);
        let mut under_way = UnderWay { slot, number: self.number, heard, before, answered: false };
        let reply = call(&mut self.wire).await;
        self.heard.answers.fetch_add(1, Ordering::Relaxed);
        self.heard.at.fetch_max(self.millis(moved), Ordering::Relaxed);
        under_way.answered = true;
        let is_lost = reply.as_ref().is_err_and(|error| error.code().is_none());
        self.is_unsent = is_lost && self.wire.line().zip(written).is_some_and(|(line, written)| line.ended_at(written));
        reply
    }

    fn millis(&self, moved: Duration) -> u64 {
        u64::try_from(((self.heard.age)() + moved).as_millis()).unwrap_or(u64::MAX)
    }

    fn is_idle(&self, moved: Duration) -> bool {
        let idle = self.millis(moved).saturating_sub(self.heard.at.load(Ordering::Relaxed));
        Duration::from_millis(idle) > IDLE
    }

    /// Returns whether the server answers a `PING`, even with an error.
    async fn is_there(&mut self) -> bool {
        let ping = redis::cmd("PING");
        let mut asked = pin!(ping.query_async::<Value>(&mut self.wire));
        let answer = in_time(ANSWER_TIMEOUT, asked.as_mut()).await;
        answer.is_some_and(|answer| answer.map_or_else(|error| error.code().is_some(), |_| true))
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if !self.answered && self.heard.answers.load(Ordering::Relaxed) == self.before {
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

    pub(super) async fn connected(&self, server: &Server) -> Result<Connection> {
        match self.found()? {
            Some(found) => Ok(found),
            // Boxed to keep the future small: every call contains the futures that it may wait for.
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

    /// Puts a new connection into the slot. Returns the connection that is already in the slot, if there is one. If the
    /// store was closed meanwhile, the slot does not keep the new connection.
    fn put(&self, wire: Wire, server: &Server) -> Connection {
        let mut open = self.open();
        if let Some(other) = &open.connection {
            return other.clone();
        }
        open.number += 1;
        let (login_changes, is_watched) = (server.access.changes(), server.is_watched());
        let number = open.number;
        let heard = Heard { answers: AtomicU64::new(0), at: AtomicU64::new(0), age: Box::new(since_now()) };
        let connection =
            Connection { number, wire, login_changes, is_watched, heard: Arc::new(heard), is_unsent: false };
        open.connection = (!open.closed).then(|| connection.clone());
        connection
    }

    pub(super) fn close(&self) {
        let mut open = self.open();
        (open.connection, open.closed) = (None, true);
    }

    /// Removes the connection with this number, or any connection if `number` is `None`. Calls in progress keep the
    /// connection.
    pub(super) fn leave(&self, number: Option<u64>) {
        let mut open = self.open();
        if number.is_none_or(|number| number == open.number) {
            open.connection = None;
        }
    }

    /// Maps an error reply, and removes an unusable connection from the slot.
    pub(super) fn ended<T>(&self, connection: &Connection, keys: &str, reply: Result<T, RedisError>) -> Result<T> {
        reply.map_err(|error| {
            let is_lost = match connection.wire.is_cluster() {
                false => {
                    error::ends_connection(&error) || connection.is_watched && error::may_want_another_master(&error)
                }
                // The cluster's driver reconnects to a node by itself, but with the login that it was given.
                true => connection.login_changes && error::may_want_another_login(&error),
            };
            if is_lost {
                self.leave(Some(connection.number));
            }
            if connection.is_unsent {
                return error::unsent(error);
            }
            error::of(error, keys)
        })
    }
}

pub(super) fn closed() -> Error {
    Error::new(ErrorKind::Unavailable, "the store is closed").on("redis")
}

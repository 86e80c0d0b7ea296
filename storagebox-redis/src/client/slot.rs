//! A place for one connection, which is made when it is first needed and again after it broke.

use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::{RedisError, Value};
use storagebox_core::backend::in_time;
use storagebox_core::{Error, ErrorKind, Result};

use super::line::Line;
use super::server::{Server, Wire};
use super::since_now;
use crate::error;
use crate::script::Edition;
use crate::single_flight::SingleFlight;

/// One connection, made when it is first needed, and again after it broke.
#[derive(Default)]
pub(super) struct Slot {
    open: Mutex<Open>,
    /// One connects at a time, as long as that goes on; the others wait for it.
    connecting: SingleFlight,
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
    heard: Arc<Heard>,
    /// Whether the last call on it was not sent, because its line had ended.
    is_unsent: bool,
}

/// What its clones heard of it.
struct Heard {
    /// How many answers came.
    answers: AtomicU64,
    /// How old the connection was when the last one came, in milliseconds.
    at: AtomicU64,
    /// How old it is.
    age: Box<dyn Fn() -> Duration + Send + Sync>,
}

/// How long a connection is idle until the server is asked whether it is still there before a call is sent: less than
/// what balancers and firewalls allow, which forget a connection without a word and reset it at the next one.
const IDLE: Duration = Duration::from_secs(30);
/// How long the answer to that may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// A call that is under way. If it is dropped, its caller has waited long enough, and where the server has not said a
/// word since, it may be gone: new calls open another connection. Those that still wait keep this one.
struct UnderWay<'a> {
    slot: &'a Slot,
    number: u64,
    heard: Arc<Heard>,
    before: u64,
    answered: bool,
}

impl Connection {
    /// That of scripts that do not look at the clock.
    pub(super) fn edition(&self) -> Edition {
        Edition { moved: 0, clustered: self.wire.is_cluster() }
    }

    /// Whether the last call on it was not sent, because the server had ended the connection: another one may be made.
    pub(super) fn is_unsent(&self) -> bool {
        self.is_unsent
    }

    /// Makes one call on it. How far the clock is moved on is said in tests alone.
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

    /// Whether the server still answers on it, whatever it says.
    async fn is_there(&mut self) -> bool {
        let ping = redis::cmd("PING");
        let mut asked = pin!(ping.query_async::<Value>(&mut self.wire));
        let answer = in_time(PATIENCE, asked.as_mut()).await;
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

//! Connections: one for all calls, which go over it side by side, and one for what is large.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redis::{ErrorKind, RedisError, ServerErrorKind, Value};
use storagebox_core::{Error, Result};

use super::answer::Answer;
use super::call::{Call, Lane};
use super::server::{Server, Wire};
use crate::config::{Settings, Wait};
use crate::error;
use crate::schema;

/// The connections of a store to its server.
pub(crate) struct Connections {
    server: Server,
    calls: Slot,
    bulk: Slot,
}

/// One connection, made when it is first needed, and again after it broke.
#[derive(Default)]
struct Slot {
    open: Mutex<Open>,
    /// Held by who connects, so that others wait for that.
    connecting: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Open {
    /// Grows with each connection, so that a broken one is not taken for its successor.
    number: u64,
    connection: Option<Connection>,
    closed: bool,
}

/// A connection with its signs of life.
#[derive(Clone)]
struct Connection {
    number: u64,
    wire: Wire,
    /// How many answers came on it.
    heard: Arc<AtomicU64>,
}

/// A call that is under way. If it is dropped, its caller has waited long enough, and where the server has not said a word
/// since, it may be gone: new calls open another connection. Those that still wait keep this one.
struct UnderWay<'a> {
    slot: &'a Slot,
    number: u64,
    heard: Arc<AtomicU64>,
    before: u64,
    answered: bool,
}

impl Connection {
    /// Makes one call on it.
    async fn make<T>(
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

    fn put(&self, wire: Wire) -> Connection {
        let mut open = self.open();
        open.number += 1;
        let connection = Connection { number: open.number, wire, heard: Arc::default() };
        open.connection = Some(connection.clone());
        connection
    }

    /// Whoever is still waiting for an answer keeps the connection; new calls open another.
    fn leave(&self, number: Option<u64>) {
        let mut open = self.open();
        if number.is_none_or(|number| number == open.number) {
            open.connection = None;
        }
    }

    /// A reply, with its connection left if that is of no use any more.
    fn ended<T>(&self, connection: &Connection, reply: Result<T, RedisError>) -> Result<T> {
        reply.map_err(|error| {
            if !connection.wire.mends_itself() && error::ends_connection(&error) {
                self.leave(Some(connection.number));
            }
            error::of(error)
        })
    }
}

fn closed() -> Error {
    Error::new(storagebox_core::ErrorKind::Unavailable, "the store is closed").on("redis")
}

impl Connections {
    /// Connects with the first call.
    pub(crate) fn new(server: Server) -> Self {
        Self { server, calls: Slot::default(), bulk: Slot::default() }
    }

    fn slot(&self, lane: Lane) -> &Slot {
        match lane {
            Lane::Calls => &self.calls,
            Lane::Bulk => &self.bulk,
        }
    }

    /// One script, by its hash; a server that does not know it, after a restart or a failover, is told it.
    pub(super) async fn answer(&self, call: &Call<'_>, settings: &Settings) -> Result<Answer> {
        let slot = self.slot(call.lane());
        let mut connection = self.connected(slot).await?;
        let reply = connection.make(slot, async |wire| script(call, settings.moved(), wire).await).await;
        let answer = Answer::of(call.script().name(), slot.ended(&connection, reply)?)?;
        if let (true, Some(wait)) = (call.script().changes(), settings.wait) {
            self.replicated(slot, &mut connection, call.key(), wait).await?;
        }
        Ok(answer)
    }

    /// `WAIT` looks at what this connection wrote. A repeat of a call may have written nothing, so something is written first.
    async fn replicated(
        &self,
        slot: &Slot,
        connection: &mut Connection,
        key: &str,
        wait: Wait,
    ) -> Result<()> {
        let mut pipeline = redis::pipe();
        pipeline.cmd("HSET").arg(key).arg("wait").arg("").ignore();
        pipeline.cmd("WAIT").arg(wait.replicas).arg(wait.timeout.as_millis() as u64);
        let reply = connection.make(slot, async |wire| pipeline.query_async::<(u32,)>(wire).await).await;
        let (found,) = slot.ended(connection, reply)?;
        if found >= wait.replicas {
            return Ok(());
        }
        let why = format!("{found} of {} replicas had it within {:?}", wait.replicas, wait.timeout);
        Err(Error::unknown(why).on("redis"))
    }

    /// What the server says of itself.
    pub(super) async fn info(&self) -> Result<String> {
        let mut connection = self.connected(&self.calls).await?;
        let command = schema::description();
        let reply = connection.make(&self.calls, async |wire| command.query_async(wire).await).await;
        described(self.calls.ended(&connection, reply)?)
    }

    async fn connected(&self, slot: &Slot) -> Result<Connection> {
        if let Some(found) = slot.found()? {
            return Ok(found);
        }
        let _connecting = slot.connecting.lock().await;
        match slot.found()? {
            Some(found) => Ok(found),
            None => Ok(slot.put(self.server.connect().await?)),
        }
    }

    /// How often a call may be made again after its answer was lost.
    pub(super) fn repeats(&self) -> usize {
        if self.server.mends_itself() { 10 } else { 1 }
    }

    /// Leaves connections that may lead nowhere.
    pub(super) fn leave(&self) {
        self.calls.leave(None);
        self.bulk.leave(None);
    }

    pub(super) fn close(&self) {
        for slot in [&self.calls, &self.bulk] {
            let mut open = slot.open();
            (open.connection, open.closed) = (None, true);
        }
    }
}

/// A cluster answers for each of its masters.
fn described(value: Value) -> Result<String> {
    match value {
        Value::BulkString(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Value::VerbatimString { text, .. } => Ok(text),
        Value::Map(nodes) => nodes.into_iter().map(|(_, node)| described(node)).collect(),
        _ => Err(error::unreadable("INFO")),
    }
}

async fn script(call: &Call<'_>, moved: u64, wire: &mut Wire) -> Result<Value, RedisError> {
    let reply = call.by_hash(moved).query_async(wire).await;
    match reply {
        Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
            call.by_text(moved).query_async(wire).await
        }
        reply => reply,
    }
}

/// Without the address: a login is in it.
impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}

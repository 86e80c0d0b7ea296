//! Connections: one for all calls, which go over it side by side, and one for what is large.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, ConnectionInfo, ErrorKind, ServerErrorKind, Value, cmd};
use storagebox_core::{Error, Result};

use super::answer::Answer;
use super::call::{Call, Lane};
use crate::config::{Settings, Wait};
use crate::error;
use crate::schema;

/// The connections of a store to its server.
pub(crate) struct Connections {
    server: ConnectionInfo,
    patience: Duration,
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
    connection: Option<MultiplexedConnection>,
    closed: bool,
}

impl Slot {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn found(&self) -> Result<Option<(u64, MultiplexedConnection)>> {
        let open = self.open();
        match open.closed {
            true => Err(closed()),
            false => Ok(open.connection.clone().map(|connection| (open.number, connection))),
        }
    }

    fn put(&self, connection: &MultiplexedConnection) -> u64 {
        let mut open = self.open();
        open.number += 1;
        open.connection = Some(connection.clone());
        open.number
    }

    /// Whoever is still waiting for an answer keeps the connection; new calls open another.
    fn leave(&self, number: Option<u64>) {
        let mut open = self.open();
        if number.is_none_or(|number| number == open.number) {
            open.connection = None;
        }
    }
}

fn closed() -> Error {
    Error::new(storagebox_core::ErrorKind::Unavailable, "the store is closed").on("redis")
}

impl Connections {
    /// Connects with the first call.
    pub(crate) fn new(server: ConnectionInfo, patience: Duration) -> Self {
        Self { server, patience, calls: Slot::default(), bulk: Slot::default() }
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
        let (number, mut connection) = self.connected(slot).await?;
        let moved = settings.moved();
        let mut reply: Result<Value, _> = call.by_hash(moved).query_async(&mut connection).await;
        if matches!(&reply, Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)) {
            reply = call.by_text(moved).query_async(&mut connection).await;
        }
        let answer = Answer::of(call.script().name(), ended(slot, number, reply)?)?;
        if let (true, Some(wait)) = (call.script().changes(), settings.wait) {
            self.replicated(slot, number, &mut connection, call.key(), wait).await?;
        }
        Ok(answer)
    }

    /// `WAIT` looks at what this connection wrote. A repeat of a call may have written nothing, so something is written first.
    async fn replicated(
        &self,
        slot: &Slot,
        number: u64,
        connection: &mut MultiplexedConnection,
        key: &str,
        wait: Wait,
    ) -> Result<()> {
        let mut pipeline = redis::pipe();
        pipeline.cmd("HSET").arg(key).arg("wait").arg("").ignore();
        pipeline.cmd("WAIT").arg(wait.replicas).arg(wait.timeout.as_millis() as u64);
        let reply = pipeline.query_async::<(u32,)>(connection).await;
        let (found,) = ended(slot, number, reply)?;
        if found >= wait.replicas {
            return Ok(());
        }
        let why = format!("{found} of {} replicas had it within {:?}", wait.replicas, wait.timeout);
        Err(Error::unknown(why).on("redis"))
    }

    /// What the server says of itself.
    pub(super) async fn info(&self) -> Result<String> {
        match self.command(&schema::description()).await? {
            Value::BulkString(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Value::VerbatimString { text, .. } => Ok(text),
            _ => Err(error::unreadable("INFO")),
        }
    }

    async fn command(&self, command: &Cmd) -> Result<Value> {
        let (number, mut connection) = self.connected(&self.calls).await?;
        let reply = command.query_async(&mut connection).await;
        ended(&self.calls, number, reply)
    }

    async fn connected(&self, slot: &Slot) -> Result<(u64, MultiplexedConnection)> {
        if let Some(found) = slot.found()? {
            return Ok(found);
        }
        let _connecting = slot.connecting.lock().await;
        if let Some(found) = slot.found()? {
            return Ok(found);
        }
        let connection = self.connect().await?;
        Ok((slot.put(&connection), connection))
    }

    /// The driver would give up an answer after half a second; the calls have a time of their own.
    async fn connect(&self) -> Result<MultiplexedConnection> {
        trust_some_cipher();
        let client = redis::Client::open(self.server.clone()).map_err(error::connecting)?;
        let config =
            AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(Some(self.patience));
        let connected = client.get_multiplexed_async_connection_with_config(&config).await;
        let mut connection = connected.map_err(error::connecting)?;
        // Many servers say only now that they want a password, or are still loading.
        cmd("PING").exec_async(&mut connection).await.map_err(error::connecting)?;
        Ok(connection)
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

/// A reply, with the connection left if it is of no use any more.
fn ended<T>(slot: &Slot, number: u64, reply: Result<T, redis::RedisError>) -> Result<T> {
    reply.map_err(|error| {
        if error::ends_connection(&error) {
            slot.leave(Some(number));
        }
        error::of(error)
    })
}

/// The driver's TLS needs to be told which implementation of the ciphers to use, and panics otherwise.
fn trust_some_cipher() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Somebody else may have been quicker, with a choice that is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

/// Without the address: a login is in it.
impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}

//! The connections of a store: one that all calls share, and one for large calls.

use std::fmt;
use std::ops::Deref;
use std::time::Duration;

use redis::{Cmd, ErrorKind, Pipeline, RedisError, ScriptInvocation, ServerErrorKind, Value};
use storagebox_core::{Error, Result};

use super::answer::Answer;
use super::call::{ScriptCall, Traffic};
#[cfg(feature = "pool")]
use super::pool::{Pool, Pooled};
use super::server::{Server, Wire};
use super::slot::{Connection, Slot};
use crate::config::{Settings, Wait};
use crate::error;
use crate::script::{Edition, Script, script};

static AWAITED: Script = script!("store_awaited", CHANGES, [], "store/awaited");

/// The most connections that one call tries, if the server ends each of them before the call is sent.
const CONNECTIONS: usize = 3;

pub(crate) struct Connections {
    server: Server,
    calls: Slot,
    bulk: Slot,
    /// If there is a pool, ordinary calls use its connections instead of `calls`.
    #[cfg(feature = "pool")]
    pool: Option<Pool>,
}

enum Place<'a> {
    Shared(&'a Slot),
    #[cfg(feature = "pool")]
    Pooled(Pooled),
}

#[derive(Clone, Copy)]
pub(crate) enum Request<'a> {
    /// A call of a script, and how far the script's clock is moved forward, in microseconds.
    Script(&'a ScriptCall<'a>, u64),
    Info,
    /// A command that a program sends through a `RedisServer`, outside of a store.
    Command(&'a Cmd),
    Commands(&'a Pipeline),
    Invocation(&'a ScriptInvocation<'a>),
}

impl Request<'_> {
    fn moved(self) -> Duration {
        match self {
            Self::Script(_, moved) => Duration::from_micros(moved),
            Self::Info | Self::Command(_) | Self::Commands(_) | Self::Invocation(_) => Duration::ZERO,
        }
    }

    async fn send(self, wire: &mut Wire) -> Result<Value, RedisError> {
        match self {
            Self::Script(call, moved) => script(call, moved, wire).await,
            Self::Info => redis::cmd("INFO").query_async(wire).await,
            Self::Command(command) => command.query_async(wire).await,
            Self::Commands(commands) => commands.query_async(wire).await,
            Self::Invocation(script) => Box::pin(script.invoke_async(wire)).await,
        }
    }
}

impl Deref for Place<'_> {
    type Target = Slot;

    fn deref(&self) -> &Slot {
        match self {
            Self::Shared(slot) => slot,
            #[cfg(feature = "pool")]
            Self::Pooled(slot) => slot,
        }
    }
}

impl Connections {
    /// Creates the connections to a server without opening them. The first call opens a connection.
    pub(crate) fn new(server: Server) -> Self {
        Self {
            server,
            calls: Slot::default(),
            bulk: Slot::default(),
            #[cfg(feature = "pool")]
            pool: None,
        }
    }

    /// Creates a pool of `connections` connections for ordinary calls, without opening the connections.
    #[cfg(feature = "pool")]
    pub(crate) fn pooled(server: Server, connections: usize) -> Result<Self> {
        let pool = Some(Pool::new(connections, server.patience)?);
        Ok(Self { pool, ..Self::new(server) })
    }

    async fn place(&self, traffic: Traffic) -> Result<Place<'_>> {
        #[cfg(feature = "pool")]
        if let (Traffic::Calls, Some(pool)) = (traffic, &self.pool) {
            return Box::pin(pool.get()).await.map(Place::Pooled);
        }
        Ok(Place::Shared(match traffic {
            Traffic::Calls => &self.calls,
            Traffic::Bulk => &self.bulk,
        }))
    }

    /// Runs a script by its hash, or by its text if the server does not know the hash.
    pub(super) async fn answer(&self, call: &ScriptCall<'_>, settings: &Settings) -> Result<Answer> {
        let slot = self.place(call.traffic()).await?;
        let (mut connection, reply) = self.make(&slot, call.key(), Request::Script(call, settings.moved())).await?;
        let answer = Answer::of(call.script(), reply)?;
        if let (true, Some(wait)) = (call.script().changes(), settings.wait) {
            // The script has run, even if the wait fails.
            let awaited = ScriptCall::new(&AWAITED, call.key());
            let replicated = Box::pin(replicated(&slot, &mut connection, &awaited, wait)).await;
            replicated.map_err(Error::after_unresolved)?;
        }
        Ok(answer)
    }

    pub(crate) async fn info(&self) -> Result<String> {
        let (_, reply) = self.make(&self.calls, "INFO", Request::Info).await?;
        described(reply)
    }

    /// Makes a request that is not a call of a store. `keys` is the beginning of the keys that the request uses.
    pub(crate) async fn ask(&self, keys: &str, request: Request<'_>) -> Result<Value> {
        self.make(&self.calls, keys, request).await.map(|(_, reply)| reply)
    }

    /// Returns new connections to the same server.
    pub(crate) fn another(&self) -> Self {
        Self::new(self.server.clone())
    }

    /// Makes one request, and repeats the request if the connection ended before the request was sent.
    async fn make(&self, slot: &Slot, keys: &str, request: Request<'_>) -> Result<(Connection, Value)> {
        let mut left = CONNECTIONS;
        loop {
            left -= 1;
            let mut connection = slot.connected(&self.server).await?;
            let reply = connection.make(slot, request.moved(), async |wire| request.send(wire).await).await;
            let ended = slot.ended(&connection, keys, reply);
            if left == 0 || !connection.is_unsent() {
                return ended.map(|reply| (connection, reply));
            }
        }
    }

    /// Returns how often a call may be retried after its reply was lost.
    pub(super) fn repeats(&self) -> usize {
        // A cluster's driver may need several attempts to find the new master.
        if self.is_cluster() { 10 } else { 1 }
    }

    pub(crate) fn is_cluster(&self) -> bool {
        self.server.is_cluster()
    }

    /// Drops the shared connections.
    pub(super) fn leave(&self) {
        self.calls.leave(None);
        self.bulk.leave(None);
    }

    pub(super) fn close(&self) {
        self.calls.close();
        self.bulk.close();
        #[cfg(feature = "pool")]
        if let Some(pool) = &self.pool {
            pool.close();
        }
    }
}

/// Runs a script that writes, and then waits until the replicas have the changes of this connection.
async fn replicated(slot: &Slot, connection: &mut Connection, awaited: &ScriptCall<'_>, wait: Wait) -> Result<()> {
    // `WAIT` waits for writes of its own connection. A repeated call may have written nothing, so a write precedes
    // `WAIT`.
    let (key, edition) = (awaited.key(), connection.edition());
    let mut pipeline = redis::pipe();
    pipeline.add_command(awaited.by_text(edition)).ignore();
    pipeline.cmd("WAIT").arg(wait.replicas).arg(wait.timeout.as_millis() as u64);
    let reply = connection.make(slot, Duration::ZERO, async |wire| pipeline.query_async::<(u32,)>(wire).await).await;
    let (found,) = slot.ended(connection, key, reply)?;
    if found >= wait.replicas {
        return Ok(());
    }
    let why = format!("{found} of {} replicas acknowledged the write within {:?}", wait.replicas, wait.timeout);
    Err(Error::unknown(why).on("redis"))
}

/// Returns the text of a reply to `INFO`, joined from all masters of a cluster.
fn described(value: Value) -> Result<String> {
    match value {
        Value::BulkString(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Value::VerbatimString { text, .. } => Ok(text),
        Value::Map(nodes) => nodes.into_iter().map(|(_, node)| described(node)).collect(),
        _ => Err(error::unreadable("INFO")),
    }
}

async fn script(call: &ScriptCall<'_>, moved: u64, wire: &mut Wire) -> Result<Value, RedisError> {
    let edition = Edition { moved, clustered: wire.is_cluster() };
    let reply = call.by_hash(edition).query_async(wire).await;
    match reply {
        Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
            Box::pin(async { call.by_text(edition).query_async(wire).await }).await
        }
        reply => reply,
    }
}

/// Leaves out the address, because it contains a login.
impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}

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

/// The most connections that one call tries if the server ends each of them before the call is sent.
const CONNECTIONS: usize = 3;

/// The connections of a store to its server.
pub(crate) struct Connections {
    server: Server,
    calls: Slot,
    bulk: Slot,
    /// The pool, which replaces the connection in `calls`.
    #[cfg(feature = "pool")]
    pool: Option<Pool>,
}

/// The slot whose connection carries one call.
enum Place<'a> {
    Shared(&'a Slot),
    #[cfg(feature = "pool")]
    Pooled(Pooled),
}

/// A request to the server.
#[derive(Clone, Copy)]
pub(crate) enum Request<'a> {
    /// A script, and by how many microseconds its clock is moved forward.
    Script(&'a ScriptCall<'a>, u64),
    /// The `INFO` of the server.
    Info,
    /// A command that is not a call of a store.
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
    /// Creates the connections without opening them. The first call opens its connection.
    pub(crate) fn new(server: Server) -> Self {
        Self {
            server,
            calls: Slot::default(),
            bulk: Slot::default(),
            #[cfg(feature = "pool")]
            pool: None,
        }
    }

    /// Creates the connections, with a pool of `connections` connections for ordinary calls.
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

    /// Runs a script by its hash. Sends the text of the script if the server does not know the hash.
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

    /// Returns the server's `INFO`.
    pub(crate) async fn info(&self) -> Result<String> {
        let (_, reply) = self.make(&self.calls, "INFO", Request::Info).await?;
        described(reply)
    }

    /// Makes a request that is not a call of a store. `keys` is the beginning of the keys that it uses.
    pub(crate) async fn ask(&self, keys: &str, request: Request<'_>) -> Result<Value> {
        self.make(&self.calls, keys, request).await.map(|(_, reply)| reply)
    }

    /// Returns connections to the same server that are separate from these.
    pub(crate) fn another(&self) -> Self {
        Self::new(self.server.clone())
    }

    /// Makes one request. If the server ended the connection before the request was sent, repeats it on a new
    /// connection.
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

    /// Returns how often a call may be repeated after its reply was lost.
    pub(super) fn repeats(&self) -> usize {
        if self.is_cluster() { 10 } else { 1 }
    }

    pub(crate) fn is_cluster(&self) -> bool {
        self.server.is_cluster()
    }

    /// Drops the shared connections, whose server may be gone. The next calls open new connections.
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

/// Waits until the replicas have the changes.
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

/// Returns the text of an answer to `INFO`. A cluster answers for each of its masters.
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

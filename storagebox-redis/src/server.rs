//! A server for data that a program keeps beside a store, with the URL, the checks and the connections of a store.

use std::fmt;
use std::pin::pin;

use redis::{Cmd, FromRedisValue, Pipeline, ScriptInvocation, Value};
use storagebox_core::backend::{in_time, url};
use storagebox_core::{Error, Result};

use crate::client::{Connections, Request, Server};
use crate::config::{self, Settings, Wait};
use crate::{RedisStore, error, schema};

/// A Redis server that a program uses beside a store, for example as a message transport. Its URL has the form of the
/// URL of a [`RedisStore`].
///
/// Each call takes at most the `call_timeout` of the URL. Errors mean what they mean for a store.
pub struct RedisServer {
    connections: Connections,
    settings: Settings,
    prefix: Option<String>,
}

impl RedisServer {
    /// Opens a server by the URL of a store. The first call connects.
    ///
    /// `prefix`, `call_timeout`, `wait`, `wait_timeout`, `require_aof`, `eviction` and the keys of TLS mean what they
    /// mean for a store. `remember` and `pool` are for stores only and have no effect here.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the URL or a file cannot be read or a query key is unknown, and `Unsupported` for a
    /// cluster. The message never contains the URL.
    pub fn connect(url: &str) -> Result<Self> {
        let (builder, at) = config::read(RedisStore::builder(), url).map_err(|error| error.on("redis"))?;
        let prefix = url::has_key(url, "prefix").then(|| builder.settings.prefix.to_string());
        builder.settings.checked().map_err(Error::of_configuration)?;
        let server = Server { at, access: builder.access, patience: builder.settings.options.call_timeout };
        let connections = Connections::new(server);
        match connections.is_cluster() {
            true => Err(Error::unsupported("several keys of one call on a cluster", "one server").on("redis")),
            false => Ok(Self { connections, settings: builder.settings, prefix }),
        }
    }

    /// Returns a handle to the same server with a connection of its own, for calls that wait on the server.
    #[must_use]
    pub fn another(&self) -> Self {
        let (settings, prefix) = (self.settings.clone(), self.prefix.clone());
        Self { connections: self.connections.another(), settings, prefix }
    }

    /// Returns the `prefix` of the URL, if it names one.
    pub fn prefix(&self) -> Option<&str> {
        self.prefix.as_deref()
    }

    /// Checks that the server is what the URL asks for: version 7.0 or later, not a replica, with an append-only file
    /// if `require_aof` is on, and without eviction, unless `eviction` allows it.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// `Unsupported` for another server, and errors of the server.
    pub async fn check(&self) -> Result<()> {
        let info = self.soon(self.connections.info()).await?;
        schema::check(&info, &self.settings)
    }

    /// Sends one command. `keys` is the beginning of the keys that it uses; errors name it.
    ///
    /// # Cancel safety
    ///
    /// The server may have run the command. It is not repeated here, and has no operation id: repeat it only if running
    /// it twice does no harm.
    ///
    /// # Errors
    ///
    /// Errors of the server, and `Corrupt` for an answer of another type.
    pub async fn command<T: FromRedisValue>(&self, keys: &str, command: &Cmd) -> Result<T> {
        self.ask(keys, Request::Command(command)).await
    }

    /// Runs a script. `keys` is the beginning of the keys that it uses; errors name it.
    ///
    /// # Cancel safety
    ///
    /// The server may have run the script. It is not repeated here, and has no operation id: repeat it only if running
    /// it twice does no harm.
    ///
    /// # Errors
    ///
    /// Errors of the server, and `Corrupt` for an answer of another type.
    pub async fn script<T: FromRedisValue>(&self, keys: &str, script: &ScriptInvocation<'_>) -> Result<T> {
        self.ask(keys, Request::Invocation(script)).await
    }

    /// Sends several commands, and waits for as many replicas as the URL asks for. `keys` is the beginning of the keys
    /// that they use; errors name it.
    ///
    /// # Cancel safety
    ///
    /// The server may have run any number of the commands. They are not repeated here, and have no operation id: repeat
    /// them only if running them twice does no harm.
    ///
    /// # Errors
    ///
    /// Errors of the server, and `OutcomeUnknown` if the replicas did not have the changes in time.
    pub async fn changes(&self, keys: &str, mut changes: Pipeline) -> Result<()> {
        let Some(Wait { replicas, timeout }) = self.settings.wait else {
            return self.ask(keys, Request::Commands(&changes)).await;
        };
        let millis = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        let (found,): (u32,) = self.ask(keys, Request::Commands(changes.cmd("WAIT").arg(replicas).arg(millis))).await?;
        match found >= replicas {
            true => Ok(()),
            false => {
                let why = format!("{found} of {replicas} replicas acknowledged the write within {timeout:?}");
                Err(Error::unknown(why).on("redis"))
            }
        }
    }

    async fn ask<T: FromRedisValue>(&self, keys: &str, request: Request<'_>) -> Result<T> {
        let reply = self.soon(self.connections.ask(keys, request)).await?;
        read(keys, reply)
    }

    async fn soon<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        let patience = self.settings.options.call_timeout;
        let late = || Error::unknown(format!("there was no answer within {patience:?}")).on("redis");
        in_time(patience, pin!(call)).await.unwrap_or_else(|| Err(late()))
    }
}

fn read<T: FromRedisValue>(keys: &str, reply: Value) -> Result<T> {
    redis::from_redis_value(reply).map_err(|_| error::unreadable(keys).after_unresolved())
}

/// Leaves out the address, because it contains a login.
impl fmt::Debug for RedisServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisServer").field("settings", &self.settings).finish_non_exhaustive()
    }
}

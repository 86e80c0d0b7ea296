//! A connection that is made when it is first needed, and again after it broke.

use std::fmt;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, FromRedisValue, Pipeline, RedisError, ScriptInvocation};
use storagebox_core::{Error, ErrorKind, Result};
use tokio::sync::Mutex;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

const CODES: &[(&str, ErrorKind, &str)] = &[
    ("NOGROUP", ErrorKind::NotSetUp, "the queue has no group; it was not set up, or the server lost it"),
    ("NOAUTH", ErrorKind::Denied, "the server wants a user and a password"),
    ("WRONGPASS", ErrorKind::Denied, "the server refused the user or the password"),
    ("NOPERM", ErrorKind::Denied, "the user lacks a right; the server says which"),
    ("OOM", ErrorKind::Unavailable, "the server is at its maxmemory"),
    ("LOADING", ErrorKind::Unavailable, "the server is still loading its data"),
    ("READONLY", ErrorKind::Unavailable, "the server is a replica, which only reads"),
    ("WRONGTYPE", ErrorKind::Corrupt, "a key of the queue is not what this library writes"),
];

pub(super) struct Connection {
    client: redis::Client,
    open: Mutex<Option<MultiplexedConnection>>,
}

/// The URL holds the password.
impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Connection {
    pub(super) fn new(url: &str) -> Result<Self> {
        trust_some_cipher();
        // The driver's error may show the URL.
        let unreadable = |_| {
            let form = "cannot be read; it is redis://user:password@host:port/database, or rediss:// for TLS";
            Error::misconfigured("url", form).on("redis")
        };
        Ok(Self::of(redis::Client::open(url).map_err(unreadable)?))
    }

    fn of(client: redis::Client) -> Self {
        Self { client, open: Mutex::default() }
    }

    /// One of its own to the same server, for calls that wait there.
    pub(super) fn another(&self) -> Self {
        Self::of(self.client.clone())
    }

    /// Runs a script.
    pub(super) async fn invoke<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Result<T> {
        let mut connection = self.connected().await.map_err(error)?;
        let answer = script.invoke_async(&mut connection).await;
        self.kept(answer).await.map_err(error)
    }

    pub(super) async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, RedisError> {
        let mut connection = self.connected().await?;
        let answer = command.query_async(&mut connection).await;
        self.kept(answer).await
    }

    pub(super) async fn query_all(&self, commands: &Pipeline) -> Result<()> {
        let mut connection = self.connected().await.map_err(error)?;
        let answer = commands.query_async(&mut connection).await;
        self.kept(answer).await.map_err(error)
    }

    async fn connected(&self) -> Result<MultiplexedConnection, RedisError> {
        let mut open = self.open.lock().await;
        if let Some(connection) = &*open {
            return Ok(connection.clone());
        }
        // The driver's own limit for an answer is half a second.
        let patience = Some(PATIENCE);
        let config = AsyncConnectionConfig::new().set_response_timeout(patience).set_connection_timeout(patience);
        let connection = self.client.get_multiplexed_async_connection_with_config(&config).await?;
        Ok(open.insert(connection).clone())
    }

    /// An error without a code is no answer of the server: the next call connects anew.
    async fn kept<T>(&self, answer: Result<T, RedisError>) -> Result<T, RedisError> {
        if answer.as_ref().is_err_and(|error| error.code().is_none_or(|code| code == "READONLY")) {
            *self.open.lock().await = None;
        }
        answer
    }
}

pub(super) fn error(error: RedisError) -> Error {
    let known = CODES.iter().find(|(code, ..)| error.code() == Some(code));
    let (kind, message) = known.map_or_else(
        || (ErrorKind::OutcomeUnknown, "the connection or the answer was lost"),
        |(_, kind, message)| (*kind, *message),
    );
    Error::new(kind, message).caused_by(error).on("redis")
}

/// The driver's TLS needs to be told which implementation of the ciphers to use, and panics otherwise.
fn trust_some_cipher() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Somebody else may have been quicker, with a choice that is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_url_is_shown() {
        let connection = Connection::new("redis://ann:secret@127.0.0.1:1").unwrap();
        assert!(!format!("{connection:?}").contains("secret"));
        let error = Connection::new("http://ann:secret@127.0.0.1").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misconfigured);
        assert!(!format!("{error} {error:?}").contains("secret"));
    }
}

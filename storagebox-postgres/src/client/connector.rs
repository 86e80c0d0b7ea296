//! Opens the connections of the store's own pool, and decides whether they can be used again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deadpool::managed::{Manager, Metrics, RecycleError, RecycleResult};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection};
use storagebox_core::{Error, Result};
use tokio::time::{Instant, timeout};

use super::now;
use crate::config::{Settings, Statements, Url};
use crate::error;

/// The number of statements that a connection keeps prepared, which is more than the schema has functions.
const PREPARED: usize = 128;

/// The idle time after which a connection is pinged before its next use, because the other end may have closed it.
const IDLE: Duration = Duration::from_secs(1);

const PING_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a session may count against the server's limit after its connection was closed.
// The session may wait for a lock until its `lock_timeout` of three seconds ends.
const LINGERS: Duration = Duration::from_secs(4);

pub(crate) struct Connector {
    options: PgConnectOptions,
    connect_timeout: Option<Duration>,
    files: Vec<(&'static str, String)>,
    closed: Closed,
}

/// The time at which a connection was last closed; `None` before the first close.
type Closed = Arc<Mutex<Option<Instant>>>;

pub(crate) struct Slot {
    connection: PgConnection,
    /// Whether a call on the connection has not ended, or has ended the session.
    half_used: bool,
    is_new: bool,
    used: Instant,
    closed: Closed,
}

impl Connector {
    pub(super) fn new(url: Url, settings: &Settings) -> Self {
        let options = prepared_for(url.options, settings);
        Self { options, connect_timeout: url.connect_timeout, files: url.files, closed: Closed::default() }
    }

    /// Returns whether a session that this pool has closed may still count against the server's limit.
    pub(super) fn lingers(&self) -> bool {
        let closed = *self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        closed.is_some_and(|closed| now().saturating_duration_since(closed) < LINGERS)
    }

    async fn connect(&self) -> Result<PgConnection> {
        let connect = self.options.connect();
        let connected = match self.connect_timeout {
            None => connect.await,
            Some(limit) => timeout(limit, connect).await.map_err(|_| error::not_connected(limit))?,
        };
        connected.map_err(|error| error::connecting(error, &self.files))
    }
}

/// Adds the settings of the session to the options, unless statements are simple.
fn prepared_for(options: PgConnectOptions, settings: &Settings) -> PgConnectOptions {
    let options = options.statement_cache_capacity(PREPARED).extra_float_digits(None).disable_statement_logging();
    match settings.statements {
        // A pooler may refuse the settings.
        Statements::Simple => options,
        Statements::Prepared => options.options([
            ("statement_timeout", milliseconds(settings.statement_timeout())),
            ("default_transaction_isolation", "read committed".to_owned()),
            // Our statements read a few rows: there is nothing to gain by compiling their plans.
            ("jit", "off".to_owned()),
            // Rows that a policy would hide are an error: a claim that is not seen would be given a second item.
            ("row_security", "off".to_owned()),
        ]),
    }
}

fn milliseconds(duration: Duration) -> String {
    duration.as_millis().clamp(1, i32::MAX as u128).to_string()
}

impl Slot {
    pub(super) fn begin(&mut self) -> &mut PgConnection {
        self.half_used = true;
        &mut self.connection
    }

    /// Records that the call on this connection has ended. Marks the connection as broken if `error` ended the session.
    pub(super) fn end(&mut self, error: Option<&sqlx::Error>) {
        self.half_used = error.is_some_and(error::is_last_word);
        (self.is_new, self.used) = (false, now());
    }

    pub(super) fn is_new(&self) -> bool {
        self.is_new
    }

    pub(super) fn is_broken(&self) -> bool {
        self.half_used
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = Some(now());
    }
}

impl Manager for Connector {
    type Type = Slot;
    type Error = Error;

    /// Opens a connection.
    async fn create(&self) -> Result<Slot, Error> {
        // The future is large, and the future of every call would contain it.
        let connection = Box::pin(self.connect()).await?;
        let closed = Arc::clone(&self.closed);
        Ok(Slot { connection, half_used: false, is_new: true, used: now(), closed })
    }

    /// Pings a connection that has been idle for [`IDLE`].
    async fn recycle(&self, slot: &mut Slot, _: &Metrics) -> RecycleResult<Error> {
        if slot.half_used {
            return Err(RecycleError::message("a call was dropped half-way"));
        }
        if now().saturating_duration_since(slot.used) < IDLE {
            return Ok(());
        }
        // Boxed like `create`.
        match timeout(PING_TIMEOUT, Box::pin(slot.connection.ping())).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(RecycleError::message("the connection was closed while it was idle")),
        }
    }
}

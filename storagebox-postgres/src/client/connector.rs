//! A connection of our own pool: how it is opened, and whether it can be used again.

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

/// Statements that a connection keeps prepared; there are fewer functions than that.
const PREPARED: usize = 128;

/// A connection that was not used for so long may be closed at its other end, and is asked for an answer first: what is
/// sent on a closed one may have been heard.
const IDLE: Duration = Duration::from_secs(1);

/// Many times what it takes a server to answer that question. A proxy that forgot the connection never does.
const PATIENCE: Duration = Duration::from_secs(2);

/// For so long a server may still count a session whose connection is closed: it waits for a lock until it gives up by
/// itself, after three seconds.
const LINGERS: Duration = Duration::from_secs(4);

/// Opens connections for our own pool.
pub(crate) struct Connector {
    options: PgConnectOptions,
    connect_timeout: Option<Duration>,
    files: Vec<(&'static str, String)>,
    closed: Closed,
}

/// When a connection was closed last.
type Closed = Arc<Mutex<Option<Instant>>>;

/// A connection with whether a call is under way on it.
pub(crate) struct Slot {
    connection: PgConnection,
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

    /// Whether the server may still count a session that this pool has closed.
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

/// The session's settings travel with the connection's first message; a pooler in front would refuse them, so they are
/// left out with simple statements.
fn prepared_for(options: PgConnectOptions, settings: &Settings) -> PgConnectOptions {
    let options = options.statement_cache_capacity(PREPARED).extra_float_digits(None).disable_statement_logging();
    match settings.statements {
        Statements::Simple => options,
        Statements::Prepared => options.options([
            ("statement_timeout", milliseconds(settings.statement_timeout())),
            ("default_transaction_isolation", "read committed".to_owned()),
            // Our statements read a few rows: there is nothing to gain by compiling their plans.
            ("jit", "off".to_owned()),
            // What a policy would hide is an error: a claim that is not seen is given an item once more.
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

    /// An answer of the server, be it an error, leaves the connection as it was; anything else does not.
    pub(super) fn end(&mut self, error: Option<&sqlx::Error>) {
        self.half_used = error.is_some_and(error::is_last_word);
        (self.is_new, self.used) = (false, now());
    }

    /// Whether it has served no call yet.
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

    /// Boxed: it is large, and every call would be as large and copied as often.
    async fn create(&self) -> Result<Slot, Error> {
        let connection = Box::pin(self.connect()).await?;
        let closed = Arc::clone(&self.closed);
        Ok(Slot { connection, half_used: false, is_new: true, used: now(), closed })
    }

    /// Nothing is sent on a connection that was just used.
    async fn recycle(&self, slot: &mut Slot, _: &Metrics) -> RecycleResult<Error> {
        if slot.half_used {
            return Err(RecycleError::message("a call was dropped half-way"));
        }
        if now().saturating_duration_since(slot.used) < IDLE {
            return Ok(());
        }
        // Boxed like `create`.
        match timeout(PATIENCE, Box::pin(slot.connection.ping())).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(RecycleError::message("the connection was closed while nobody used it")),
        }
    }
}

//! Where connections come from: a pool of our own, or one that the caller has.

use std::fmt;
use std::time::Duration;

use deadpool::managed::{Manager, Metrics, Pool, RecycleError, RecycleResult};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgRow};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor, PgPool, raw_sql};
use storagebox_core::Result;

use super::call::Call;
use super::progress;
use super::texts::Texts;
use crate::config::{Settings, Statements};
use crate::error::{self, bad};

/// Statements that a connection keeps prepared; there are fewer functions than that.
const PREPARED: usize = 128;

/// A pool of connections.
pub(crate) enum Connections {
    /// Our own: nothing is sent when a connection is taken or given back.
    Own(Pool<Connector>),
    /// The caller's.
    Shared(PgPool),
}

/// No server has more; the pool makes room for all of them at once.
const MOST: usize = 262_143;

/// Opens connections for our own pool.
#[derive(Clone)]
pub(crate) struct Connector(PgConnectOptions);

/// A connection with whether a call is under way on it.
pub(crate) struct Slot {
    connection: PgConnection,
    half_used: bool,
}

impl Connections {
    pub(crate) fn own(options: PgConnectOptions, most: usize, settings: &Settings) -> Result<Self> {
        if !(1..=MOST).contains(&most) {
            return Err(bad("max_connections", format_args!("must be from 1 to {MOST}")));
        }
        // Without timeouts: the calls have a time of their own.
        let pool = Pool::builder(Connector(prepared_for(options, settings)))
            .max_size(most)
            .build()
            .map_err(|_| bad("max_connections", "makes no pool"))?;
        Ok(Self::Own(pool))
    }

    /// The rows of one call, on one connection.
    pub(super) async fn fetch(&self, call: &Call<'_>, settings: &Settings, texts: &Texts) -> Result<Vec<PgRow>> {
        match self {
            Self::Own(pool) => {
                let mut slot = pool.get().await.map_err(error::pooling)?;
                progress::leave()?;
                let rows = call.fetch(slot.begin(), settings, texts).await;
                progress::back(end(pool, &mut slot, rows))
            }
            Self::Shared(pool) => {
                // Boxed like `create`.
                let mut connection = Box::pin(pool.acquire()).await.map_err(error::connecting)?;
                progress::leave()?;
                progress::back(call.fetch(&mut connection, settings, texts).await.map_err(error::of))
            }
        }
    }

    /// The rows of one message of the simple protocol.
    pub(super) async fn simple(&self, sql: AssertSqlSafe<String>) -> Result<Vec<PgRow>> {
        match self {
            Self::Own(pool) => {
                let mut slot = pool.get().await.map_err(error::pooling)?;
                progress::leave()?;
                let rows = slot.begin().fetch_all(raw_sql(sql)).await;
                progress::back(end(pool, &mut slot, rows))
            }
            Self::Shared(pool) => {
                let mut connection = pool.acquire().await.map_err(error::connecting)?;
                progress::leave()?;
                progress::back(connection.fetch_all(raw_sql(sql)).await.map_err(error::of))
            }
        }
    }

    pub(super) async fn dedicated(&self) -> Result<PgConnection> {
        match self {
            Self::Own(pool) => pool.manager().0.connect().await.map_err(error::connecting),
            Self::Shared(pool) => Ok(pool.acquire().await.map_err(error::connecting)?.detach()),
        }
    }

    /// Closes our own pool; the caller's is the caller's to close.
    pub(super) fn close(&self) {
        if let Self::Own(pool) = self {
            pool.close();
        }
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
        ]),
    }
}

fn milliseconds(duration: Duration) -> String {
    duration.as_millis().clamp(1, i32::MAX as u128).to_string()
}

/// Where one connection broke, the idle ones are broken too, as after a restart: the next attempt opens a new one.
fn end<T>(pool: &Pool<Connector>, slot: &mut Slot, answer: Result<T, sqlx::Error>) -> Result<T> {
    let answer = slot.end(answer);
    if slot.half_used {
        drop(pool.retain(|_, _| false));
    }
    answer
}

impl Slot {
    fn begin(&mut self) -> &mut PgConnection {
        self.half_used = true;
        &mut self.connection
    }

    /// An answer of the server, be it an error, leaves the connection as it was; anything else does not.
    fn end<T>(&mut self, answer: Result<T, sqlx::Error>) -> Result<T> {
        self.half_used = matches!(&answer, Err(error) if error.as_database_error().is_none_or(is_last_word));
        answer.map_err(error::of)
    }
}

/// Whether the server closes the connection after this error.
fn is_last_word(error: &(dyn sqlx::error::DatabaseError + 'static)) -> bool {
    error.code().is_none_or(|code| code.starts_with("57P") || code.starts_with("08"))
}

impl Manager for Connector {
    type Type = Slot;
    type Error = sqlx::Error;

    /// Boxed: it is large, and every call would be as large and copied as often.
    async fn create(&self) -> Result<Slot, sqlx::Error> {
        Ok(Slot { connection: Box::pin(self.0.connect()).await?, half_used: false })
    }

    /// Nothing is sent: a connection that broke meanwhile shows it at the next call, which is made again.
    async fn recycle(&self, slot: &mut Slot, _: &Metrics) -> RecycleResult<sqlx::Error> {
        match slot.half_used {
            true => Err(RecycleError::message("a call was dropped half-way")),
            false => Ok(()),
        }
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(pool) => f.debug_tuple("Own").field(&pool.status().max_size).finish(),
            Self::Shared(_) => f.write_str("Shared"),
        }
    }
}

//! Where connections come from: a pool of our own, or one that the caller has.

use std::fmt;
use std::ops::DerefMut;
use std::time::Duration;

use deadpool::managed::{Object, Pool};
use futures_util::TryStreamExt;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Either, Executor, PgPool, Postgres, raw_sql};
use storagebox_core::{ErrorKind, Result};
use tokio::sync::SemaphorePermit;

use super::call::{BEFORE, FunctionCall};
use super::connector::Connector;
use super::gate::Gate;
use super::progress;
use super::statement_cache::StatementCache;
use super::wait;
use crate::config::{Settings, Statements, Url};
use crate::error::{self, bad};

/// A pool of connections.
pub(crate) enum Connections {
    /// Our own.
    Own(Own),
    /// The caller's.
    Shared(PgPool),
}

/// Our own pool: nothing is sent when a connection is taken or given back that was just used.
pub(crate) struct Own {
    pool: Pool<Connector>,
    gate: Gate,
}

/// A connection of our own pool, with the room that it takes, which is left once it is given back.
pub(crate) struct Held<'a> {
    slot: Object<Connector>,
    _room: SemaphorePermit<'a>,
}

/// No server has more; the pool makes room for all of them at once.
const MOST: usize = 262_143;

/// Until the server is asked again for a connection that it still counts.
const AGAIN: Duration = Duration::from_millis(20);

/// What is sent.
#[derive(Clone, Copy)]
pub(super) enum Ask<'a> {
    Call(&'a FunctionCall<'a>, &'a Settings, &'a StatementCache),
    /// One message of the simple protocol, which only reads.
    Text(&'a str),
}

impl Ask<'_> {
    /// The rows, or the error with whether anything was heard of what was sent before it.
    async fn on(self, connection: &mut PgConnection) -> Result<Vec<PgRow>, (sqlx::Error, bool)> {
        let (mut answers, before) = match self {
            Self::Call(call, settings, statements) => {
                let before = if settings.statements == Statements::Simple { BEFORE } else { 0 };
                (call.fetch(connection, settings, statements), before)
            }
            Self::Text(sql) => (connection.fetch_many(raw_sql(AssertSqlSafe(sql.to_owned()))), usize::MAX),
        };
        let (mut rows, mut ended) = (vec![], 0);
        loop {
            match answers.try_next().await {
                Ok(Some(Either::Right(row))) => rows.push(row),
                Ok(Some(Either::Left(_))) => ended += 1,
                Ok(None) => return Ok(rows),
                Err(error) => return Err((error, ended > before || !rows.is_empty())),
            }
        }
    }
}

impl Connections {
    pub(crate) fn own(url: Url, most: usize, settings: &Settings) -> Result<Self> {
        if !(1..=MOST).contains(&most) {
            return Err(bad("max_connections", format_args!("must be from 1 to {MOST}")));
        }
        // Without timeouts: the calls have a time of their own.
        let pool = Pool::builder(Connector::new(url, settings))
            .max_size(most)
            .build()
            .map_err(|_| bad("max_connections", "makes no pool"))?;
        Ok(Self::Own(Own { pool, gate: Gate::new(most) }))
    }

    /// The rows of what is sent, on one connection.
    pub(super) async fn rows(&self, ask: Ask<'_>) -> Result<Vec<PgRow>> {
        match self {
            Self::Own(own) => own.rows(ask).await,
            Self::Shared(pool) => {
                // Boxed like a connection of our own that is opened.
                let mut connection = Box::pin(pool.acquire()).await.map_err(error::acquiring)?;
                progress::leave()?;
                progress::back(ask.on(&mut connection).await.map_err(|(error, heard)| error::of(error, heard)))
            }
        }
    }

    /// A connection for more than one statement.
    pub(crate) async fn dedicated(&self) -> Result<Dedicated<'_>> {
        match self {
            Self::Own(own) => own.held().await.map(Dedicated::Own),
            Self::Shared(pool) => Ok(Dedicated::Shared(Some(pool.acquire().await.map_err(error::acquiring)?))),
        }
    }

    /// Closes our own pool; the caller's is the caller's to close.
    pub(super) fn close(&self) {
        if let Self::Own(own) = self {
            own.pool.close();
        }
    }
}

impl Own {
    /// Sent once more where the server surely did nothing because it had ended the session before.
    async fn rows(&self, ask: Ask<'_>) -> Result<Vec<PgRow>> {
        loop {
            let mut held = self.held().await?;
            let is_new = held.slot.is_new();
            progress::leave()?;
            let answer = ask.on(held.slot.begin()).await;
            held.slot.end(answer.as_ref().err().map(|(error, _)| error));
            if held.slot.is_broken() {
                // The idle ones are broken too, as after a restart: the next attempt opens a new one.
                drop(self.pool.retain(|_, _| false));
            }
            match answer {
                Err((error, heard)) if !is_new && error::has_ended(&error, heard) => progress::refused(),
                answer => return progress::back(answer.map_err(|(error, heard)| error::of(error, heard))),
            }
        }
    }

    /// A connection. Where the server has none left, one that another call gives back.
    async fn held(&self) -> Result<Held<'_>> {
        loop {
            let room = self.gate.enter().await.ok_or_else(error::closed)?;
            match self.pool.get().await.map_err(error::pooling) {
                Ok(slot) => return Ok(Held { slot, _room: room }),
                Err(error) if error.kind() != ErrorKind::Throttled => return Err(error),
                Err(error) => {
                    if !self.gate.narrow(room) && !self.comes_back().await {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Whether there is a connection to wait for although no call has one: one was given back meanwhile, or the server
    /// still counts one that was closed.
    async fn comes_back(&self) -> bool {
        let lingers = self.pool.manager().lingers();
        if lingers {
            wait(AGAIN).await;
        }
        lingers || self.pool.status().size > 0
    }
}

/// A connection that one caller has for more than one statement. It is not given back before it is said to be as it was.
pub(crate) enum Dedicated<'a> {
    Own(Held<'a>),
    Shared(Option<PoolConnection<Postgres>>),
}

impl Dedicated<'_> {
    pub(crate) fn connection(&mut self) -> Result<&mut PgConnection> {
        match self {
            Self::Own(held) => Ok(held.slot.begin()),
            Self::Shared(connection) => connection.as_mut().map(DerefMut::deref_mut).ok_or_else(error::closed),
        }
    }

    /// Nothing is open on it any more.
    pub(crate) fn give_back(self) {
        self.end(None);
    }

    /// Nothing is open on it after this error, unless it was the last word.
    pub(crate) fn end(mut self, error: Option<&sqlx::Error>) {
        match &mut self {
            Self::Own(held) => held.slot.end(error),
            Self::Shared(_) if error.is_some_and(error::is_last_word) => {}
            Self::Shared(connection) => drop(connection.take()),
        }
    }
}

impl Drop for Dedicated<'_> {
    /// Whatever is open on it is rolled back with it.
    fn drop(&mut self) {
        if let Self::Shared(connection) = self {
            drop(connection.take().map(PoolConnection::detach));
        }
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(own) => f.debug_tuple("Own").field(&own.gate.most()).finish(),
            Self::Shared(_) => f.write_str("Shared"),
        }
    }
}

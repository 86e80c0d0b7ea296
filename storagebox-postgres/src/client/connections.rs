//! The source of connections: the store's own pool, or the caller's.

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
use super::joined::Joined;
use super::progress;
use super::statement_cache::StatementCache;
use super::wait;
use crate::config::{Settings, Statements, Url};
use crate::error::{self, bad};

pub(crate) enum Connections {
    Own(Own),
    Shared(PgPool),
    Joined(Joined),
}

/// The store's own pool.
pub(crate) struct Own {
    pool: Pool<Connector>,
    gate: Gate,
}

/// A connection of the store's own pool, with its permit.
pub(crate) struct Held<'a> {
    slot: Object<Connector>,
    // Fields are dropped in order, so the permit is released after the connection is back in the pool.
    _room: SemaphorePermit<'a>,
}

/// The highest `max_connections` that a PostgreSQL server allows.
const MOST: usize = 262_143;

/// The pause before another attempt to connect, while a closed connection may still count against the server's limit.
const AGAIN: Duration = Duration::from_millis(20);

#[derive(Clone, Copy)]
pub(super) enum Ask<'a> {
    Call(&'a FunctionCall<'a>, &'a Settings, &'a StatementCache),
    /// A message of the simple protocol that only reads.
    Text(&'a str),
}

impl Ask<'_> {
    /// Sends the request on the connection. Returns the rows, or the error and whether the server sent a part of the
    /// answer before the error.
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
        // The pool has no timeouts, because the calls have their own.
        let pool = Pool::builder(Connector::new(url, settings))
            .max_size(most)
            .build()
            .map_err(|_| bad("max_connections", "is not a valid size of a pool"))?;
        Ok(Self::Own(Own { pool, gate: Gate::new(most) }))
    }

    pub(super) async fn rows(&self, ask: Ask<'_>) -> Result<Vec<PgRow>> {
        match self {
            Self::Own(own) => own.rows(ask).await,
            Self::Shared(pool) => {
                // Boxed, as opening a connection of the store's own pool is.
                let mut connection = Box::pin(pool.acquire()).await.map_err(error::acquiring)?;
                progress::leave()?;
                let answer = ask.on(&mut connection).await;
                if answer.as_ref().is_err_and(|(error, _)| error::is_of_company(error)) {
                    // No code can end that transaction any more, so the connection is closed.
                    drop(connection.detach());
                }
                progress::back(answer.map_err(|(error, heard)| error::of(error, heard)))
            }
            Self::Joined(joined) => joined.rows(ask).await,
        }
    }

    pub(crate) async fn dedicated(&self) -> Result<Dedicated<'_>> {
        match self {
            Self::Own(own) => own.held().await.map(Dedicated::Own),
            Self::Shared(pool) => Ok(Dedicated::Shared(Some(pool.acquire().await.map_err(error::acquiring)?))),
            Self::Joined(_) => Err(error::outside()),
        }
    }

    /// Closes the store's own pool. A pool of the caller stays open.
    pub(super) fn close(&self) {
        if let Self::Own(own) = self {
            own.pool.close();
        }
    }
}

impl Own {
    /// Sends a request. If the server ended the session without running the request, sends the request on another
    /// connection.
    async fn rows(&self, ask: Ask<'_>) -> Result<Vec<PgRow>> {
        loop {
            let mut held = self.held().await?;
            let is_new = held.slot.is_new();
            progress::leave()?;
            let answer = ask.on(held.slot.begin()).await;
            held.slot.end(answer.as_ref().err().map(|(error, _)| error));
            if held.slot.is_broken() {
                // The idle connections are broken too, as after a restart: the next attempt opens a new connection.
                drop(self.pool.retain(|_, _| false));
            }
            match answer {
                Err((error, heard)) if !is_new && error::has_ended(&error, heard) => progress::refused(),
                answer => return progress::back(answer.map_err(|(error, heard)| error::of(error, heard))),
            }
        }
    }

    /// Returns a connection. If the server refuses a new connection, waits until another call returns its connection.
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

    /// Returns whether another attempt to connect may succeed. Pauses if a closed connection may still count against
    /// the server's limit.
    async fn comes_back(&self) -> bool {
        let lingers = self.pool.manager().lingers();
        if lingers {
            wait(AGAIN).await;
        }
        lingers || self.pool.status().size > 0
    }
}

/// A connection for several statements of one caller, which is closed unless `give_back` or `end` is called.
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

    /// Returns the connection to its pool. No transaction may be open on the connection.
    pub(crate) fn give_back(self) {
        self.end(None);
    }

    /// Returns the connection to its pool, unless `error` ended the session. No transaction may be open on the
    /// connection.
    pub(crate) fn end(mut self, error: Option<&sqlx::Error>) {
        match &mut self {
            Self::Own(held) => held.slot.end(error),
            Self::Shared(_) if error.is_some_and(error::is_last_word) => {}
            Self::Shared(connection) => drop(connection.take()),
        }
    }
}

impl Drop for Dedicated<'_> {
    /// Closes the connection, so that the server rolls back its open transaction.
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
            Self::Joined(_) => f.write_str("Joined"),
        }
    }
}

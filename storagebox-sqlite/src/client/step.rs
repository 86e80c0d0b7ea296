//! The part of a transaction that belongs to one call.

use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Row, Sqlite, SqliteConnection, query};
use storagebox_core::Result;

use super::OpenNamespace;
use crate::clock::Micros;
use crate::error;

pub(crate) type Ask<'q> = Query<'q, Sqlite, SqliteArguments>;

/// The connection, the namespace and the time with which a call is made.
#[derive(Debug)]
pub(crate) struct Step<'c> {
    pub(crate) connection: &'c mut SqliteConnection,
    /// The number of the namespace, or 0 without a namespace or without a transaction.
    pub(crate) number: i64,
    /// The time, read after the transaction locked the file.
    pub(crate) now: Micros,
    /// The time up to which ended claims, operations and tokens are forgotten. A call without a transaction forgets
    /// nothing.
    pub(crate) forgotten: Micros,
    /// Whether a committed call has opened the namespace. If not, a statement without a transaction must check the
    /// namespace itself.
    pub(crate) is_open: bool,
}

impl Step<'_> {
    /// Returns the number of another namespace, and creates the namespace if it does not exist.
    pub(crate) async fn enter(&mut self, place: &OpenNamespace) -> Result<i64> {
        place.enter_beside(&mut *self.connection).await.map(|(number, _)| number)
    }

    /// Returns the same step for another namespace.
    pub(crate) fn within(&mut self, number: i64) -> Step<'_> {
        let Self { now, forgotten, is_open, .. } = *self;
        Step { connection: &mut *self.connection, number, now, forgotten, is_open }
    }

    /// Prepares statements, with the namespace's number as their first argument.
    pub(crate) fn ask<'q>(&self, sql: &'static str) -> Ask<'q> {
        query(sql).bind(self.number)
    }

    pub(crate) async fn rows(&mut self, ask: Ask<'_>) -> Result<Vec<SqliteRow>> {
        ask.fetch_all(&mut *self.connection).await.map_err(error::before_commit)
    }

    pub(crate) async fn row(&mut self, ask: Ask<'_>) -> Result<Option<SqliteRow>> {
        Ok(self.rows(ask).await?.pop())
    }

    /// Returns the number in the first column of the only row. `what` names the number in an error.
    pub(crate) async fn number(&mut self, what: &'static str, ask: Ask<'_>) -> Result<i64> {
        let row = self.row(ask).await?.ok_or_else(|| error::unreadable(what))?;
        error::read(what, row.try_get(0))
    }

    pub(crate) async fn change(&mut self, ask: Ask<'_>) -> Result<u64> {
        let done = ask.execute(&mut *self.connection).await.map_err(error::before_commit)?;
        Ok(done.rows_affected())
    }
}

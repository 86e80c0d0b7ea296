//! One call's part of a transaction.

use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Row, Sqlite, SqliteConnection, query};
use storagebox_core::Result;

use super::OpenNamespace;
use crate::clock::Micros;
use crate::error;

/// A statement, or some of them, with what it asks for.
pub(crate) type Ask<'q> = Query<'q, Sqlite, SqliteArguments>;

/// What a call has while it is made: the file to itself, its namespace and the time.
#[derive(Debug)]
pub(crate) struct Step<'c> {
    pub(crate) connection: &'c mut SqliteConnection,
    /// The number of the namespace, which a file that was restored meanwhile may have given another; so it is asked for
    /// within each transaction. 0 for a call that is about all namespaces, or is made without a transaction.
    pub(crate) number: i64,
    /// Read after the file was to be had.
    pub(crate) now: Micros,
    /// What ended then or before is forgotten. Nothing is for a call that is made without a transaction.
    pub(crate) forgotten: Micros,
    /// Whether this process has met the namespace before. If not, a statement without a transaction judges it by itself
    /// or changes nothing.
    pub(crate) is_open: bool,
}

impl Step<'_> {
    /// The number of another namespace, which the same transaction changes and opens if nobody has done so.
    pub(crate) async fn enter(&mut self, place: &OpenNamespace) -> Result<i64> {
        place.enter_beside(&mut *self.connection).await.map(|(number, _)| number)
    }

    /// The same step in another namespace.
    pub(crate) fn within(&mut self, number: i64) -> Step<'_> {
        let Self { now, forgotten, is_open, .. } = *self;
        Step { connection: &mut *self.connection, number, now, forgotten, is_open }
    }

    /// Statements whose first argument is the namespace.
    pub(crate) fn ask<'q>(&self, sql: &'static str) -> Ask<'q> {
        query(sql).bind(self.number)
    }

    pub(crate) async fn rows(&mut self, ask: Ask<'_>) -> Result<Vec<SqliteRow>> {
        ask.fetch_all(&mut *self.connection).await.map_err(error::before_commit)
    }

    /// The only row that the statements show, if there is one.
    pub(crate) async fn row(&mut self, ask: Ask<'_>) -> Result<Option<SqliteRow>> {
        Ok(self.rows(ask).await?.pop())
    }

    /// A number that the statements show.
    pub(crate) async fn number(&mut self, what: &'static str, ask: Ask<'_>) -> Result<i64> {
        let row = self.row(ask).await?.ok_or_else(|| error::unreadable(what))?;
        error::read(what, row.try_get(0))
    }

    /// How many rows the statements changed.
    pub(crate) async fn change(&mut self, ask: Ask<'_>) -> Result<u64> {
        let done = ask.execute(&mut *self.connection).await.map_err(error::before_commit)?;
        Ok(done.rows_affected())
    }
}

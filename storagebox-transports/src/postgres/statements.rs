//! The statements of a schema, and what the server's errors mean.

use std::time::Duration;

use sqlx::{AssertSqlSafe, PgPool, SqlSafeStr, SqlStr, raw_sql};
use storagebox_core::{Error, ErrorKind, Result};
use tokio::time::timeout;

use super::schema::Schema;

/// How long an answer may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// By the beginning of the SQLSTATE.
const CODES: &[(&str, ErrorKind, &str)] = &[
    ("28", ErrorKind::Denied, "the server refused the user or the password"),
    ("42501", ErrorKind::Denied, "the role lacks a right; the cause says which"),
    ("3D000", ErrorKind::NotSetUp, "the database does not exist; create it first"),
    ("3F000", ErrorKind::NotSetUp, "the schema does not exist"),
    ("42P01", ErrorKind::NotSetUp, "the schema or a table of it does not exist"),
    ("42", ErrorKind::Corrupt, "the table is not as `setup` made it"),
    ("40", ErrorKind::Contention, "another transaction was in the way"),
    ("53300", ErrorKind::Throttled, "the server has no connection left"),
    ("53", ErrorKind::Unavailable, "the server is short of memory or disk"),
    ("25006", ErrorKind::Unavailable, "the server only reads; connect to the primary"),
    ("57P03", ErrorKind::Unavailable, "the server is starting up or shutting down"),
];

/// The statements, with the name of the schema in them.
#[derive(Debug)]
pub(super) struct Statements {
    pub(super) setup: SqlStr,
    pub(super) send: SqlStr,
    pub(super) take: SqlStr,
    pub(super) extend: SqlStr,
    pub(super) ack: SqlStr,
    pub(super) retry: SqlStr,
    pub(super) park: SqlStr,
    pub(super) parked: SqlStr,
    pub(super) redrive: SqlStr,
}

impl Statements {
    pub(super) fn new(schema: &Schema) -> Self {
        // The name was checked, and there is nothing else in them that we did not write.
        let fill = |sql| AssertSqlSafe(schema.fill(sql)).into_sql_str();
        Self {
            setup: fill(include_str!("../../sql/postgres/setup.sql")),
            send: fill(include_str!("../../sql/postgres/send.sql")),
            take: fill(include_str!("../../sql/postgres/take.sql")),
            extend: fill(include_str!("../../sql/postgres/extend.sql")),
            ack: fill(include_str!("../../sql/postgres/ack.sql")),
            retry: fill(include_str!("../../sql/postgres/retry.sql")),
            park: fill(include_str!("../../sql/postgres/park.sql")),
            parked: fill(include_str!("../../sql/postgres/parked.sql")),
            redrive: fill(include_str!("../../sql/postgres/redrive.sql")),
        }
    }
}

/// Runs several statements as one transaction.
pub(super) async fn run_all(pool: &PgPool, statements: &SqlStr) -> Result<()> {
    in_time(raw_sql(statements.clone()).execute(pool)).await.map(drop)
}

/// A server that does not answer in time may be gone without a word.
pub(super) async fn in_time<T>(call: impl Future<Output = Result<T, sqlx::Error>> + Send) -> Result<T> {
    match timeout(PATIENCE, call).await {
        Ok(answer) => answer.map_err(error),
        Err(_) => Err(Error::unknown(format!("there was no answer within {PATIENCE:?}")).on("postgres")),
    }
}

fn error(error: sqlx::Error) -> Error {
    let (kind, message) = match &error {
        sqlx::Error::Database(database) => {
            let code = database.code().unwrap_or_default();
            let known = CODES.iter().find(|(known, ..)| code.starts_with(known));
            known.map_or((ErrorKind::OutcomeUnknown, "the server failed"), |(_, kind, message)| (*kind, *message))
        }
        sqlx::Error::PoolTimedOut => (ErrorKind::Unavailable, "there was no connection in time"),
        sqlx::Error::PoolClosed => (ErrorKind::Unavailable, "the pool is closed"),
        _ => (ErrorKind::OutcomeUnknown, "the connection or the answer was lost"),
    };
    Error::new(kind, message).caused_by(error).on("postgres")
}

/// A duration as the statements take it.
pub(super) fn micros(duration: Duration) -> i64 {
    // More than this is no interval.
    const MOST: i64 = storagebox_core::MAX_DURATION.as_micros() as i64;
    i64::try_from(duration.as_micros()).map_or(MOST, |micros| micros.min(MOST))
}

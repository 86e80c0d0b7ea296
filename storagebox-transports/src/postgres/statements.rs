//! The statements of a schema.

use std::time::Duration;

use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

#[derive(Debug)]
pub(super) struct Statements {
    pub(super) setup: SqlStr,
    pub(super) send: SqlStr,
    pub(super) take: SqlStr,
    pub(super) extend: SqlStr,
    pub(super) begin_alone: SqlStr,
    pub(super) ack: SqlStr,
    pub(super) retry: SqlStr,
    pub(super) park: SqlStr,
    pub(super) parked: SqlStr,
    pub(super) redrive: SqlStr,
}

impl Statements {
    /// Returns the statements for a schema whose name `Schema` has checked.
    pub(super) fn new(schema: &str) -> Self {
        // The rest of each statement is part of this crate.
        let fill = |sql: &str| AssertSqlSafe(sql.replace("{schema}", schema)).into_sql_str();
        Self {
            setup: fill(include_str!("../../sql/postgres/setup.sql")),
            send: fill(include_str!("../../sql/postgres/send.sql")),
            take: fill(include_str!("../../sql/postgres/take.sql")),
            extend: fill(include_str!("../../sql/postgres/extend.sql")),
            begin_alone: fill(include_str!("../../sql/postgres/begin_alone.sql")),
            ack: fill(include_str!("../../sql/postgres/ack.sql")),
            retry: fill(include_str!("../../sql/postgres/retry.sql")),
            park: fill(include_str!("../../sql/postgres/park.sql")),
            parked: fill(include_str!("../../sql/postgres/parked.sql")),
            redrive: fill(include_str!("../../sql/postgres/redrive.sql")),
        }
    }
}

/// Converts a duration to microseconds, which the statements expect.
pub(super) fn micros(duration: Duration) -> i64 {
    // A longer time is not a valid interval.
    const MOST: i64 = storagebox_core::MAX_DURATION.as_micros() as i64;
    i64::try_from(duration.as_micros()).map_or(MOST, |micros| micros.min(MOST))
}

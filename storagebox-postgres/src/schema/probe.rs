//! Refuses a server that speaks PostgreSQL's protocol but does not behave like PostgreSQL.

use std::fmt::Display;

use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Row, raw_sql};
use storagebox_core::{Error, Result};

use crate::config::Schema;
use crate::error;

const PROBE: &str = include_str!("../../sql/store/probe.sql");

/// The server behaviours that the functions need, each with a column of the probe and a name for errors.
const NEEDED: [(&str, &str); 6] = [
    ("finds_by_address", "change a row by its address (ctid) after it was locked"),
    ("skips_no_own_locks", "find a row again that the same transaction has locked (SKIP LOCKED)"),
    ("keeps_settings", "run a function with its own settings, such as lock_timeout"),
    ("undoes_blocks", "undo a block of a function that fails"),
    ("has_ids", "tell whether a transaction has written (txid_current_if_assigned)"),
    ("has_local_settings", "keep a setting until the end of a transaction"),
];

/// The SQLSTATE classes with which a server rejects a statement, or a name in it, as unknown.
const NOT_KNOWN: [&str; 2] = ["0A", "42"];
/// The codes in the classes of `NOT_KNOWN` that mean something else: a right is missing, or a name is taken.
const OTHERS: [&str; 3] = ["42501", "42P07", "42723"];

pub(super) async fn check(connection: &mut PgConnection, schema: &Schema) -> Result<()> {
    let found = raw_sql(AssertSqlSafe(schema.fill(PROBE))).fetch_one(connection).await.map_err(refused)?;
    judge(|column| has(&found, column))
}

/// Maps the error of a statement that every PostgreSQL server knows and that uses nothing of the schema.
pub(super) fn refused(error: sqlx::Error) -> Error {
    match error.as_database_error().and_then(|error| error.code()) {
        Some(code) if is_not_known(&code) => {
            lacking(format_args!("does not know a statement of `setup` (SQLSTATE {code}; the cause says which)"))
                .caused_by(error)
        }
        _ => error::of(error, true),
    }
}

fn is_not_known(code: &str) -> bool {
    NOT_KNOWN.iter().any(|class| code.starts_with(class)) && !OTHERS.contains(&code)
}

fn judge(has: impl Fn(&str) -> bool) -> Result<()> {
    match NEEDED.iter().find(|(column, _)| !has(column)) {
        None => Ok(()),
        Some((_, what)) => Err(lacking(format_args!("cannot {what}"))),
    }
}

fn lacking(what: impl Display) -> Error {
    Error::unsupported(format_args!("a server that {what}"), "PostgreSQL itself").on("postgres")
}

/// Whether the column of the probe is true. An answer of another type counts as false.
fn has(row: &PgRow, column: &str) -> bool {
    row.try_get::<Option<bool>, _>(column).is_ok_and(|answer| answer == Some(true))
}

#[cfg(test)]
mod tests {
    use storagebox_core::ErrorKind;

    use super::*;

    #[test]
    fn error_names_the_behaviour_that_a_server_lacks() {
        assert!(judge(|_| true).is_ok());
        for (missing, what) in NEEDED {
            let error = judge(|column| column != missing).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.message().contains(what), "{error}");
        }
    }

    #[test]
    fn code_of_a_missing_right_does_not_mean_an_unknown_statement() {
        assert!(["0A000", "42601", "42703", "42704", "42883", "42P01"].into_iter().all(is_not_known));
        assert!(!["42501", "42P07", "42723", "23505", "55P03", "57014", "XX000"].into_iter().any(is_not_known));
    }
}

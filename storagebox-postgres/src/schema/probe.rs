//! Refuses a server that speaks PostgreSQL's protocol and does not behave like it.

use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Row, raw_sql};
use storagebox_core::{Error, Result};

use super::refused;
use crate::config::Schema;

const PROBE: &str = include_str!("../../sql/store/probe.sql");

/// What the functions rely on: the column of the probe, and what a server without it cannot do.
const NEEDED: [(&str, &str); 5] = [
    ("finds_by_address", "change a row by its address (ctid) after it was locked"),
    ("keeps_settings", "run a function with its own settings, such as lock_timeout"),
    ("undoes_blocks", "undo a block of a function that fails"),
    ("has_ids", "tell whether a transaction has written (txid_current_if_assigned)"),
    ("has_local_settings", "keep a setting until the end of a transaction"),
];

/// Probes the server, in the transaction of a setup.
pub(super) async fn check(connection: &mut PgConnection, schema: &Schema) -> Result<()> {
    let found = raw_sql(AssertSqlSafe(schema.fill(PROBE))).fetch_one(connection).await.map_err(refused)?;
    judge(|column| has(&found, column))
}

/// Returns the error for the first behaviour that is missing.
fn judge(has: impl Fn(&str) -> bool) -> Result<()> {
    match NEEDED.iter().find(|(column, _)| !has(column)) {
        None => Ok(()),
        Some((_, what)) => {
            Err(Error::unsupported(format_args!("a server that cannot {what}"), "PostgreSQL itself").on("postgres"))
        }
    }
}

/// A server that answers something else has not the behaviour.
fn has(row: &PgRow, column: &str) -> bool {
    row.try_get::<Option<bool>, _>(column).is_ok_and(|answer| answer == Some(true))
}

#[cfg(test)]
mod tests {
    use storagebox_core::ErrorKind;

    use super::*;

    #[test]
    fn a_server_without_one_behaviour_is_refused_in_its_words() {
        assert!(judge(|_| true).is_ok());
        for (missing, what) in NEEDED {
            let error = judge(|column| column != missing).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.message().contains(what), "{error}");
        }
    }
}

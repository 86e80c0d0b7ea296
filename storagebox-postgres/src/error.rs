//! The driver's errors, by code. What is not in the table may have been applied (ER-1).

use std::fmt::Display;

use deadpool::managed::PoolError;
use sqlx::error::DatabaseError;
use storagebox_core::{Error, ErrorKind, Result};

/// What a SQLSTATE means for a statement that is one transaction of its own.
///
/// The first entry that the code begins with decides; behind the code stands the constraint that was broken, if one
/// was. What the server finds wrong with a statement or a row it says before it commits: nothing was applied.
const CODES: &[(&str, ErrorKind, &str)] = &[
    ("28", ErrorKind::Denied, "the server refused the user or the password"),
    ("42501", ErrorKind::Denied, "the role lacks a right; the README of storagebox-postgres lists those it needs"),
    ("SB001", ErrorKind::Corrupt, NOT_THAT_OPENED),
    ("3D000", ErrorKind::NotSetUp, "the database does not exist; create it first"),
    ("3F000", ErrorKind::NotSetUp, "the schema does not exist"),
    ("42P01", ErrorKind::NotSetUp, "the schema or a table of it does not exist"),
    (
        "42883",
        ErrorKind::NotSetUp,
        "a function of the schema does not exist, or a column is not of the type that it needs",
    ),
    ("42P05", ErrorKind::OutcomeUnknown, "a pooler mixed prepared statements up; use statements=simple"),
    ("42", ErrorKind::Corrupt, "a table is not as `setup` made it"),
    ("55000", ErrorKind::Corrupt, "a table is not as `setup` made it"),
    (
        "0A000",
        ErrorKind::Unsupported,
        "the session is not at READ COMMITTED; set default_transaction_isolation for its role",
    ),
    ("40001", ErrorKind::Contention, "another transaction was in the way"),
    ("40P01", ErrorKind::Contention, "another transaction was in the way"),
    ("23505 free_items_pkey", ErrorKind::Corrupt, "an item is among the free ones and elsewhere too"),
    ("23505 withdrawn_items_pkey", ErrorKind::Corrupt, "an item is among the withdrawn ones and elsewhere too"),
    ("23505", ErrorKind::Contention, "another call of the same id was under way"),
    ("21", ErrorKind::Corrupt, "there are two rows where there is one at most"),
    ("22", ErrorKind::Corrupt, "a row holds a value that no call of the library wrote"),
    ("23", ErrorKind::Corrupt, "a row breaks a constraint of its table"),
    ("XX001", ErrorKind::Corrupt, "a row or a page is damaged"),
    ("XX002", ErrorKind::Corrupt, "an index is damaged"),
    ("55P03", ErrorKind::Contention, "a lock was not to be had in time"),
    ("57014", ErrorKind::Contention, "the statement was cancelled, by its timeout or by hand"),
    ("53300", ErrorKind::Throttled, "the server has no connection left"),
    ("53", ErrorKind::Unavailable, "the server is short of memory or disk"),
    ("25006", ErrorKind::Unavailable, "the server only reads; connect to the primary"),
    ("57P03", ErrorKind::Unavailable, "the server is starting up or shutting down"),
    ("58030", ErrorKind::OutcomeUnknown, "the server could not read or write its files"),
];

/// Said by `sql/store/is_namespace.sql` and `sql/store/is_store.sql`, before anything is written.
const NOT_THAT_OPENED: &str = "the schema is not as it was when it was opened: it was emptied or made anew, or a copy was put back. Stop \
     every program that uses it and find out what is missing, as the README of storagebox-postgres says; then open the store again";

/// What makes no sense for the setting of this name.
pub(crate) fn bad(setting: &'static str, why: impl Display) -> Error {
    Error::misconfigured(setting, why).on("postgres")
}

/// What was opened is not there any more, or not the same.
pub(crate) fn of_another_epoch(schema: impl Display) -> Error {
    Error::corrupt(format_args!("the schema {schema}"), NOT_THAT_OPENED).on("postgres")
}

/// An error of a statement that was sent.
pub(crate) fn of(error: sqlx::Error) -> Error {
    let known = match &error {
        sqlx::Error::Database(database) => answered(database.as_ref()),
        sqlx::Error::PoolTimedOut => Some((ErrorKind::Contention, NO_CONNECTION)),
        sqlx::Error::PoolClosed => Some((ErrorKind::Unavailable, "the pool is closed")),
        sqlx::Error::Encode(_) => Some((ErrorKind::InvalidInput, "an argument could not be encoded")),
        _ => None,
    };
    let (kind, message) = known.unwrap_or((ErrorKind::OutcomeUnknown, "the connection or the answer was lost"));
    Error::new(kind, message).caused_by(error).on("postgres")
}

fn answered(error: &dyn DatabaseError) -> Option<(ErrorKind, &'static str)> {
    let constraint = error.constraint().unwrap_or_default();
    error.code().and_then(|code| known(&format!("{code} {constraint}")))
}

const NO_ENCRYPTION: &str = "the server offers no encryption that sslmode accepts; without an sslmode, other machines are sent \
     nothing in clear";
const UNTRUSTED: &str = "the server's certificate, or what it says in place of one, was refused; `sslrootcert` names the file of the \
     authority that has signed it, and the URL the host that it is for";
const NO_CONNECTION: &str = "no connection was free in time: each call that is under way has one, also one that was polled and then \
     left, neither driven nor dropped";

fn known(code: &str) -> Option<(ErrorKind, &'static str)> {
    CODES.iter().find(|(prefix, ..)| code.starts_with(prefix)).map(|(_, kind, message)| (*kind, *message))
}

/// An error of a connection that could not be had: nothing was sent.
pub(crate) fn connecting(error: sqlx::Error) -> Error {
    if is_untrusted(&error) {
        return Error::new(ErrorKind::Unavailable, UNTRUSTED).caused_by(error).on("postgres");
    }
    if matches!(error, sqlx::Error::Tls(_)) {
        return Error::new(ErrorKind::Unavailable, NO_ENCRYPTION).caused_by(error).on("postgres");
    }
    let definite = of(error);
    if definite.kind() != ErrorKind::OutcomeUnknown {
        return definite;
    }
    unsent(definite)
}

/// The encryption's own errors come in this kind, and nothing else does before a connection is made.
fn is_untrusted(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData)
}

fn unsent(error: Error) -> Error {
    Error::new(ErrorKind::Unavailable, "the server could not be reached").caused_by(error).on("postgres")
}

/// An error of our own pool, which has sent nothing yet.
pub(crate) fn pooling(error: PoolError<sqlx::Error>) -> Error {
    match error {
        PoolError::Backend(error) => connecting(error),
        PoolError::Closed => Error::new(ErrorKind::Unavailable, "the store is closed").on("postgres"),
        error => Error::new(ErrorKind::Contention, NO_CONNECTION).caused_by(error).on("postgres"),
    }
}

/// A call that never left: its turn did not come in time, or there was no connection for it.
pub(crate) fn unmade(timeout: std::time::Duration) -> Error {
    let why = format!("its turn did not come within {timeout:?}, no connection could be made, or {NO_CONNECTION}");
    Error::new(ErrorKind::Contention, why).on("postgres")
}

/// An answer that the library cannot read. The statement took effect.
pub(crate) fn unreadable(function: &'static str) -> Error {
    Error::corrupt(format_args!("the answer of {function}"), "it is not what this version of the schema answers")
        .on("postgres")
        .after_unresolved()
}

/// An answer's value.
pub(crate) fn read<T>(function: &'static str, value: Result<T, sqlx::Error>) -> Result<T> {
    value.map_err(|error| unreadable(function).caused_by(error))
}

#[cfg(test)]
mod tests {
    use storagebox_core::Certainty;

    use super::*;

    fn kind(code: &str) -> Option<ErrorKind> {
        known(code).map(|(kind, _)| kind)
    }

    #[test]
    fn each_code_of_the_table_is_of_its_kind() {
        for (code, expected) in [
            ("28000", ErrorKind::Denied),
            ("28P01", ErrorKind::Denied),
            ("42501", ErrorKind::Denied),
            ("SB001", ErrorKind::Corrupt),
            ("3D000", ErrorKind::NotSetUp),
            ("3F000", ErrorKind::NotSetUp),
            ("42P01", ErrorKind::NotSetUp),
            ("42883", ErrorKind::NotSetUp),
            ("40001", ErrorKind::Contention),
            ("40P01", ErrorKind::Contention),
            ("23505", ErrorKind::Contention),
            ("23505 claims_by_claim", ErrorKind::Contention),
            ("23505 free_items_pkey", ErrorKind::Corrupt),
            ("23514 claims_check", ErrorKind::Corrupt),
            ("22003", ErrorKind::Corrupt),
            ("42703", ErrorKind::Corrupt),
            ("42P05", ErrorKind::OutcomeUnknown),
            ("XX001", ErrorKind::Corrupt),
            ("55P03", ErrorKind::Contention),
            ("57014", ErrorKind::Contention),
            ("53300", ErrorKind::Throttled),
            ("53100", ErrorKind::Unavailable),
            ("53200", ErrorKind::Unavailable),
            ("25006", ErrorKind::Unavailable),
            ("57P03", ErrorKind::Unavailable),
            ("58030", ErrorKind::OutcomeUnknown),
        ] {
            assert_eq!(kind(code), Some(expected), "{code}");
        }
    }

    /// A session that was ended, a broken protocol, somebody else's trigger: who knows what was done before.
    #[test]
    fn a_code_that_is_not_in_the_table_may_have_been_applied() {
        for code in ["", "57P01", "57P02", "57P05", "08006", "08P01", "XX000", "P0001", "40002"] {
            assert_eq!(kind(code), None, "{code}");
        }
        for lost in [sqlx::Error::WorkerCrashed, sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into())] {
            let error = of(lost);
            assert_eq!((error.kind(), error.certainty()), (ErrorKind::OutcomeUnknown, Certainty::Unknown));
        }
    }

    #[test]
    fn what_was_never_sent_was_not_applied() {
        let refused = || sqlx::Error::Io(std::io::ErrorKind::ConnectionRefused.into());
        let untrusted = || sqlx::Error::Io(std::io::ErrorKind::InvalidData.into());
        for (error, kind) in [
            (connecting(refused()), ErrorKind::Unavailable),
            (connecting(untrusted()), ErrorKind::Unavailable),
            (connecting(sqlx::Error::PoolTimedOut), ErrorKind::Contention),
            (connecting(sqlx::Error::PoolClosed), ErrorKind::Unavailable),
            (pooling(PoolError::Backend(refused())), ErrorKind::Unavailable),
            (pooling(PoolError::Closed), ErrorKind::Unavailable),
            (pooling(PoolError::Timeout(deadpool::managed::TimeoutType::Wait)), ErrorKind::Contention),
        ] {
            assert_eq!((error.kind(), error.certainty()), (kind, Certainty::NotApplied), "{error}");
        }
    }
}

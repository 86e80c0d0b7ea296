//! Maps the driver's errors by their code. A statement whose code is not in the table may have been applied (ER-1).

mod codes;

use std::fmt::Display;
use std::fs::File;
use std::time::Duration;

use deadpool::managed::PoolError;
use sqlx::error::DatabaseError;
use sqlx::postgres::{PgDatabaseError, PgSeverity};
use storagebox_core::backend::is_nameless;
use storagebox_core::{Error, ErrorKind, Result};

use codes::{
    CLIENT_IDLE, CUT_OFF, ENDED, ENDED_BEFORE, ENDED_IDLE, NO_SERVER, NOT_TO_BE_CHANGED, OF_POOLER, QUERY_WAIT,
    QUERY_WAIT_TIMEOUT, known, known_at_login,
};

/// The message for the error that `sql/store/is_namespace.sql` and `sql/store/is_store.sql` raise before anything is
/// written.
const NOT_THAT_OPENED: &str = "the schema is not the one that was opened: it was emptied, recreated or restored from \
    a copy. Stop every program that uses it and find out what is missing, as the README of storagebox-postgres says; \
    then open the store again";

/// Returns a `Misconfigured` error: `why` continues the sentence that `setting` begins.
pub(crate) fn bad(setting: &'static str, why: impl Display) -> Error {
    Error::misconfigured(setting, why).on("postgres")
}

/// Returns the error for a schema that is not the one that was opened.
pub(crate) fn of_another_epoch(schema: impl Display) -> Error {
    Error::corrupt(format_args!("the schema {schema}"), NOT_THAT_OPENED).on("postgres")
}

/// Maps the error of a statement that was sent. `heard` is true if a part of the answer came before the error.
pub(crate) fn of(error: sqlx::Error, heard: bool) -> Error {
    let known = match &error {
        ended if has_ended(ended, heard) => Some((ErrorKind::Unavailable, ENDED_BEFORE)),
        unpassed if !heard && not_passed_on(unpassed).is_some() => not_passed_on(unpassed),
        published if is_of_a_publication(published) => Some((ErrorKind::Misconfigured, NOT_TO_BE_CHANGED)),
        // A timeout may come just before the commit, and end the session after the commit.
        ended if heard && of_server(ended).is_some_and(is_fatal) => None,
        sqlx::Error::Database(database) => answered(database.as_ref()),
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

fn of_server(error: &sqlx::Error) -> Option<&PgDatabaseError> {
    error.as_database_error().and_then(|error| error.try_downcast_ref())
}

/// Whether the server refused a change because of a publication of some rows or columns.
fn is_of_a_publication(error: &sqlx::Error) -> bool {
    // A missing unique index causes the same SQLSTATE.
    of_server(error).is_some_and(|error| error.routine() == Some("CheckCmdReplicaIdentity"))
}

fn is_fatal(error: &PgDatabaseError) -> bool {
    error.severity() == PgSeverity::Fatal
}

/// Whether the server ended the session before it did anything for the statement.
pub(crate) fn has_ended(error: &sqlx::Error, heard: bool) -> bool {
    of_server(error).filter(|error| is_fatal(error)).is_some_and(|error| {
        // The server ends an idle session only while the session waits for a statement.
        ENDED_IDLE.contains(&error.code())
            // An administrator can end a session at any time, but after a commit the server first sends the rows.
            || !heard && error.code() == ENDED && error.routine() == Some("ProcessInterrupts")
            || !heard && reason_of_pooler(error) == Some(CLIENT_IDLE)
    })
}

/// Maps the error of a pooler that never forwarded the statement, because the pooler had no connection to the server.
fn not_passed_on(error: &sqlx::Error) -> Option<(ErrorKind, &'static str)> {
    let said = of_server(error).filter(|error| is_fatal(error)).and_then(reason_of_pooler)?;
    match said {
        QUERY_WAIT_TIMEOUT => Some((ErrorKind::Contention, QUERY_WAIT)),
        said if NO_SERVER.iter().any(|beginning| said.starts_with(beginning)) => {
            Some((ErrorKind::Unavailable, CUT_OFF))
        }
        _ => None,
    }
}

/// Returns PgBouncer's reason to close the client's connection.
fn reason_of_pooler(error: &PgDatabaseError) -> Option<&str> {
    // Unlike the server, a pooler names no routine.
    (error.code() == OF_POOLER && error.routine().is_none()).then(|| error.message())
}

/// Whether the connection was inside a transaction of other code.
pub(crate) fn is_of_company(error: &sqlx::Error) -> bool {
    of_server(error).is_some_and(|error| ["SB007", "25P02"].contains(&error.code()))
}

/// Whether the connection is unusable after this error.
pub(crate) fn is_last_word(error: &sqlx::Error) -> bool {
    of_server(error).is_none_or(|error| {
        matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic)
            || error.code().starts_with("57P")
            || error.code().starts_with("08")
    })
}

const NO_ENCRYPTION: &str = "the server offers no encryption that sslmode accepts; without an sslmode, connections to \
    other machines must be encrypted";
const UNTRUSTED: &str = "the server did not present a certificate that the driver trusts; check that \
    `sslrootcert` names the file of the CA that signed the certificate, and that the URL names the certificate's host";
const NO_NAME: &str = "the host of the URL has no address: its name could not be looked up";
const NO_CONNECTION: &str = "no connection of the pool was free in time: every call in progress holds one, including a \
    call that was polled and then neither awaited nor dropped";

/// Maps the error of a connection that could not be opened: nothing was sent. `files` are the files that are read to
/// open a connection.
pub(crate) fn connecting(error: sqlx::Error, files: &[(&'static str, String)]) -> Error {
    if let Some((key, why)) = unreadable_file(&error, files) {
        return bad(key, format_args!("names a file that cannot be read: {why}"));
    }
    let (kind, message) = unconnected(&error);
    Error::new(kind, message).caused_by(error).on("postgres")
}

fn unconnected(error: &sqlx::Error) -> (ErrorKind, &'static str) {
    let unreachable = (ErrorKind::Unavailable, "the server could not be reached");
    match error {
        sqlx::Error::Database(database) => {
            let login = || database.code().and_then(|code| known_at_login(&code));
            not_passed_on(error).or_else(login).unwrap_or(unreachable)
        }
        // The driver's text for a server that declines encryption. All other errors are about a file that the driver
        // cannot use.
        sqlx::Error::Tls(error) if error.to_string().contains("does not support") => {
            (ErrorKind::Misconfigured, NO_ENCRYPTION)
        }
        sqlx::Error::Tls(_) | sqlx::Error::Configuration(_) => (ErrorKind::Misconfigured, UNTRUSTED),
        sqlx::Error::Io(error) if is_untrusted(error) => (ErrorKind::Misconfigured, UNTRUSTED),
        sqlx::Error::Io(error) if is_nameless(error) => (ErrorKind::Misconfigured, NO_NAME),
        _ => unreachable,
    }
}

/// Whether a connection failed because of the server's certificate.
fn is_untrusted(error: &std::io::Error) -> bool {
    let said = error.to_string().to_ascii_lowercase();
    error.kind() == std::io::ErrorKind::InvalidData && (said.contains("certificate") || said.contains("unknownca"))
}

fn unreadable_file(error: &sqlx::Error, files: &[(&'static str, String)]) -> Option<(&'static str, std::io::Error)> {
    let may_be_a_file = matches!(error, sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Configuration(_));
    let unreadable = |(key, path): &(&'static str, String)| File::open(path).err().map(|why| (*key, why));
    may_be_a_file.then(|| files.iter().find_map(unreadable)).flatten()
}

pub(crate) fn not_connected(limit: Duration) -> Error {
    let why = format!("the server could not be reached within {limit:?} (connect_timeout)");
    Error::new(ErrorKind::Unavailable, why).on("postgres")
}

/// Maps the error of a caller's pool that gave no connection: nothing was sent.
pub(crate) fn acquiring(error: sqlx::Error) -> Error {
    match error {
        sqlx::Error::PoolTimedOut => Error::new(ErrorKind::Contention, NO_CONNECTION).on("postgres"),
        sqlx::Error::PoolClosed => Error::new(ErrorKind::Unavailable, "the pool is closed").on("postgres"),
        error => connecting(error, &[]),
    }
}

/// Maps the error of a statement within a transaction of the caller. After a refused statement or a lost connection,
/// the transaction can never commit, so nothing of it was applied.
pub(crate) fn within(error: sqlx::Error) -> Error {
    let (kind, message) = match &error {
        sqlx::Error::Database(database) => match database.code().as_deref() {
            Some("25P02") => (ErrorKind::Contention, ABORTED),
            _ => answered(database.as_ref()).unwrap_or((ErrorKind::Unavailable, "the server refused the statement")),
        },
        sqlx::Error::Encode(_) => (ErrorKind::InvalidInput, "an argument could not be encoded"),
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::WorkerCrashed => {
            (ErrorKind::Unavailable, "the connection was lost, and the transaction with it")
        }
        _ => (ErrorKind::OutcomeUnknown, "the answer cannot be read; roll the transaction back"),
    };
    Error::new(kind, message).caused_by(error).on("postgres")
}

const ABORTED: &str = "an earlier error has ended the transaction; roll it back, and begin again";

/// Returns the error for a call that cannot be made within a transaction of the caller.
pub(crate) fn outside() -> Error {
    Error::unsupported("set-up within a transaction of the caller", "the store itself").on("postgres")
}

/// Returns the error for a transaction that ended while one of its calls was in progress.
pub(crate) fn over() -> Error {
    Error::new(ErrorKind::Contention, "the transaction ended while a call within it was in progress").on("postgres")
}

pub(crate) fn not_postgres() -> Error {
    bad("the connection", "must be a connection of sqlx to PostgreSQL: write `&mut *tx`")
}

pub(crate) fn closed() -> Error {
    Error::new(ErrorKind::Unavailable, "the store is closed").on("postgres")
}

/// Maps an error of the store's own pool, which has sent nothing yet.
pub(crate) fn pooling(error: PoolError<Error>) -> Error {
    match error {
        PoolError::Backend(error) => error,
        PoolError::Closed => closed(),
        error => Error::new(ErrorKind::Contention, NO_CONNECTION).caused_by(error).on("postgres"),
    }
}

/// Returns the error for a call that timed out before it was sent.
pub(crate) fn unmade(timeout: Duration) -> Error {
    let why = format!(
        "the call was not sent within {timeout:?}: it waited for its turn, no connection could be made, \
        or {NO_CONNECTION}"
    );
    Error::new(ErrorKind::Contention, why).on("postgres")
}

/// Returns the error for a statement that took effect, but whose answer the library cannot read.
pub(crate) fn unreadable(function: &'static str) -> Error {
    Error::corrupt(format_args!("the answer of {function}"), "it does not have the form that this version uses")
        .on("postgres")
        .after_unresolved()
}

/// Maps a decoding error to [`unreadable`].
pub(crate) fn read<T>(function: &'static str, value: Result<T, sqlx::Error>) -> Result<T> {
    value.map_err(|error| unreadable(function).caused_by(error))
}

#[cfg(test)]
mod tests {
    use storagebox_core::Certainty;

    use super::*;

    #[test]
    fn error_of_a_lost_connection_is_outcome_unknown() {
        for lost in [sqlx::Error::WorkerCrashed, sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into())] {
            let error = of(lost, true);
            assert_eq!((error.kind(), error.certainty()), (ErrorKind::OutcomeUnknown, Certainty::Unknown));
        }
    }

    fn io(text: &'static str) -> sqlx::Error {
        sqlx::Error::Io(std::io::Error::other(text))
    }

    #[test]
    fn error_before_a_statement_was_sent_reports_not_applied() {
        let refused = || sqlx::Error::Io(std::io::ErrorKind::ConnectionRefused.into());
        let untrusted = std::io::Error::new(std::io::ErrorKind::InvalidData, "invalid peer certificate: UnknownIssuer");
        let garbled = std::io::Error::new(std::io::ErrorKind::InvalidData, "received corrupt message");
        let nowhere = io("failed to lookup address information: Name or service not known");
        let later = io("failed to lookup address information: Temporary failure in name resolution");
        for (error, kind) in [
            (connecting(refused(), &[]), ErrorKind::Unavailable),
            (connecting(sqlx::Error::Io(untrusted), &[]), ErrorKind::Misconfigured),
            (connecting(sqlx::Error::Io(garbled), &[]), ErrorKind::Unavailable),
            (connecting(nowhere, &[]), ErrorKind::Misconfigured),
            (connecting(later, &[]), ErrorKind::Unavailable),
            (connecting(refused(), &[("sslkey", "/nowhere/key".to_owned())]), ErrorKind::Misconfigured),
            (acquiring(sqlx::Error::PoolTimedOut), ErrorKind::Contention),
            (acquiring(sqlx::Error::PoolClosed), ErrorKind::Unavailable),
            (pooling(PoolError::Backend(connecting(refused(), &[]))), ErrorKind::Unavailable),
            (pooling(PoolError::Closed), ErrorKind::Unavailable),
            (pooling(PoolError::Timeout(deadpool::managed::TimeoutType::Wait)), ErrorKind::Contention),
        ] {
            assert_eq!((error.kind(), error.certainty()), (kind, Certainty::NotApplied), "{error}");
        }
    }
}

//! Maps the driver's errors by code. A call whose commit failed may be applied (ER-1), unless the file was in use.

use std::fs::Metadata;
use std::io;
use std::path::Path;

use storagebox_core::{Certainty, Error, ErrorKind, Result};

use crate::client::is_denied;

/// The kind and the message of each known primary result code.
const CODES: &[(i32, ErrorKind, &str)] = &[
    (1, ErrorKind::NotSetUp, "the file has no storagebox tables, or not all of them"),
    (3, ErrorKind::Denied, "this process may not open the file"),
    (5, ErrorKind::Contention, "another process was writing to the file"),
    (6, ErrorKind::Contention, "another connection was writing to the file"),
    (7, ErrorKind::Unavailable, "there is not enough memory"),
    (8, ErrorKind::Denied, "this process may read the file, but not write to it"),
    (9, ErrorKind::Contention, "the statement was interrupted"),
    (11, ErrorKind::Corrupt, "the file is damaged; restore it from a copy"),
    (13, ErrorKind::Unavailable, "the disk is full"),
    (14, ErrorKind::Unavailable, "the file could not be opened"),
    (15, ErrorKind::Contention, "other processes were opening the file"),
    (17, ErrorKind::Contention, "the tables were being changed"),
    (23, ErrorKind::Denied, "SQLite refused to run the statement"),
    (26, ErrorKind::Corrupt, "the file is not a SQLite database; name another file"),
];

/// Returns the primary result code, which is the lowest byte of the extended one.
fn primary(error: &sqlx::Error) -> Option<i32> {
    extended(error).map(|code| code & 0xff)
}

fn extended(error: &sqlx::Error) -> Option<i32> {
    error.as_database_error()?.code()?.parse().ok()
}

fn known(code: i32) -> Option<(ErrorKind, &'static str)> {
    CODES.iter().find(|(known, ..)| *known == code).map(|(_, kind, message)| (*kind, *message))
}

/// Returns whether the file was in use, so that the statement can be retried.
pub(crate) fn is_busy(error: &sqlx::Error) -> bool {
    primary(error).and_then(known).is_some_and(|(kind, _)| kind == ErrorKind::Contention)
}

/// Maps an error of a read, or an error before a commit, as not applied.
pub(crate) fn before_commit(error: sqlx::Error) -> Error {
    let error = match ours(error) {
        Ok(ours) => return ours,
        Err(error) => error,
    };
    let known = match &error {
        sqlx::Error::PoolTimedOut => Some((ErrorKind::Contention, "no connection of the pool was free in time")),
        sqlx::Error::PoolClosed => Some((ErrorKind::Unavailable, CLOSED)),
        sqlx::Error::Encode(_) => Some((ErrorKind::InvalidInput, "an argument could not be encoded")),
        error => primary(error).and_then(known),
    };
    let (kind, message) = known.unwrap_or((ErrorKind::Unavailable, "the file could not be read or written"));
    Error::new(kind, message).caused_by(error).on("sqlite")
}

/// Wraps one of our own errors to pass it through the driver's functions.
pub(crate) fn through(error: Error) -> sqlx::Error {
    sqlx::Error::config(error)
}

fn ours(error: sqlx::Error) -> Result<Error, sqlx::Error> {
    match error {
        sqlx::Error::Configuration(cause) => cause.downcast().map(|ours| *ours).map_err(sqlx::Error::Configuration),
        other => Err(other),
    }
}

const CLOSED: &str = "the store is closed";

pub(crate) fn closed() -> Error {
    Error::new(ErrorKind::Unavailable, CLOSED).on("sqlite")
}

/// Maps an error of a commit, which may have been applied unless the file was in use.
pub(crate) fn at_commit(error: sqlx::Error) -> Error {
    match is_busy(&error) {
        true => before_commit(error),
        false => Error::unknown("the commit of the transaction failed").caused_by(error).on("sqlite"),
    }
}

/// Returns whether an error of a statement without a transaction proves that nothing was written.
pub(crate) fn is_of_before(error: &Error) -> bool {
    use ErrorKind::{Contention, Denied, InvalidInput, Misconfigured, NotSetUp, Unsupported};
    matches!(error.kind(), Contention | Denied | InvalidInput | Misconfigured | NotSetUp | Unsupported)
}

/// Maps an error of a statement without a transaction, whose commit may have failed.
pub(crate) fn at_end(error: Error) -> Error {
    Error::unknown("the statement failed, perhaps at its commit").caused_by(error).on("sqlite")
}

/// Copies an error, without its cause, for another call of the failed transaction.
pub(crate) fn shared(error: &Error) -> Error {
    let copy = Error::new(error.kind(), error.message()).on("sqlite");
    let copy = error.context().fold(copy, |copy, (key, value)| copy.with(key, value));
    match error.certainty() {
        Certainty::Unknown => copy.after_unresolved(),
        Certainty::NotApplied => copy,
    }
}

const CANNOT_OPEN: i32 = 14;
/// The code of a broken constraint. In a transaction, it means that an earlier call failed or was dropped.
const CONSTRAINT: i32 = 19;
/// The extended code of a row that breaks a foreign key when it is committed.
const FOREIGN_KEY: i32 = 787;

/// Returns `Ok` if the statement can be retried, and otherwise the mapped error. A statement can be retried if the file
/// was in use, and, while the pauses are few (`are_few`), if the file could not be opened.
pub(crate) fn passes(error: sqlx::Error, path: Option<&Path>, are_few: bool) -> Result<(), Error> {
    let (is_busy, is_unopened) = (is_busy(&error), primary(&error) == Some(CANNOT_OPEN));
    let explained = opening(error, path);
    let is_there = path.is_some() && matches!(explained.kind(), ErrorKind::Denied | ErrorKind::Unavailable);
    let was_being_made = is_unopened && is_there && are_few;
    if is_busy || was_being_made { Ok(()) } else { Err(explained) }
}

/// Maps an error. If the file could not be opened, the message says what is at its path.
pub(crate) fn opening(error: sqlx::Error, path: Option<&Path>) -> Error {
    match path.filter(|_| primary(&error) == Some(CANNOT_OPEN)) {
        Some(path) => seen(path, path.metadata()).caused_by(error).with("file", path.display()).on("sqlite"),
        None => before_commit(error),
    }
}

/// Returns the error for a path at which no file can be opened. `found` is what is at the path.
pub(crate) fn unfit(path: &Path, found: io::Result<Metadata>) -> Error {
    seen(path, found).with("file", path.display()).on("sqlite")
}

/// Returns the error for a file that could not be created.
pub(crate) fn not_made(cause: io::Error, path: &Path) -> Error {
    let named = |kind, what: &str| Error::new(kind, format!("{what} {}", path.display()));
    let error = match cause.kind() {
        io::ErrorKind::NotFound => seen(path, Err(cause.kind().into())),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            named(ErrorKind::Denied, "this process may not create the file")
        }
        _ => named(ErrorKind::Unavailable, "the file could not be created:"),
    };
    error.caused_by(cause).with("file", path.display()).on("sqlite")
}

/// Returns the error for a file that was removed after it was opened, or replaced (`is_another`).
pub(crate) fn replaced(path: &Path, is_another: bool) -> Error {
    let what = if is_another { "replaced by another file" } else { "removed" };
    let why = format!(
        "the file at {} was {what} after it was opened, and nothing is written to the old file; stop all programs \
        that use this store, put the right file in place, and start them again",
        path.display()
    );
    Error::new(ErrorKind::Corrupt, why).with("file", path.display()).on("sqlite")
}

/// Returns the error for a commit that may be in the old file only, because the file was replaced.
pub(crate) fn replaced_meanwhile(cause: Error) -> Error {
    Error::unknown("the file was replaced while the call was made").caused_by(cause).on("sqlite")
}

/// Returns the error for a file or a link that another user created in a folder to which every user may write.
pub(crate) fn a_strangers(path: &Path) -> Error {
    let why = format!(
        "{} belongs to another user, in a folder that every user may write to; name a file in a folder of your own",
        path.display()
    );
    Error::new(ErrorKind::Denied, why).with("file", path.display()).on("sqlite")
}

fn seen(path: &Path, found: io::Result<Metadata>) -> Error {
    let folder = path.parent().unwrap_or(path);
    let named = |kind, what: &str, path: &Path| Error::new(kind, format!("{what} {}", path.display()));
    match found {
        Ok(found) if found.is_dir() => {
            Error::misconfigured("path", format_args!("must be a file, but {} is a folder", path.display()))
        }
        Ok(found) if !found.is_file() => {
            Error::misconfigured("path", format_args!("must be a file, but {} is a device or a socket", path.display()))
        }
        Ok(_) if is_denied(path) => {
            named(ErrorKind::Denied, "this process may not read and write the file and its folder:", path)
        }
        Ok(_) => {
            let what = "a file could not be opened; perhaps too many files are open, or the disk is full:";
            named(ErrorKind::Unavailable, what, path)
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            named(ErrorKind::Denied, "this process may not access the file", path)
        }
        Err(_) if folder.is_dir() => named(ErrorKind::NotSetUp, "there is no file", path),
        Err(_) => named(ErrorKind::NotSetUp, "create this folder first, it does not exist:", folder),
    }
}

/// Returns the error for a call that did not begin within its timeout and is never made.
pub(crate) fn not_begun(timeout: std::time::Duration) -> Error {
    let why = format!(
        "the file was in use for {timeout:?}: other callers were writing to it, or an unfinished call of this process \
        is in a runtime that no longer runs"
    );
    Error::new(ErrorKind::Contention, why).on("sqlite")
}

/// Returns the error for a call that began and did not end within its timeout.
pub(crate) fn not_ended(timeout: std::time::Duration) -> Error {
    Error::unknown(format!("there was no answer within {timeout:?}")).on("sqlite")
}

/// Returns the error for a store whose calls did not end while it was being closed.
pub(crate) fn not_closed(timeout: std::time::Duration) -> Error {
    let why = format!(
        "a call of this store did not end within {timeout:?}: it is still running, or it is in a runtime that no \
        longer runs; its connection stays open until the call has ended and the store is closed again or dropped"
    );
    Error::new(ErrorKind::Contention, why).on("sqlite")
}

pub(crate) fn not_sqlite() -> Error {
    bad("the connection", "is not a connection of sqlx to SQLite; pass a transaction of sqlx as `&mut *tx`")
}

fn no_transaction() -> Error {
    bad("the connection", "is not inside a transaction; begin one, or call the store itself")
}

pub(crate) fn no_foreign_keys() -> Error {
    let what = "a transaction on a connection whose `PRAGMA foreign_keys` is off";
    Error::unsupported(what, "a connection with `PRAGMA foreign_keys` on, which is the default of sqlx").on("sqlite")
}

pub(crate) fn another_file() -> Error {
    bad("the connection", "is not open on the file of the store")
}

/// Returns the error for a connection without a transaction, or with one that cannot lock the file for writing.
pub(crate) fn not_immediate(error: sqlx::Error) -> Error {
    if extended(&error) == Some(FOREIGN_KEY) {
        return no_transaction();
    }
    if primary(&error) == Some(CONSTRAINT) {
        let why = "an earlier call of the transaction failed or was dropped; roll the transaction back, and begin \
            again";
        return Error::new(ErrorKind::Contention, why).caused_by(error).on("sqlite");
    }
    if !is_busy(&error) {
        return before_commit(error);
    }
    let why = "another connection is writing, or has written since the transaction began to read; roll the \
        transaction back, and begin it with BEGIN IMMEDIATE";
    Error::new(ErrorKind::Contention, why).caused_by(error).on("sqlite")
}

/// Returns the error for a lease that is over, within a transaction that can no longer be committed.
pub(crate) fn lease_is_over() -> Error {
    let why = "the lease has lapsed and another operation may have begun; the transaction can no longer be committed";
    Error::new(ErrorKind::Fenced, why).on("sqlite")
}

/// Returns the error for a transaction that ended while one of its calls was in progress.
pub(crate) fn over() -> Error {
    Error::new(ErrorKind::Contention, "the transaction ended while a call within it was in progress").on("sqlite")
}

/// Returns the error for a row that the library cannot read.
pub(crate) fn unreadable(what: &'static str) -> Error {
    Error::corrupt(what, "it is not what this version of the library writes").on("sqlite")
}

/// Maps an error of reading a column to the error for an unreadable row.
pub(crate) fn read<T>(what: &'static str, value: Result<T, sqlx::Error>) -> Result<T> {
    value.map_err(|error| unreadable(what).caused_by(error))
}

pub(crate) fn bad(setting: &'static str, why: impl std::fmt::Display) -> Error {
    Error::misconfigured(setting, why).on("sqlite")
}

#[cfg(test)]
mod tests;

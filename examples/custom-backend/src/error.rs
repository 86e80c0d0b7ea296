//! Converts the errors of redb.

use std::io;

use redb::{StorageError, TableError};
use storagebox_core::{Error, ErrorKind};

/// The reason why a step failed: an error of redb, or an error that the step returns to the caller.
#[derive(Debug)]
pub(crate) enum Failed {
    Store(redb::Error),
    Call(Error),
}

pub(crate) type Stepped<T> = Result<T, Failed>;

impl From<StorageError> for Failed {
    fn from(error: StorageError) -> Self {
        Self::Store(error.into())
    }
}

impl From<TableError> for Failed {
    fn from(error: TableError) -> Self {
        Self::Store(error.into())
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Call(error)
    }
}

/// Returns the error of a failed step, which changed nothing because its transaction was dropped (ER-1).
pub(crate) fn not_applied(failed: Failed) -> Error {
    match failed {
        Failed::Call(error) => error,
        Failed::Store(error) => of_store(error),
    }
}

/// Returns the error for a failure of redb before the commit.
pub(crate) fn of_store(error: impl Into<redb::Error>) -> Error {
    let error = error.into();
    let kind = match &error {
        redb::Error::Io(cause) => of_io(cause.kind()),
        redb::Error::TableDoesNotExist(_) => ErrorKind::NotSetUp,
        redb::Error::Corrupted(_)
        | redb::Error::UpgradeRequired(_)
        | redb::Error::RepairAborted
        | redb::Error::TableTypeMismatch { .. }
        | redb::Error::TypeDefinitionChanged { .. } => ErrorKind::Corrupt,
        // For example, another process has the file open, or an earlier failure closed the file.
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, "the file cannot be used").caused_by(error)
}

fn of_io(kind: io::ErrorKind) -> ErrorKind {
    match kind {
        io::ErrorKind::NotFound => ErrorKind::NotSetUp,
        io::ErrorKind::PermissionDenied => ErrorKind::Denied,
        io::ErrorKind::InvalidData => ErrorKind::Corrupt,
        _ => ErrorKind::Unavailable,
    }
}

/// Returns the error for a failed commit, whose changes may be on the disk (ER-1).
pub(crate) fn unknown(error: impl Into<redb::Error>) -> Error {
    Error::unknown("the commit failed, but its changes may be on the disk").caused_by(error.into())
}

pub(crate) fn unreadable(what: &'static str) -> Failed {
    Failed::Call(Error::corrupt(what, "the row has an unknown form"))
}

//! The kind and the certainty of errors.

use sqlx::{Connection, SqliteConnection, raw_sql};

use super::*;

#[test]
fn each_known_code_maps_to_its_kind() {
    for (code, kind) in [
        (1, ErrorKind::NotSetUp),
        (3, ErrorKind::Denied),
        (5, ErrorKind::Contention),
        (6, ErrorKind::Contention),
        (7, ErrorKind::Unavailable),
        (8, ErrorKind::Denied),
        (9, ErrorKind::Contention),
        (11, ErrorKind::Corrupt),
        (13, ErrorKind::Unavailable),
        (14, ErrorKind::Unavailable),
        (15, ErrorKind::Contention),
        (17, ErrorKind::Contention),
        (23, ErrorKind::Denied),
        (26, ErrorKind::Corrupt),
    ] {
        assert_eq!(known(code).map(|(kind, _)| kind), Some(kind), "{code}");
    }
    for code in [0, 2, 10, 19, 20, 21, 100] {
        assert_eq!(known(code), None, "{code}");
    }
}

/// The driver cannot know how much of a failed commit is on the disk.
#[test]
fn a_failed_commit_is_outcome_unknown() {
    for error in [sqlx::Error::WorkerCrashed, sqlx::Error::Io(io::ErrorKind::StorageFull.into())] {
        let error = at_commit(error);
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::OutcomeUnknown, Certainty::Unknown));
    }
}

#[test]
fn calls_of_one_transaction_get_the_same_error() {
    let read_only = || Error::new(ErrorKind::Denied, "this process may not open the file").with("file", "a.db");
    for error in [read_only(), read_only().after_unresolved(), Error::unknown("the end did not come")] {
        let first = error.on("sqlite");
        let other = shared(&first);
        assert_eq!(other.to_string(), first.to_string());
        assert_eq!((other.kind(), other.certainty()), (first.kind(), first.certainty()));
        assert!(other.context().eq(first.context()), "{other:?}");
    }
}

#[test]
fn a_call_that_fails_before_its_commit_is_not_applied() {
    for error in [sqlx::Error::WorkerCrashed, sqlx::Error::PoolClosed, sqlx::Error::PoolTimedOut] {
        assert_eq!(before_commit(error).certainty(), Certainty::NotApplied);
    }
}

/// Returns the driver's error for a full database.
async fn full() -> sqlx::Error {
    let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
    let fill = "CREATE TABLE t (bytes BLOB); PRAGMA max_page_count = 3; INSERT INTO t VALUES (zeroblob(100000))";
    raw_sql(fill).execute(&mut connection).await.unwrap_err()
}

/// The outcome is known only if the error comes before the commit.
#[tokio::test]
async fn a_full_disk_at_a_commit_is_outcome_unknown() {
    let error = before_commit(full().await);
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotApplied), "{error}");
    assert!(!is_of_before(&error), "{error}");
    for error in [at_end(error), at_commit(full().await)] {
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::OutcomeUnknown, Certainty::Unknown), "{error}");
    }
}

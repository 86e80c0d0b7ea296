//! A process that may open no more files. This has the effect of a disk without room for the write-ahead log. The limit
//! is one of the process, so this is a program with one test.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "a test may fail and wait where a library must not")]

mod support;

use std::fs::{self, File};
use std::os::fd::AsRawFd;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use storagebox_core::{Backend, Certainty, Error, ErrorKind, Item, ItemBank, Result};
use storagebox_sqlite::SqliteStore;

use support::{Place, failed};

/// Polls the future to its end while the process may open only so many more files.
async fn with_room_for<T>(files: u64, calls: impl Future<Output = T>) -> Result<T> {
    let allowed = getrlimit(Resource::Nofile);
    let lowest = File::open("/dev/null").map_err(failed)?.as_raw_fd();
    let current = Some(u64::try_from(lowest).map_err(failed)? + files);
    setrlimit(Resource::Nofile, Rlimit { current, ..allowed }).map_err(failed)?;
    let made = calls.await;
    setrlimit(Resource::Nofile, allowed).map_err(failed)?;
    Ok(made)
}

/// Makes a change, a read and the calls of the store. Returns their errors.
async fn errors(store: &SqliteStore) -> Result<Vec<Option<Error>>> {
    let bank = store.item_bank(&"namespace".parse()?)?;
    Ok(vec![
        bank.add(&[Item::new("item")?]).await.err(),
        bank.counts().await.err(),
        store.ping().await.err(),
        store.maintain(10).await.err(),
        store.setup().await.err(),
    ])
}

/// SQLite opens the file, the log and the shared memory. Regression: each call was `Denied`, and so was not retried.
#[tokio::test]
async fn a_call_that_can_open_no_more_files_is_unavailable() -> Result<()> {
    for (files, has_log) in [(0, false), (1, false), (2, false), (0, true), (1, true), (2, true)] {
        let place = Place::ready().await?;
        if has_log {
            fs::write(place.path().with_extension("db-wal"), "").map_err(failed)?;
        }
        let store = place.store()?;
        for error in with_room_for(files, errors(&store)).await?? {
            let error = error.unwrap_or_else(|| panic!("a call succeeded with {files} more files"));
            assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotApplied), "{error}");
        }
        assert_eq!(errors(&store).await?.iter().flatten().count(), 0);
        // Closes its files before the next files are counted.
        store.close().await?;
    }
    a_new_file_is_unavailable().await
}

async fn a_new_file_is_unavailable() -> Result<()> {
    let place = Place::bare()?;
    let store = place.store()?;
    let error = with_room_for(1, store.setup()).await?.unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotApplied), "{error}");
    store.setup().await
}

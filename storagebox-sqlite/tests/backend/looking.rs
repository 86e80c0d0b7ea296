//! Connections that read belong to no runtime, and hold the log from their first read on.

use std::fs;
use std::time::Duration;

use storagebox_core::{Backend, Certainty, Error, ErrorKind, Hold, Item, ItemBank, Result, Taken};
use storagebox_sqlite::SqliteStore;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::support::{Place, failed};

/// A timeout that no call reaches, even on a slow machine.
const EVER: Duration = Duration::from_secs(60);

fn runtime() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().map_err(failed)
}

/// Sets up a file, and returns a new store that has not opened the file yet.
fn ready(call_timeout: Duration) -> Result<(Place, SqliteStore)> {
    let runtime = runtime()?;
    let place = runtime.block_on(Place::ready())?;
    runtime.block_on(async {
        let store = place.store()?;
        store.item_bank(&"namespace".parse()?)?.add(&[Item::new("a")?, Item::new("b")?]).await?;
        store.close().await
    })?;
    let store = place.builder().call_timeout(call_timeout).open(place.path())?;
    Ok((place, store))
}

/// Creates files that take the inodes of removed files, so that a new log gets another inode.
fn make_other_files(place: &Place) -> Result<()> {
    let folder = place.path().with_file_name("");
    (0..20).try_for_each(|number| fs::write(folder.join(format!("other-{number}")), "x")).map_err(failed)
}

/// Makes six reads, each in its own runtime, with a store that reads with at most four connections.
#[test]
fn finished_reads_keep_no_connection_in_a_stopped_runtime() -> Result<()> {
    let (_place, store) = ready(Duration::from_secs(1))?;
    let (bank, mut idle) = (store.item_bank(&"namespace".parse()?)?, vec![]);
    for _ in 0..6 {
        let runtime = runtime()?;
        assert_eq!(runtime.block_on(bank.counts())?.free, 2);
        idle.push(runtime);
    }
    runtime()?.block_on(async { timeout(EVER, store.close()).await.map_err(failed)? })
}

/// A program pings the store in one runtime, which ends, and then works in another runtime.
#[test]
fn a_store_works_after_its_last_reader_removed_the_log() -> Result<()> {
    let (place, store) = ready(EVER)?;
    runtime()?.block_on(store.ping())?;
    make_other_files(&place)?;
    let runtime = runtime()?;
    runtime.block_on(async {
        store.ping().await?;
        assert!(matches!(
            store.item_bank(&"namespace".parse()?)?.take(&"ada".parse()?, Hold::Forever).await?,
            Taken::New(_)
        ));
        store.setup().await?;
        drop(store);
        assert!(matches!(
            place.store()?.item_bank(&"namespace".parse()?)?.take(&"eve".parse()?, Hold::Forever).await?,
            Taken::New(_)
        ));
        Ok(())
    })
}

/// The connections of the store are the last ones on the file, so closing the store removes the log.
#[tokio::test]
async fn a_store_closed_after_reads_leaves_no_log() -> Result<()> {
    let place = Place::ready().await?;
    let store = place.store()?;
    store.ping().await?;
    let log = place.path().with_file_name("store.db-wal");
    assert!(log.exists());
    store.close().await?;
    assert!(!log.exists());
    assert_eq!(store.ping().await.unwrap_err().kind(), ErrorKind::Unavailable);
    store.close().await
}

/// An unpolled call in another runtime has the connection that writes, so the store cannot close it.
#[test]
fn closing_a_store_with_an_unpolled_call_times_out() -> Result<()> {
    let (place, store) = ready(Duration::from_millis(200))?;
    let (resting, other) = (runtime()?, runtime()?);
    let mut raw = other.block_on(place.raw())?;
    other.block_on(sqlx::query("BEGIN IMMEDIATE").execute(&mut raw)).map_err(failed)?;
    let bank = store.item_bank(&"namespace".parse()?)?;
    let ada = "ada".parse()?;
    let begun = resting.block_on(async { timeout(Duration::from_millis(50), bank.take(&ada, Hold::Forever)).await });
    assert!(begun.is_err());
    other.block_on(async {
        let closed = timeout(EVER, store.close()).await.map_err(failed)?;
        let error = closed.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Contention, Certainty::NotApplied));
        assert!(error.to_string().contains("a runtime that no longer runs"), "{error}");
        Ok::<_, Error>(())
    })?;
    drop(resting);
    other.block_on(store.close())
}

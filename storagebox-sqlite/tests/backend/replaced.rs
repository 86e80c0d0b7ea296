//! Files that are replaced or removed while a process works with them, and those that were restored.

use std::fs;
use std::path::PathBuf;

use sqlx::{Connection, query, query_scalar};
use storagebox_core::{Certainty, Error, ErrorKind, Item, ItemBank, ItemBankExt, Result, Store, StoreExt};
use storagebox_sqlite::SqliteStore;

use crate::support::{Place, failed};

/// A store with two items, of which one is taken.
async fn in_use() -> Result<(Place, SqliteStore)> {
    let place = Place::ready().await?;
    let store = place.store()?;
    let bank = store.bank("box")?;
    bank.add(&[Item::new("A")?, Item::new("B")?]).await?;
    bank.assign("ada").await?;
    Ok((place, store))
}

/// A copy of the file, as who keeps a backup makes it.
async fn copied(place: &Place) -> Result<PathBuf> {
    let copy = place.path().with_extension("copy");
    let into = query("VACUUM INTO ?1").bind(copy.to_str().ok_or_else(|| failed("a path"))?);
    let mut raw = place.raw().await?;
    into.execute(&mut raw).await.map_err(failed)?;
    raw.close().await.map_err(failed)?;
    Ok(copy)
}

/// Puts the copy in its place.
async fn restore(place: &Place) -> Result<()> {
    let copy = copied(place).await?;
    remove(place, &["-wal", "-shm"])?;
    fs::rename(copy, place.path()).map_err(failed)
}

fn remove(place: &Place, suffixes: &[&str]) -> Result<()> {
    let name = place.path().display().to_string();
    suffixes.iter().try_for_each(|suffix| fs::remove_file(format!("{name}{suffix}")).map_err(failed))
}

fn is_refused(error: &Error) {
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Corrupt, Certainty::NotApplied), "{error}");
    assert!(error.to_string().contains("since it was opened"), "{error}");
}

/// Everything that the store is asked.
async fn is_refused_everything(store: &SqliteStore) -> Result<()> {
    let bank = store.bank("box")?;
    for error in [
        bank.assign("eve").await.unwrap_err(),
        bank.add(&[Item::new("C")?]).await.unwrap_err(),
        bank.counts().await.unwrap_err(),
        store.ping().await.unwrap_err(),
        store.setup().await.unwrap_err(),
        store.maintain(10).await.unwrap_err(),
    ] {
        is_refused(&error);
    }
    Ok(())
}

#[cfg(unix)]
#[tokio::test]
async fn a_process_whose_file_was_replaced_gives_nothing_that_another_gives() -> Result<()> {
    let (place, old) = in_use().await?;
    restore(&place).await?;
    let new = place.store()?;
    let bobs = new.bank("box")?.assign("bob").await?;
    assert_eq!(bobs.item(), Some(&Item::new("B")?));
    is_refused_everything(&old).await?;
    assert_eq!(new.bank("box")?.assign("bob").await?.item(), bobs.item());
    Ok(())
}

#[cfg(unix)]
#[tokio::test]
async fn a_process_whose_file_was_removed_says_so_and_makes_none() -> Result<()> {
    let (place, store) = in_use().await?;
    remove(&place, &["", "-wal", "-shm"])?;
    is_refused_everything(&store).await?;
    assert!(!place.path().exists());
    Ok(())
}

/// What was acknowledged since the last checkpoint is nowhere else.
#[cfg(unix)]
#[tokio::test]
async fn a_process_whose_log_was_removed_writes_nothing_more() -> Result<()> {
    let (place, store) = in_use().await?;
    remove(&place, &["-wal", "-shm"])?;
    is_refused(&store.bank("box")?.assign("eve").await.unwrap_err());
    Ok(())
}

async fn mode(place: &Place) -> Result<String> {
    let mut raw = place.raw().await?;
    query_scalar("PRAGMA journal_mode").fetch_one(&mut raw).await.map_err(failed)
}

#[tokio::test]
async fn a_file_that_was_restored_has_a_log_again() -> Result<()> {
    let (place, store) = in_use().await?;
    let copy = copied(&place).await?;
    store.close().await?;
    fs::rename(copy, place.path()).map_err(failed)?;
    assert_eq!(mode(&place).await?, "delete");
    assert_eq!(place.store()?.bank("box")?.assign("bob").await?.item(), Some(&Item::new("B")?));
    assert_eq!(mode(&place).await?, "wal");
    Ok(())
}

#[tokio::test]
async fn a_file_of_somebody_elses_is_left_as_it_is() -> Result<()> {
    let place = Place::bare()?;
    let options = place.options().create_if_missing(true);
    let mut theirs = sqlx::ConnectOptions::connect(&options).await.map_err(failed)?;
    query("CREATE TABLE theirs (a)").execute(&mut theirs).await.map_err(failed)?;
    theirs.close().await.map_err(failed)?;
    let error = place.store()?.bank("box")?.assign("ada").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotSetUp, "{error}");
    assert_eq!(mode(&place).await?, "delete");
    Ok(())
}

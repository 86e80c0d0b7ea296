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

/// What another process does, which has nothing in common with this one but the files.
fn elsewhere(place: &Place, sql: &str) -> Result<()> {
    let done = std::process::Command::new("sqlite3").arg(place.path()).arg(sql).status();
    assert!(done.map_err(failed)?.success());
    Ok(())
}

const BOB_TAKES: &str = "UPDATE storagebox_items SET state = 'held', claim = 'bob' WHERE item = 'B'";

/// The locks of those who write are in it.
#[cfg(unix)]
#[tokio::test]
async fn a_process_whose_shared_memory_was_removed_gives_nothing_that_another_gives() -> Result<()> {
    let (place, old) = in_use().await?;
    remove(&place, &["-shm"])?;
    elsewhere(&place, BOB_TAKES)?;
    is_refused(&old.bank("box")?.assign("eve").await.unwrap_err());
    Ok(())
}

/// Its own commits are in a log that nobody else sees; they must not be moved to the file over those of others.
#[cfg(unix)]
#[tokio::test]
async fn a_process_whose_log_was_removed_moves_nothing_to_the_file_when_it_is_closed() -> Result<()> {
    let place = Place::ready().await?;
    let old = place.store()?;
    old.bank("box")?.add(&[Item::new("A")?, Item::new("B")?]).await?;
    old.maintain(1).await?;
    old.bank("box")?.assign("ada").await?;
    remove(&place, &["-wal", "-shm"])?;
    elsewhere(&place, BOB_TAKES)?;
    old.close().await?;
    drop(old);
    let mut raw = place.raw().await?;
    let sound: String = query_scalar("PRAGMA integrity_check").fetch_one(&mut raw).await.map_err(failed)?;
    let bobs: Option<String> = query_scalar("SELECT item FROM storagebox_items WHERE claim = 'bob'")
        .fetch_optional(&mut raw)
        .await
        .map_err(failed)?;
    assert_eq!((sound.as_str(), bobs.as_deref()), ("ok", Some("B")));
    Ok(())
}

/// `.restore` of the command `sqlite3`, as SQLite itself puts a copy back while others work: the file stays the same one.
#[tokio::test]
async fn a_box_that_a_copy_does_not_have_is_not_taken_for_another() -> Result<()> {
    let place = Place::ready().await?;
    let copy = copied(&place).await?;
    let old = place.store()?;
    let adas = old.bank("adas")?;
    adas.add(&[Item::new("A")?]).await?;
    elsewhere(&place, &format!(".restore {}", copy.display()))?;
    place.store()?.bank("bobs")?.add(&[Item::new("B")?]).await?;
    let taken = adas.assign("ada").await;
    assert!(!matches!(&taken, Ok(taken) if taken.item() == Some(&Item::new("B")?)), "{taken:?}");
    Ok(())
}

//! What `setup` creates, and what it refuses.

use sqlx::{Executor, query, query_as, query_scalar};
use storagebox_core::{Backend, ClaimId, ClaimState, End, ErrorKind, Item, ItemBank, Result, Retention};
use storagebox_testkit::checks::{calls, memory};
use tokio::task::JoinSet;

use crate::support::{Place, failed};

#[tokio::test]
async fn only_setup_creates_the_file() -> Result<()> {
    let place = Place::bare()?;
    let store = place.store()?;
    let error = store.ping().await.unwrap_err();
    assert!(error.to_string().contains("there is no file") && error.to_string().contains("store.db"), "{error}");
    calls::are_refused(&store, ErrorKind::NotSetUp).await?;
    assert!(!place.path().exists());
    store.setup().await?;
    assert!(place.path().is_file());
    assert_eq!(store.item_bank(&"namespace".parse()?)?.counts().await?.total(), 0);
    Ok(())
}

#[tokio::test]
async fn setup_in_a_database_of_another_program_keeps_its_tables() -> Result<()> {
    let place = Place::bare()?;
    let options = place.options().create_if_missing(true);
    let mut theirs = sqlx::ConnectOptions::connect(&options).await.map_err(failed)?;
    theirs.execute("CREATE TABLE namespaces (a); INSERT INTO namespaces VALUES (7)").await.map_err(failed)?;
    let store = place.store()?;
    assert_eq!(store.ping().await.unwrap_err().kind(), ErrorKind::NotSetUp);
    assert_eq!(store.item_bank(&"namespace".parse()?)?.counts().await.unwrap_err().kind(), ErrorKind::NotSetUp);
    store.setup().await?;
    store.ping().await?;
    let kept: i64 = query_scalar("SELECT a FROM namespaces").fetch_one(&mut theirs).await.map_err(failed)?;
    assert_eq!(kept, 7);
    Ok(())
}

#[tokio::test]
async fn tables_of_a_newer_library_are_refused_and_unchanged() -> Result<()> {
    let place = Place::ready().await?;
    place.store()?.item_bank(&"namespace".parse()?)?.add(&[Item::new("code")?]).await?;
    let mut raw = place.raw().await?;
    query("INSERT INTO storagebox_versions (version) VALUES (3)").execute(&mut raw).await.map_err(failed)?;
    let store = place.store()?;
    calls::are_refused(&store, ErrorKind::Unsupported).await?;
    calls::setup_is_refused(&store, ErrorKind::Unsupported, "a newer storagebox").await;
    let left = "SELECT (SELECT count(*) FROM storagebox_namespaces), (SELECT state FROM storagebox_items)";
    let left: (i64, String) = query_as(left).fetch_one(&mut raw).await.map_err(failed)?;
    assert_eq!(left, (1, "free".to_owned()));
    Ok(())
}

/// Regression: upkeep by a client with another `remember` deleted fences that should have lasted for ever.
#[tokio::test]
async fn upkeep_uses_the_stored_memory() -> Result<()> {
    let place = Place::bare()?;
    let for_ever = place.builder().remember(Retention::Forever).open(place.path())?;
    for_ever.setup().await?;
    memory::fence_each_kind(&for_ever).await?;
    place.clock.advance(memory::LONG_AGO);
    let says_nothing = place.store()?;
    says_nothing.setup().await?;
    memory::assert_fenced(&says_nothing).await?;
    let ended = says_nothing.item_bank(&"namespace".parse()?)?.get(&ClaimId::new("ada")?).await?;
    assert_eq!(ended, ClaimState::Ended(End::Released));
    Ok(())
}

#[tokio::test]
async fn opening_a_store_with_another_memory_is_refused() -> Result<()> {
    let place = Place::ready().await?;
    memory::another_is_refused(|| place.builder().remember(Retention::Forever).open(place.path())).await?;
    let pooled = place.builder().remember(Retention::Forever).from_pool(place.pool())?;
    for error in [pooled.setup().await.unwrap_err(), pooled.maintain(1).await.map(drop).unwrap_err()] {
        memory::assert_another(&error);
    }
    place.builder().remember(Retention::DEFAULT).open(place.path())?.ping().await
}

#[tokio::test]
async fn concurrent_setups_of_a_new_file_succeed() -> Result<()> {
    for _ in 0..5 {
        let place = Place::bare()?;
        let mut setups = JoinSet::new();
        for number in 0..8 {
            let store = place.store()?;
            setups.spawn(async move {
                store.setup().await?;
                store.ping().await?;
                store.item_bank(&"namespace".parse()?)?.add(&[format!("{number}").try_into()?]).await
            });
        }
        setups.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
        assert_eq!(place.store()?.item_bank(&"namespace".parse()?)?.counts().await?.free, 8);
        let versions = query_scalar("SELECT count(*) FROM storagebox_versions");
        let versions: i64 = versions.fetch_one(&mut place.raw().await?).await.map_err(failed)?;
        assert_eq!(versions, 2);
    }
    Ok(())
}

#[tokio::test]
async fn the_file_has_a_write_ahead_log() -> Result<()> {
    let place = Place::ready().await?;
    let mode: String = query_scalar("PRAGMA journal_mode").fetch_one(&mut place.raw().await?).await.map_err(failed)?;
    assert_eq!(mode, "wal");
    Ok(())
}

/// While another process creates the file, SQLite can report that opening it is not permitted.
#[tokio::test(flavor = "multi_thread")]
async fn a_ping_during_a_concurrent_setup_returns_not_set_up() -> Result<()> {
    for round in 0..30 {
        let place = Place::bare()?;
        let (maker, asker) = (place.store()?, place.store()?);
        let making = tokio::spawn(async move { maker.setup().await });
        while let (Err(error), false) = (asker.ping().await, making.is_finished()) {
            assert_eq!(error.kind(), ErrorKind::NotSetUp, "round {round}: {error}");
        }
        making.await.map_err(failed)??;
        asker.ping().await?;
    }
    Ok(())
}

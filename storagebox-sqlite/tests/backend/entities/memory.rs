//! How long a version is remembered, and what upkeep keeps.

use std::time::Duration;

use storagebox_core::{Backend, Commit, Committed, EntityChange, EntityLedger, Result, Retention};
use storagebox_sqlite::SqliteStore;
use storagebox_testkit::checks::entities::{self, changed, commit_at, commit_of, committed, joined, split, version};
use storagebox_testkit::checks::id;

use crate::support::Place;

const MEMORY: Duration = Duration::from_secs(60);

async fn remembering(memory: Retention) -> Result<(Place, SqliteStore)> {
    let place = Place::bare()?;
    let store = place.builder().remember(memory).open(place.path())?;
    store.setup().await?;
    Ok((place, store))
}

#[tokio::test]
async fn the_memory_of_a_deleted_entity_begins_after_its_last_entry() -> Result<()> {
    let (place, store) = remembering(Retention::For(MEMORY)).await?;
    entities::are_forgotten(&store, MEMORY, async |time| {
        place.clock.advance(time);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn upkeep_deletes_at_most_its_limit() -> Result<()> {
    let (place, store) = remembering(Retention::For(MEMORY)).await?;
    entities::are_forgotten_in_budgets(&store, async || {
        place.clock.advance(MEMORY);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_unlimited_memory_forgets_no_entity() -> Result<()> {
    let (place, store) = remembering(Retention::Forever).await?;
    let long = Duration::from_secs(u64::from(u32::MAX));
    entities::are_never_forgotten(&store, async || {
        place.clock.advance(long);
        Ok(())
    })
    .await
}

/// The version is forgotten exactly when its memory is over.
#[tokio::test]
async fn an_entity_version_is_forgotten_without_upkeep() -> Result<()> {
    let (place, store) = remembering(Retention::For(MEMORY)).await?;
    let entities = split(&store)?;
    changed(&*entities, "entity", EntityChange::Delete, true).await?;
    let old = version(&*entities, "entity").await?;
    place.clock.advance(MEMORY - Duration::from_micros(1));
    assert!(old.is_some() && version(&*entities, "entity").await? == old);
    place.clock.advance(Duration::from_micros(1));
    assert_eq!(version(&*entities, "entity").await?, None);
    assert_eq!(entities.commit(&commit_at(old, "late")).await?, Committed::Conflict);
    committed(&*entities, &commit_at(None, "late")).await?;
    assert_eq!(store.maintain(10).await?.deleted, 0);
    assert!(version(&*entities, "late").await? > old);
    Ok(())
}

/// The test makes a commit that adds an entry, and a commit that adds none.
#[tokio::test]
async fn a_commit_restarts_the_memory_of_an_entity() -> Result<()> {
    let (place, store) = remembering(Retention::For(MEMORY)).await?;
    let (entities, tokens) = joined(&store)?;
    tokens.create_tokens(&[id("in")]).await?;
    changed(&*entities, "entity", EntityChange::Delete, true).await?;
    place.clock.advance(MEMORY / 2);
    let (change, consume) = (EntityChange::Keep, Some(id("in")));
    committed(&*entities, &Commit { change, entry: None, consume, ..commit_of(&*entities, "b").await? }).await?;
    place.clock.advance(MEMORY / 2);
    assert_eq!(store.maintain(10).await?.deleted, 0);
    committed(&*entities, &commit_of(&*entities, "c").await?).await?;
    place.clock.advance(MEMORY);
    assert_eq!(store.maintain(10).await?.deleted, 1, "the token alone");
    assert!(version(&*entities, "c").await?.is_some());
    Ok(())
}

//! How long a version is remembered, and what upkeep keeps.

use std::time::Duration;

use storagebox_core::{Backend, Commit, Committed, EntityChange, EntityLedger, Result, Retention, Version};
use storagebox_sqlite::SqliteStore;

use super::{commit_of, committed, entry, joined, key, message, payload, split, token};
use crate::support::Place;

const MEMORY: Duration = Duration::from_secs(60);

async fn remembering(memory: Retention) -> Result<(Place, SqliteStore)> {
    let place = Place::bare()?;
    let store = place.builder().remember(memory).open(place.path())?;
    store.setup().await?;
    Ok((place, store))
}

async fn deleted(store: &SqliteStore, most: usize) -> Result<u64> {
    Ok(store.maintain(most).await?.deleted)
}

/// Leaves an entity without state and entries, and returns its version.
async fn leave(entities: &dyn EntityLedger, name: &str) -> Result<Option<Version>> {
    let key = name.parse()?;
    let opened = entities.open(&key, &message(name), None).await?.version;
    let commit = Commit { key, opened, change: EntityChange::Delete, ..commit_of(entities, name).await? };
    committed(entities, &commit).await?;
    let version = entities.open(&commit.key, &commit.message, None).await?.version;
    assert!(entities.remove(&storagebox_core::EntryId { key: commit.key, ..entry(name) }).await?);
    Ok(version)
}

/// Only the clock decides. It makes no difference whether upkeep has run.
#[tokio::test]
async fn a_version_is_forgotten_by_the_clock() -> Result<()> {
    let (place, store) = remembering(Retention::For(MEMORY)).await?;
    let entities = split(&store)?;
    let version = leave(&*entities, "entity").await?;
    let stale = Commit { opened: version, ..commit_of(&*entities, "late").await? };
    place.clock.advance(MEMORY - Duration::from_micros(1));
    assert_eq!(entities.open(&key(), &message("entity"), None).await?.version, version);
    place.clock.advance(Duration::from_micros(1));
    assert_eq!(entities.open(&key(), &message("entity"), None).await?.version, None);
    assert_eq!(entities.commit(&stale).await?, Committed::Conflict);
    let next = Commit { opened: None, ..stale };
    committed(&*entities, &next).await?;
    assert_eq!(deleted(&store, 10).await?, 0);
    assert!(entities.open(&key(), &message("late"), None).await?.version > version);
    Ok(())
}

#[tokio::test]
async fn upkeep_leaves_what_has_an_entry_or_a_state() -> Result<()> {
    let (place, store) = remembering(Retention::For(MEMORY)).await?;
    let entities = split(&store)?;
    for (name, change, is_removed) in
        [("entry", EntityChange::Delete, false), ("state", EntityChange::Put(payload("state")), true)]
    {
        let commit = Commit { key: name.parse()?, change, ..commit_of(&*entities, name).await? };
        committed(&*entities, &commit).await?;
        if is_removed {
            assert!(entities.remove(&storagebox_core::EntryId { key: commit.key, ..entry(name) }).await?);
        }
    }
    place.clock.advance(MEMORY * 100);
    assert_eq!(deleted(&store, 10).await?, 0);
    assert!(entities.open(&"state".parse()?, &message("state"), None).await?.state.is_some());
    // The memory begins with the removal of the last entry, and not with the last commit.
    let id = storagebox_core::EntryId { key: "entry".parse()?, ..entry("entry") };
    assert!(entities.remove(&id).await?);
    assert!(!entities.remove(&id).await?);
    place.clock.advance(MEMORY - Duration::from_secs(1));
    assert_eq!(deleted(&store, 10).await?, 0);
    assert!(entities.open(&id.key, &id.message, None).await?.version.is_some());
    place.clock.advance(Duration::from_secs(1));
    assert_eq!(deleted(&store, 10).await?, 1);
    Ok(())
}

/// A commit restarts the memory, with or without an entry.
#[tokio::test]
async fn a_commit_prolongs_what_is_remembered() -> Result<()> {
    let (place, store) = remembering(Retention::For(MEMORY)).await?;
    let (entities, tokens) = joined(&store)?;
    tokens.create_tokens(&[token("in")]).await?;
    leave(&*entities, "entity").await?;
    place.clock.advance(MEMORY / 2);
    let commit = Commit {
        change: EntityChange::Keep,
        entry: None,
        consume: Some(token("in")),
        ..commit_of(&*entities, "b").await?
    };
    committed(&*entities, &commit).await?;
    place.clock.advance(MEMORY / 2);
    assert_eq!(deleted(&store, 10).await?, 0);
    committed(&*entities, &commit_of(&*entities, "c").await?).await?;
    place.clock.advance(MEMORY);
    assert_eq!(deleted(&store, 10).await?, 1, "the token alone");
    assert!(entities.open(&key(), &message("c"), None).await?.version.is_some());
    Ok(())
}

#[tokio::test]
async fn upkeep_deletes_no_more_than_it_was_told_to() -> Result<()> {
    let (place, store) = remembering(Retention::For(MEMORY)).await?;
    let entities = split(&store)?;
    for number in 0..7 {
        leave(&*entities, &format!("entity-{number}")).await?;
    }
    place.clock.advance(MEMORY);
    let mut budgets = vec![];
    for _ in 0..4 {
        let maintained = store.maintain(3).await?;
        budgets.push((maintained.deleted, maintained.more));
    }
    assert_eq!(budgets, [(3, true), (3, true), (1, false), (0, false)]);
    Ok(())
}

#[tokio::test]
async fn nothing_is_forgotten_by_a_memory_for_ever() -> Result<()> {
    let (place, store) = remembering(Retention::Forever).await?;
    let entities = split(&store)?;
    let version = leave(&*entities, "entity").await?;
    place.clock.advance(Duration::from_secs(u64::from(u32::MAX)));
    assert_eq!(deleted(&store, 10).await?, 0);
    assert_eq!(entities.open(&key(), &message("entity"), None).await?.version, version);
    Ok(())
}

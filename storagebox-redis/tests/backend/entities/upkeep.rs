//! What upkeep does to entities (E-6).

use std::collections::BTreeSet;
use std::time::Duration;

use redis::cmd;
use storagebox_core::{Backend, Commit, Committed, EntityChange, EntityLedger, EntryId, Key, Result, Retention};
use storagebox_redis::RedisStore;
use storagebox_testkit::redis::Settings;

use super::{commit_of, entry, key, message, payload, split};
use crate::scene::{with_place, with_server};
use crate::support::Place;

const MINUTE: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);
const WEEK: Duration = Duration::from_secs(7 * 24 * 3_600);

/// A store of its own that remembers for so long.
async fn remembering(place: &Place, memory: Retention) -> Result<RedisStore> {
    let builder = place.builder()?.prefix(&format!("{}.memory", place.prefix))?.remember(memory);
    let store = builder.connect(&place.server.url())?;
    store.setup().await?;
    Ok(store)
}

/// Entities of these numbers, each of which is deleted and of which nothing is left to do.
async fn deleted(entities: &dyn EntityLedger, numbers: std::ops::Range<usize>) -> Result<()> {
    for number in numbers {
        let key = Key::new(format!("{number}"))?;
        let commit = Commit { key: key.clone(), opened: None, ..commit_of(entities, "a").await? };
        let commit = Commit { change: EntityChange::Delete, ..commit };
        assert_eq!(entities.commit(&commit).await?, Committed::Committed);
        assert!(entities.remove(&EntryId { key, ..entry("a")? }).await?);
    }
    Ok(())
}

#[tokio::test]
async fn a_version_does_not_repeat_after_a_deletion() -> Result<()> {
    with_place(async |place| {
        let (store, mut seen) = (remembering(place, Retention::For(MINUTE)).await?, BTreeSet::new());
        let entities = split(&store)?;
        for round in 0..4 {
            for (name, change) in [("put", EntityChange::Put(payload("x")?)), ("delete", EntityChange::Delete)] {
                let name = format!("{name}-{round}");
                let commit = Commit { change, ..commit_of(&*entities, &name).await? };
                assert_eq!(entities.commit(&commit).await?, Committed::Committed);
                let opened = entities.open(&key()?, &commit.message, None).await?;
                assert!(opened.version.is_some() && seen.insert(opened.version), "{opened:?} repeats");
                assert!(entities.remove(&entry(&name)?).await?);
            }
            // Once beyond what is remembered, then within it. The server's clock goes on by itself meanwhile.
            place.moved.advance(if round % 2 == 0 { MINUTE } else { MINUTE / 2 });
            let deleted = store.maintain(10).await?.deleted;
            assert_eq!(deleted, u64::from(round % 2 == 0), "round {round}");
            let version = entities.open(&key()?, &message("a")?, None).await?.version;
            assert_eq!(version.is_none(), round % 2 == 0, "round {round}");
        }
        Ok(())
    })
    .await
}

/// The clock decides, whether or not there was upkeep.
#[tokio::test]
async fn an_entity_is_forgotten_by_the_clock() -> Result<()> {
    with_place(async |place| {
        let store = remembering(place, Retention::For(MINUTE)).await?;
        let entities = split(&store)?;
        let commit = Commit { change: EntityChange::Delete, ..commit_of(&*entities, "a").await? };
        let _ = entities.commit(&commit).await?;
        assert!(entities.remove(&entry("a")?).await?);
        let stale = commit_of(&*entities, "b").await?;
        assert!(stale.opened.is_some());
        place.moved.advance(MINUTE + SECOND);
        assert_eq!(entities.commit(&stale).await?, Committed::Conflict);
        let anew = commit_of(&*entities, "b").await?;
        assert!(anew.opened.is_none());
        assert_eq!(entities.commit(&anew).await?, Committed::Committed);
        let opened = entities.open(&key()?, &message("b")?, None).await?;
        assert!(opened.version > stale.opened, "{opened:?} repeats");
        assert_eq!(store.maintain(10).await?.deleted, 0, "it is in use again");
        assert_eq!(entities.open(&key()?, &message("b")?, None).await?, opened);
        Ok(())
    })
    .await
}

/// One with an entry and one with a state stay, and one that came back as well.
#[tokio::test]
async fn an_entity_that_is_in_use_is_not_forgotten() -> Result<()> {
    with_place(async |place| {
        let store = place.store()?;
        let entities = split(&store)?;
        let commit = Commit { change: EntityChange::Delete, ..commit_of(&*entities, "a").await? };
        let _ = entities.commit(&commit).await?;
        place.moved.advance(2 * WEEK);
        assert_eq!(store.maintain(10).await?.deleted, 0);
        assert_eq!(entities.pending(None, 10).await?.entries, [entry("a")?]);
        // It is remembered from the removal on.
        assert!(entities.remove(&entry("a")?).await?);
        place.moved.advance(WEEK / 2);
        assert_eq!(store.maintain(10).await?.deleted, 0);
        let _ = entities.commit(&commit_of(&*entities, "b").await?).await?;
        assert!(entities.remove(&entry("b")?).await?);
        place.moved.advance(2 * WEEK);
        assert_eq!(store.maintain(10).await?.deleted, 0, "it has a state");
        assert_eq!(entities.open(&key()?, &message("a")?, None).await?.state, Some(payload("b")?));
        Ok(())
    })
    .await
}

/// Nothing is left of it on the server, and none went by a memory that has no end.
#[tokio::test]
async fn of_what_is_forgotten_nothing_is_left() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        for (memory, left) in [(Retention::For(WEEK), 0), (Retention::Forever, 251)] {
            place.server.ask::<()>(&cmd("FLUSHALL")).await?;
            let store = remembering(place, memory).await?;
            let entities = split(&store)?;
            deleted(&*entities, 0..250).await?;
            place.moved.advance(WEEK + SECOND);
            let all: Vec<_> =
                [store.maintain(120).await?, store.maintain(120).await?, store.maintain(120).await?].into();
            let counted: Vec<_> = all.iter().map(|done| (done.deleted, done.more)).collect();
            let expected = if left == 0 { [(120, true), (120, true), (10, false)] } else { [(0, false); 3] };
            assert_eq!(counted, expected, "{memory:?}");
            let keys: Vec<String> = place.server.ask(cmd("KEYS").arg("*{e.entities.0}:*")).await?;
            assert_eq!(keys.len(), left, "{keys:?}");
        }
        Ok(())
    })
    .await
}

/// Upkeep, step after step, while the clock goes on.
async fn tidies(place: &Place, store: &RedisStore) -> Result<()> {
    for _ in 0..50 {
        place.moved.advance(SECOND);
        store.maintain(100).await?;
    }
    Ok(())
}

/// Commits of one entity, and between them others that are deleted.
async fn commits_and_deletions(entities: &dyn EntityLedger) -> Result<()> {
    for number in 0..50 {
        let name = format!("{number}");
        deleted(entities, number..number + 1).await?;
        assert_eq!(entities.commit(&commit_of(entities, &name).await?).await?, Committed::Committed);
        assert_eq!(entities.open(&key()?, &message(&name)?, None).await?.state, Some(payload(&name)?));
    }
    Ok(())
}

/// Upkeep of one entity does not disturb a commit of another, nor one of the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn upkeep_beside_commits_takes_nothing_away() -> Result<()> {
    with_place(async |place| {
        let store = remembering(place, Retention::For(SECOND)).await?;
        let entities = split(&store)?;
        let upkeep = tidies(place, &store);
        let commits = commits_and_deletions(&*entities);
        tokio::try_join!(upkeep, commits)?;
        assert_eq!(entities.pending(None, 100).await?.entries.len(), 50);
        Ok(())
    })
    .await
}

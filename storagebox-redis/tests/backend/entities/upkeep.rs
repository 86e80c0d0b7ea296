//! The upkeep of entities (E-6).

use std::time::Duration;

use redis::cmd;
use storagebox_core::{Backend, Commit, Committed, EntityChange, EntityLedger, EntryId, Key, Result, Retention};
use storagebox_redis::RedisStore;
use storagebox_testkit::redis::Settings;

use super::{commit_of, entry, key, message, payload, split};
use crate::scene::{with_place, with_server};
use crate::support::Place;

const SECOND: Duration = Duration::from_secs(1);
const WEEK: Duration = Duration::from_secs(7 * 24 * 3_600);

/// Returns a new store with this memory.
async fn remembering(place: &Place, memory: Retention) -> Result<RedisStore> {
    let builder = place.builder()?.prefix(&format!("{}.memory", place.prefix))?.remember(memory);
    let store = builder.connect(&place.server.url())?;
    store.setup().await?;
    Ok(store)
}

/// Creates and deletes entities with these numbers, without pending entries.
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

/// A forgotten entity leaves nothing on the server. With an unlimited memory, no entity is forgotten.
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

/// Runs upkeep in steps while the clock advances.
async fn tidies(place: &Place, store: &RedisStore) -> Result<()> {
    for _ in 0..50 {
        place.moved.advance(SECOND);
        store.maintain(100).await?;
    }
    Ok(())
}

/// Makes commits of one entity, and deletions of others between them.
async fn commits_and_deletions(entities: &dyn EntityLedger) -> Result<()> {
    for number in 0..50 {
        let name = format!("{number}");
        deleted(entities, number..number + 1).await?;
        assert_eq!(entities.commit(&commit_of(entities, &name).await?).await?, Committed::Committed);
        assert_eq!(entities.open(&key()?, &message(&name)?, None).await?.state, Some(payload(&name)?));
    }
    Ok(())
}

/// Upkeep of an entity disturbs no commit of another entity, and none of the same entity.
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

//! The upkeep of entities (E-6).

use std::time::Duration;

use redis::cmd;
use storagebox_core::{Backend, EntityChange, EntityLedger, Result, Retention};
use storagebox_redis::RedisStore;
use storagebox_testkit::checks::entities::{self, changed, commit_of, committed, key, split};
use storagebox_testkit::checks::id;
use storagebox_testkit::redis::Settings;

use crate::scene::{in_place, with_place, with_server};
use crate::support::Place;

const SECOND: Duration = Duration::from_secs(1);
const WEEK: Duration = Duration::from_secs(7 * 24 * 3_600);

async fn remembering(place: &Place, memory: Retention) -> Result<RedisStore> {
    let builder = place.builder()?.prefix(&format!("{}.memory", place.prefix))?.remember(memory);
    let store = builder.connect(&place.server.url())?;
    store.setup().await?;
    Ok(store)
}

/// Returns the number of keys that the entities have on the server.
async fn keys_left(place: &Place) -> Result<usize> {
    Ok(place.server.ask::<Vec<String>>(cmd("KEYS").arg("*{e.entities.0}:*")).await?.len())
}

#[test]
fn a_forgotten_entity_leaves_no_key() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let store = remembering(place, Retention::For(WEEK)).await?;
        entities::are_forgotten_in_budgets(&store, async || Ok(place.moved.advance(WEEK + SECOND))).await?;
        assert_eq!(keys_left(place).await?, 0);
        entities::are_forgotten(&store, WEEK, async |time| Ok(place.moved.advance(time))).await
    })
}

#[test]
fn an_unlimited_memory_forgets_no_entity() -> Result<()> {
    with_place(async |place| {
        let store = remembering(place, Retention::Forever).await?;
        entities::are_never_forgotten(&store, async || Ok(place.moved.advance(100 * WEEK))).await
    })
}

/// Runs upkeep again and again while the clock advances.
async fn tidies(place: &Place, store: &RedisStore) -> Result<()> {
    for _ in 0..50 {
        place.moved.advance(SECOND);
        store.maintain(100).await?;
    }
    Ok(())
}

async fn commits_and_deletions(entities: &dyn EntityLedger) -> Result<()> {
    for number in 0..50 {
        let name = format!("{number}");
        changed(entities, &name, EntityChange::Delete, true).await?;
        committed(entities, &commit_of(entities, &name).await?).await?;
        assert_eq!(entities.open(&key(), &id(&name), None).await?.state, Some(name.as_str().try_into()?));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn upkeep_during_commits_removes_no_entry() -> Result<()> {
    in_place(async |place| {
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

//! How long the version of a deleted entity is kept: E-6.

use std::time::Duration;

use storagebox_core::{Backend, Commit, EntityChange, EntityLedger, EntryId, Maintained, Result, Retention};

use super::{commit_at, commit_of, committed, entry, split, store, version};
use crate::scene::{blocked, count, session, tell, until, with_place};
use crate::support::{Place, run};

const DAY: Duration = Duration::from_secs(24 * 3_600);

async fn entities_of(place: &Place) -> Result<i64> {
    count(&place.database, &format!("SELECT count(*) FROM {}.entities", place.schema)).await
}

#[tokio::test]
async fn upkeep_removes_no_entity_with_a_state_or_an_entry() -> Result<()> {
    with_place(async |place| {
        let store = store(place)?;
        let entities = split(&store)?;
        let of = |key: &str, name: &str| {
            let key = key.try_into()?;
            Ok::<_, storagebox_core::Error>(Commit { key, ..commit_at(None, name)? })
        };
        let (stored, unfinished, finished) = (of("stored", "a")?, of("unfinished", "a")?, of("finished", "a")?);
        for commit in [&stored, &unfinished, &finished] {
            let commit = match commit.key.as_str() {
                "stored" => commit.clone(),
                _ => Commit { change: EntityChange::Delete, ..commit.clone() },
            };
            committed(&*entities, &commit).await?;
            if commit.key.as_str() != "unfinished" {
                let id = EntryId { key: commit.key, ..entry("a")? };
                assert!(entities.remove(&id).await?);
            }
        }
        place.advance(700 * DAY).await?;
        assert_eq!(store.maintain(10).await?, Maintained { deleted: 1, more: false });
        assert!(entities.open(&stored.key, &stored.message, None).await?.state.is_some());
        assert!(entities.open(&unfinished.key, &unfinished.message, None).await?.entry.is_some());
        let id = EntryId { key: unfinished.key.clone(), ..entry("a")? };
        assert!(entities.remove(&id).await?);
        assert_eq!(store.maintain(10).await?.deleted, 0, "it is kept from its last change on");
        place.advance(7 * DAY).await?;
        assert_eq!(store.maintain(10).await?.deleted, 1);
        Ok(())
    })
    .await
}

/// Deletes this many entities and removes their entries.
async fn delete_all(entities: &dyn EntityLedger, count: usize) -> Result<()> {
    for number in 0..count {
        let (key, name) = (format!("{number}").try_into()?, "gone");
        let commit = Commit { key, change: EntityChange::Delete, ..commit_at(None, name)? };
        committed(entities, &commit).await?;
        let id = EntryId { key: commit.key, ..entry(name)? };
        assert!(entities.remove(&id).await?);
    }
    Ok(())
}

#[tokio::test]
async fn upkeep_removes_as_many_as_it_may() -> Result<()> {
    with_place(async |place| {
        let store = store(place)?;
        delete_all(&*split(&store)?, 10).await?;
        place.advance(7 * DAY).await?;
        for (budget, deleted, more) in [(4, 4, true), (6, 6, true), (6, 0, false)] {
            assert_eq!(store.maintain(budget).await?, Maintained { deleted, more });
        }
        assert_eq!(entities_of(place).await?, 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_is_remembered_for_ever_is_never_removed() -> Result<()> {
    with_place(async |place| {
        run(place.database.owner(), format!("UPDATE {}.store SET memory = NULL", place.schema)).await?;
        let builder = place.builder()?.remember(Retention::Forever);
        let store = builder.connect(&place.url_at(place.database.server()))?;
        let entities = split(&store)?;
        delete_all(&*entities, 3).await?;
        place.advance(10_000 * DAY).await?;
        assert_eq!(store.maintain(10).await?.deleted, 0);
        assert_eq!(entities_of(place).await?, 3);
        assert!(entities.open(&"0".try_into()?, &"next".try_into()?, None).await?.version.is_some());
        run(place.database.owner(), format!("UPDATE {}.store SET memory = 604800000000", place.schema)).await
    })
    .await
}

/// Upkeep skips an entity that another transaction is changing, and the change stays.
#[tokio::test]
async fn an_entity_that_comes_back_while_upkeep_is_under_way_stays() -> Result<()> {
    with_place(async |place| {
        let store = store(place)?;
        let entities = split(&store)?;
        committed(&*entities, &Commit { change: EntityChange::Delete, ..commit_at(None, "a")? }).await?;
        assert!(entities.remove(&entry("a")?).await?);
        place.advance(7 * DAY).await?;
        let lock = format!("SELECT FROM {}.entities FOR UPDATE", place.schema);
        let mut other = session(place, &lock).await?;
        assert_eq!(store.maintain(10).await?.deleted, 0, "it is locked");
        let commit = commit_of(&*entities, "b").await?;
        assert_eq!(commit.opened, None, "it is forgotten");
        let release = async {
            until("a commit that waits", async || Ok(blocked(&place.database, &place.schema).await? == 1)).await?;
            tell(&mut other, "ROLLBACK").await
        };
        let (_, ()) = tokio::try_join!(committed(&*entities, &commit), release)?;
        assert_eq!(store.maintain(10).await?.deleted, 0);
        assert!(entities.remove(&entry("b")?).await?);
        place.advance(7 * DAY).await?;
        assert_eq!(store.maintain(10).await?.deleted, 0, "it has a state");
        assert_eq!(entities_of(place).await?, 1);
        Ok(())
    })
    .await
}

/// The entity is removed after a commit begins to wait for it and before the commit gets it.
#[tokio::test]
async fn a_commit_that_waited_for_upkeep_makes_the_entity_anew() -> Result<()> {
    with_place(async |place| {
        let store = store(place)?;
        let entities = split(&store)?;
        committed(&*entities, &Commit { change: EntityChange::Delete, ..commit_at(None, "a")? }).await?;
        let old = version(&*entities, "a").await?;
        assert!(entities.remove(&entry("a")?).await?);
        place.advance(7 * DAY).await?;
        let schema = &place.schema;
        let remove = format!("SELECT {schema}.entity_maintain(1, 10)");
        let mut upkeep = session(place, &remove).await?;
        let commit = commit_at(None, "b")?;
        let end = async {
            until("a commit that waits", async || Ok(blocked(&place.database, schema).await? == 1)).await?;
            tell(&mut upkeep, "COMMIT").await
        };
        let (_, ()) = tokio::try_join!(committed(&*entities, &commit), end)?;
        let new = version(&*entities, "b").await?;
        assert!(new.is_some() && new != old);
        Ok(())
    })
    .await
}

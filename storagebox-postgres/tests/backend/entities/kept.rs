//! How long the version of a deleted entity is kept: E-6.

use std::time::Duration;

use storagebox_core::{Backend, EntityChange, EntityLedger, Result, Retention, Version};
use storagebox_testkit::checks::entities::{self, changed, commit_at, commit_of, committed, entry, split, version};

use crate::scene::{blocked, count, patient, session, tell, until, with_place};
use crate::support::{Place, run};

const DAY: Duration = Duration::from_secs(24 * 3_600);

async fn entities_of(place: &Place) -> Result<i64> {
    count(&place.database, &format!("SELECT count(*) FROM {}.entities", place.schema)).await
}

#[test]
fn deleted_entity_is_remembered_from_the_end_of_its_last_entry() -> Result<()> {
    with_place(async |place| {
        entities::are_forgotten(&patient(place)?, 7 * DAY, async |time| place.advance(time).await).await
    })
}

#[test]
fn upkeep_deletes_no_more_entities_than_its_budget() -> Result<()> {
    with_place(async |place| {
        entities::are_forgotten_in_budgets(&patient(place)?, async || place.advance(7 * DAY).await).await?;
        assert_eq!(entities_of(place).await?, 0);
        Ok(())
    })
}

#[test]
fn upkeep_deletes_no_entity_if_the_store_remembers_for_ever() -> Result<()> {
    with_place(async |place| {
        run(place.database.owner(), format!("UPDATE {}.store SET memory = NULL", place.schema)).await?;
        let builder = place.builder()?.remember(Retention::Forever);
        let store = builder.connect(&place.url_at(place.database.server()))?;
        entities::are_never_forgotten(&store, async || place.advance(10_000 * DAY).await).await?;
        assert_eq!(entities_of(place).await?, 1);
        run(place.database.owner(), format!("UPDATE {}.store SET memory = 604800000000", place.schema)).await
    })
}

/// Deletes an entity, and moves the clock forward until upkeep may forget the entity. Returns the entity's last
/// version.
async fn forgettable(place: &Place, entities: &dyn EntityLedger) -> Result<Option<Version>> {
    changed(entities, "entity", EntityChange::Delete, true).await?;
    let old = version(entities, "a").await?;
    place.advance(7 * DAY).await?;
    Ok(old)
}

/// Upkeep skips an entity that another transaction has locked. Before the next upkeep, a commit creates the entity
/// again.
#[test]
fn upkeep_keeps_a_deleted_entity_that_is_created_again() -> Result<()> {
    with_place(async |place| {
        let store = patient(place)?;
        let entities = split(&store)?;
        forgettable(place, &*entities).await?;
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
        assert!(entities.remove(&entry("b")).await?);
        place.advance(7 * DAY).await?;
        assert_eq!(store.maintain(10).await?.deleted, 0, "it has a state");
        assert_eq!(entities_of(place).await?, 1);
        Ok(())
    })
}

/// Upkeep removes the entity after a commit begins to wait for it and before the commit locks it.
#[test]
fn commit_that_waited_for_upkeep_creates_a_new_entity() -> Result<()> {
    with_place(async |place| {
        let store = patient(place)?;
        let entities = split(&store)?;
        let old = forgettable(place, &*entities).await?;
        let schema = &place.schema;
        let remove = format!("SELECT {schema}.memory_maintain(1, 10)");
        let mut upkeep = session(place, &remove).await?;
        let commit = commit_at(None, "b");
        let end = async {
            until("a commit that waits", async || Ok(blocked(&place.database, schema).await? == 1)).await?;
            tell(&mut upkeep, "COMMIT").await
        };
        let (_, ()) = tokio::try_join!(committed(&*entities, &commit), end)?;
        let new = version(&*entities, "b").await?;
        assert!(new.is_some() && new != old);
        Ok(())
    })
}

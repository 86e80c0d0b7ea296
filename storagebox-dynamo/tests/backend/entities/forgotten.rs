//! How long deleted entities and removed entries are remembered.

use std::time::Duration;

use storagebox_core::{Backend, Commit, EntityChange, EntityLedger, Result, Retention};
use storagebox_testkit::checks::entities::{self, changed, commit_of, committed, entry, key, split, version};
use storagebox_testkit::checks::id;
use storagebox_testkit::dynamodb::faults::Fault;

use crate::scene::{Gate, with_place};
use crate::support::{Place, failed};

const MINUTE: Duration = Duration::from_secs(60);

async fn forgetful(place: &Place) -> Result<storagebox_dynamo::DynamoStore> {
    let builder = place.builder().remember(Retention::For(MINUTE));
    builder.from_client(&place.table.client(None, None).await)
}

async fn commit(entities: &dyn EntityLedger, name: &str, change: EntityChange) -> Result<()> {
    committed(entities, &Commit { change, ..commit_of(entities, name).await? }).await
}

#[test]
fn a_deleted_entity_is_forgotten_after_its_last_entry() -> Result<()> {
    with_place(async |place| {
        let (store, advance) = (forgetful(place).await?, async |time| {
            place.clock.advance(time);
            Ok(())
        });
        entities::are_forgotten(&store, MINUTE, advance).await?;
        let rows = place.rows().await?;
        let left = rows.iter().filter(|row| !row.contains_key("made_with"));
        assert_eq!(left.count(), 1, "the entity that has a state: {rows:?}");
        Ok(())
    })
}

#[test]
fn upkeep_forgets_no_entity_if_the_memory_has_no_end() -> Result<()> {
    with_place(async |place| {
        let client = place.table.client(None, None).await;
        let store = place.builder().remember(Retention::Forever).from_client(&client)?;
        entities::are_never_forgotten(&store, async || {
            place.clock.advance(1_000_000 * MINUTE);
            Ok(())
        })
        .await
    })
}

/// Entities that a call checks and keeps count towards the limit of the call.
#[test]
fn upkeep_continues_where_its_last_call_ended() -> Result<()> {
    with_place(async |place| {
        let store = forgetful(place).await?;
        let entities = split(&store)?;
        for number in 0..6 {
            changed(&*entities, &format!("{number}"), EntityChange::Delete, number % 2 == 0).await?;
        }
        place.clock.advance(2 * MINUTE);
        let mut deleted = vec![];
        loop {
            let maintained = store.maintain(2).await?;
            deleted.push(maintained.deleted);
            if !maintained.more {
                break;
            }
        }
        assert_eq!(deleted.iter().sum::<u64>(), 6, "three entities and what was left of their entries: {deleted:?}");
        assert!(deleted.iter().all(|deleted| *deleted <= 2), "{deleted:?}");
        assert_eq!(entities.pending(None, 10).await?.entries.len(), 3);
        Ok(())
    })
}

/// Upkeep reads an entity without entries. A commit then changes the entity before upkeep's delete arrives.
#[test]
fn upkeep_keeps_an_entity_that_a_commit_has_changed() -> Result<()> {
    with_place(async |place| {
        let (gate, forgetful) = (Gate::default(), forgetful(place).await?);
        let entities = split(&forgetful)?;
        commit(&*entities, "delete", EntityChange::Delete).await?;
        assert!(entities.remove(&entry("delete")).await?);
        place.clock.advance(MINUTE);
        assert_eq!(forgetful.maintain(1).await?.deleted, 1, "what was left of the entry, or the entity");
        if version(&*entities, "look").await?.is_none() {
            commit(&*entities, "delete", EntityChange::Delete).await?;
            assert!(entities.remove(&entry("delete")).await?);
            place.clock.advance(MINUTE);
        }
        let builder = place.builder().remember(Retention::For(MINUTE));
        let (store, faults) = gate.store(&place.table, builder).await?;
        faults.script_for("DeleteItem", [Gate::HOLD, Gate::HOLD]);
        let upkeep = tokio::spawn(async move { store.maintain(1).await });
        gate.reached().await;
        commit(&*entities, "keep", EntityChange::Keep).await?;
        let expected = entities.open(&key(), &id("keep"), None).await?;
        gate.open();
        upkeep.await.map_err(failed)??;
        assert!(expected.entry.is_some());
        assert_eq!(entities.open(&key(), &id("keep"), None).await?, expected);
        Ok(())
    })
}

/// The reply to the removal is lost, or its request arrives twice.
#[test]
fn a_removal_with_a_lost_reply_returns_true() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = crate::scene::recorded(&place.table, place.builder()).await?;
        let entities = split(&store)?;
        for fault in [Fault::DropBefore, Fault::DropAfter, Fault::ErrorAfter, Fault::Torn, Fault::Twice] {
            let name = format!("{fault:?}");
            commit(&*entities, &name, EntityChange::Keep).await?;
            // The first request is refused if the entry was written in the same millisecond.
            place.clock.advance(Duration::from_millis(1));
            faults.script_for("UpdateItem", [fault]);
            assert!(entities.remove(&entry(&name)).await?, "{fault:?}");
            assert!(!entities.remove(&entry(&name)).await?, "{fault:?}");
        }
        assert_eq!(faults.total(), 5);
        Ok(())
    })
}

/// Four entities have entries, so upkeep cannot delete them. `maintain` is repeated with each limit until it reports
/// that nothing is left to do.
#[test]
fn upkeep_ends_although_it_cannot_delete_all_entities() -> Result<()> {
    with_place(async |place| {
        let store = forgetful(place).await?;
        let entities = split(&store)?;
        for number in 0..4 {
            changed(&*entities, &format!("{number}"), EntityChange::Keep, false).await?;
        }
        place.clock.advance(10 * MINUTE);
        for most in [1, 2, 3, 4, 1_000] {
            let mut calls = 0;
            while store.maintain(most).await?.more {
                calls += 1;
                assert!(calls < 100, "upkeep of {most} does not end");
            }
        }
        assert_eq!(entities.pending(None, 10).await?.entries.len(), 4);
        Ok(())
    })
}

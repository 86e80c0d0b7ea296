//! How long deleted entities and removed entries are remembered.

use std::time::Duration;

use storagebox_core::{Backend, Commit, Committed, EntityChange, EntityLedger, Opened, Result, Retention};
use storagebox_testkit::dynamodb::faults::Fault;

use super::{commit_of, entry, key, message, payload, split};
use crate::scene::{Gate, with_place};
use crate::support::{Place, failed};

const MINUTE: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);

async fn forgetful(place: &Place) -> Result<storagebox_dynamo::DynamoStore> {
    let builder = place.builder().remember(Retention::For(MINUTE));
    builder.from_client(&place.table.client(None, None).await)
}

async fn opened(entities: &dyn EntityLedger) -> Result<Opened> {
    entities.open(&key(), &message("nobody"), None).await
}

async fn commit(entities: &dyn EntityLedger, name: &str, change: EntityChange) -> Result<()> {
    let commit = Commit { change, ..commit_of(entities, name).await? };
    assert_eq!(entities.commit(&commit).await?, Committed::Committed);
    Ok(())
}

/// The memory begins with the last commit or removal. An entity with an entry or a state is never forgotten.
#[tokio::test]
async fn an_entity_is_forgotten_when_all_of_it_is_long_over() -> Result<()> {
    with_place(async |place| {
        let store = forgetful(place).await?;
        let entities = split(&store)?;
        commit(&*entities, "first", EntityChange::Put(payload("x"))).await?;
        commit(&*entities, "second", EntityChange::Delete).await?;
        commit(&*entities, "third", EntityChange::Keep).await?;
        for name in ["third", "second", "first"] {
            place.clock.advance(10 * MINUTE);
            let maintained = store.maintain(100).await?;
            assert!(opened(&*entities).await?.version.is_some(), "forgotten before {name} was removed: {maintained:?}");
            assert!(entities.open(&key(), &message(name), None).await?.entry.is_some(), "{name}");
            assert!(entities.remove(&entry(name)).await?, "{name}");
        }
        place.clock.advance(MINUTE - SECOND);
        store.maintain(100).await?;
        assert!(opened(&*entities).await?.version.is_some(), "its last entry was removed less than a minute ago");
        place.clock.advance(SECOND);
        assert_eq!(store.maintain(100).await?.deleted, 2, "the entity, and what was left of its last entry");
        assert_eq!(opened(&*entities).await?, Opened::default());
        let left: Vec<_> = place.rows().await?.into_iter().filter(|row| !row.contains_key("made_with")).collect();
        assert_eq!(left, []);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn with_a_memory_for_ever_nothing_is_forgotten() -> Result<()> {
    with_place(async |place| {
        let client = place.table.client(None, None).await;
        let store = place.builder().remember(Retention::Forever).from_client(&client)?;
        let entities = split(&store)?;
        commit(&*entities, "delete", EntityChange::Delete).await?;
        assert!(entities.remove(&entry("delete")).await?);
        place.clock.advance(1_000_000 * MINUTE);
        assert_eq!(store.maintain(100).await?.deleted, 0);
        assert!(opened(&*entities).await?.version.is_some());
        Ok(())
    })
    .await
}

/// The budget also counts entities that were read and stay.
#[tokio::test]
async fn upkeep_goes_on_where_its_budget_ended() -> Result<()> {
    with_place(async |place| {
        let store = forgetful(place).await?;
        let entities = split(&store)?;
        for number in 0..6 {
            let name = format!("{number}");
            let change = EntityChange::Delete;
            let commit = Commit { key: name.parse()?, opened: None, change, ..commit_of(&*entities, &name).await? };
            assert_eq!(entities.commit(&commit).await?, Committed::Committed);
            if number % 2 == 0 {
                let entry = storagebox_core::EntryId { key: name.parse()?, ..entry(&name) };
                assert!(entities.remove(&entry).await?);
            }
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
    .await
}

/// Upkeep reads an entity without entries, and the entity is changed before the delete arrives.
#[tokio::test]
async fn a_commit_while_upkeep_is_about_to_delete_the_entity_stays() -> Result<()> {
    with_place(async |place| {
        let (gate, forgetful) = (Gate::default(), forgetful(place).await?);
        let entities = split(&forgetful)?;
        commit(&*entities, "delete", EntityChange::Delete).await?;
        assert!(entities.remove(&entry("delete")).await?);
        place.clock.advance(MINUTE);
        assert_eq!(forgetful.maintain(1).await?.deleted, 1, "what was left of the entry, or the entity");
        if opened(&*entities).await?.version.is_none() {
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
        let expected = opened(&*entities).await?;
        gate.open();
        upkeep.await.map_err(failed)??;
        assert_eq!(opened(&*entities).await?, expected);
        assert!(entities.open(&key(), &message("keep"), None).await?.entry.is_some());
        Ok(())
    })
    .await
}

/// The answer to the removal is lost. Its request may also arrive after the message has another entry.
#[tokio::test]
async fn a_removal_whose_answer_was_lost_says_that_there_was_one() -> Result<()> {
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
    .await
}

/// Upkeep ends whatever its budget per call is.
#[tokio::test]
async fn upkeep_ends_beside_entities_that_stay() -> Result<()> {
    with_place(async |place| {
        let store = forgetful(place).await?;
        let entities = split(&store)?;
        for number in 0..4 {
            let name = format!("{number}");
            let commit = Commit {
                key: name.parse()?,
                opened: None,
                change: EntityChange::Keep,
                ..commit_of(&*entities, &name).await?
            };
            assert_eq!(entities.commit(&commit).await?, Committed::Committed);
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
    .await
}

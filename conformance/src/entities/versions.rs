//! Versions, and what remains of a deleted entity.

use std::collections::BTreeSet;

use storagebox_core::{Commit, Committed, EntityChange, EntityLedger};

use super::{Messaged, fresh_entry, payload, split};
use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::world::World;

/// A version never repeats, even after an entity was deleted and forgotten. A slow worker's old version must not match
/// a later entity.
pub(super) async fn a_version_never_repeats(world: &World) -> Verdict {
    let (entities, mut seen) = (split(world)?, BTreeSet::new());
    for round in 0..8 {
        for change in [EntityChange::Put(payload("x")?), EntityChange::Keep, EntityChange::Delete] {
            let one = Messaged::new("entity", &format!("{round}-{}", seen.len()))?;
            let commit = Commit { change, ..one.commit(&*entities).await? };
            ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "a commit");
            let version = one.open(&*entities).await?.version;
            ensure!(version.is_some_and(|version| seen.insert(version)), "{version:?} repeats");
            ensure!(entities.remove(&one.entry()?).await?, "the entry is not there");
        }
        match round % 4 {
            0 => world.outlast_memory().await?,
            1 => world.upkeep().await.map(drop)?,
            2 => world.pass_memory().await,
            _ => {}
        }
    }
    Ok(())
}

/// Commits this message and removes its entry.
async fn finished(entities: &dyn EntityLedger, one: &Messaged, change: EntityChange) -> Verdict {
    let commit = Commit { change, ..one.commit(entities).await? };
    ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "the commit of {one:?}");
    ensure!(entities.remove(&one.entry()?).await?, "the entry of {one:?} is not there");
    Ok(())
}

/// A store never forgets a deleted entity that still has an entry, nor an entity that got a new state after its
/// deletion.
pub(super) async fn what_is_not_over_outlives_the_memory(world: &World) -> Verdict {
    let (entities, deleted, stored) =
        (split(world)?, Messaged::new("deleted", "message")?, Messaged::new("stored", "message")?);
    finished(&*entities, &stored, EntityChange::Delete).await?;
    let stored = Messaged::new("stored", "later")?;
    let delete = Commit { change: EntityChange::Delete, ..deleted.commit(&*entities).await? };
    ensure_eq!(entities.commit(&delete).await?, Committed::Committed, "a deletion");
    for name in ["z", "a"] {
        finished(&*entities, &Messaged::new("deleted", name)?, EntityChange::Keep).await?;
    }
    finished(&*entities, &stored, EntityChange::Put(payload("state")?)).await?;
    let expected = [deleted.open(&*entities).await?, stored.open(&*entities).await?];
    for _ in 0..2 {
        world.outlast_memory().await?;
        let found = [deleted.open(&*entities).await?, stored.open(&*entities).await?];
        ensure_eq!(found, expected, "an entity with an entry, and one with a state");
    }
    ensure_eq!(expected[0].entry, fresh_entry(&delete), "the entry");
    ensure_eq!(expected[1].state, Some(payload("state")?), "the state");
    ensure_eq!(entities.commit(&delete).await?, Committed::Committed, "the commit, once more");
    Ok(())
}

/// The time for which a deleted entity is remembered begins when its last entry is removed, not when the entity is
/// deleted.
pub(super) async fn a_deleted_entity_is_remembered_from_its_end_on(world: &World) -> Verdict {
    let (entities, one, late) = (split(world)?, Messaged::new("entity", "one")?, Messaged::new("entity", "late")?);
    let early = late.commit(&*entities).await?;
    let delete = Commit { change: EntityChange::Delete, ..one.commit(&*entities).await? };
    ensure_eq!(entities.commit(&delete).await?, Committed::Committed, "a deletion");
    let version = one.open(&*entities).await?.version;
    world.outlast_memory().await?;
    ensure!(entities.remove(&one.entry()?).await?, "the entry is not there");
    world.upkeep().await?;
    ensure_eq!(one.open(&*entities).await?.version, version, "the version of an entity that is just over");
    ensure_eq!(entities.commit(&early).await?, Committed::Conflict, "a commit that found the entity absent");
    Ok(())
}

pub(super) async fn a_commit_that_lands_after_a_deletion_brings_nothing_back(world: &World) -> Verdict {
    for opened_early in [true, false] {
        let entities = split(world)?;
        let entity = format!("entity-{opened_early}");
        let (slow, put, delete) =
            (Messaged::new(&entity, "slow")?, Messaged::new(&entity, "put")?, Messaged::new(&entity, "delete")?);
        if !opened_early {
            let _ = entities.commit(&put.commit(&*entities).await?).await?;
        }
        let link = Link::script([Fate::Late]);
        let far = link.before(&entities);
        let late = far.commit(&slow.commit(&*entities).await?).await;
        ensure_matches!(late, Err(_), "a commit whose reply is lost");
        if opened_early {
            let _ = entities.commit(&put.commit(&*entities).await?).await?;
        }
        let gone = Commit { change: EntityChange::Delete, ..delete.commit(&*entities).await? };
        let _ = entities.commit(&gone).await?;
        for one in [&put, &delete] {
            ensure!(entities.remove(&one.entry()?).await?, "an entry is not there");
        }
        world.upkeep().await?;
        link.land().await;
        let opened = slow.open(&*entities).await?;
        ensure_eq!((opened.state, opened.entry), (None, None), "a deleted entity after a late commit");
    }
    Ok(())
}

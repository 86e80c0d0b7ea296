//! Aborted leases and forgotten or expired records leave no value, and their operations are fenced: D-7.

use std::collections::BTreeSet;

use storagebox_core::{Aborted, Begun, Completed, DedupRepo, Forgotten, LeaseRepo, Recorded, Replaced, Retention};

use crate::dedup::{LONG, Repos, id, op, text};
use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::World;

const FOREVER: Retention = Retention::Forever;

pub(in crate::dedup) async fn an_aborted_lease_leaves_the_id_free(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, ada, bob) = (id("job")?, op("ada")?, op("bob")?);
    let lease = repos.begin_new(&job, &ada, LONG).await?;
    ensure_eq!(repos.leases.abort(&lease).await?, Aborted::Aborted, "aborting");
    repos.ensure_value(&job, None).await?;
    ensure!(repos.records.list(None, 10).await?.entries.is_empty(), "an aborted lease is listed");
    let next = repos.begin_new(&job, &bob, LONG).await?;
    ensure_eq!(repos.leases.abort(&lease).await?, Aborted::Aborted, "aborting again");
    let same = repos.leases.begin(&job, &bob, LONG, None).await?;
    ensure_eq!(same, Begun::Started(next.clone()), "the next lease after the first aborted again");
    let _ = repos.leases.abort(&next).await?;
    repos.record_new(&job, "value", &op("eve")?, FOREVER).await?;
    Ok(())
}

pub(in crate::dedup) async fn an_aborted_op_is_fenced(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, ada, bob) = (id("job")?, op("ada")?, op("bob")?);
    let lease = repos.begin_new(&job, &ada, LONG).await?;
    let _ = repos.leases.abort(&lease).await?;
    for _ in 0..2 {
        let begun = repos.leases.begin(&job, &ada, LONG, None).await?;
        ensure_eq!(begun, Begun::Fenced, "the op that aborted begins");
        let completed = repos.leases.complete(&lease, &text("late")?, FOREVER).await?;
        ensure_eq!(completed, Completed::Fenced, "the lease that was aborted completes");
        let extended = repos.leases.extend(&lease, LONG).await?;
        ensure_matches!(extended, storagebox_core::LeaseExtended::Fenced, "the lease that was aborted extends");
    }
    repos.ensure_value(&job, None).await?;
    let next = repos.begin_new(&job, &bob, LONG).await?;
    ensure_eq!(repos.leases.begin(&job, &ada, LONG, None).await?, Begun::Fenced, "during another's lease");
    let _ = repos.leases.complete(&next, &text("result")?, FOREVER).await?;
    repos.begin_new(&id("another")?, &ada, LONG).await?;
    repos.ensure_value(&job, Some("result")).await
}

/// `abort` of a completed lease returns `Fenced` while the record exists. After the end of the record, `abort` returns
/// `Aborted` and changes nothing.
pub(in crate::dedup) async fn aborting_what_has_ended_changes_nothing(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (ada, bob, short) = (op("ada")?, op("bob")?, world.short());
    for end in ["forget", "expire"] {
        let job = id(end)?;
        let lease = repos.begin_new(&job, &ada, LONG).await?;
        let _ = repos.leases.complete(&lease, &text("result")?, Retention::For(short)).await?;
        ensure_eq!(repos.leases.abort(&lease).await?, Aborted::Fenced, "aborting what is recorded");
        match end {
            "forget" => repos.records.forget(&job, repos.entry(&job).await?.version).await.map(drop)?,
            _ => world.pass(short).await,
        }
        ensure_eq!(repos.leases.abort(&lease).await?, Aborted::Aborted, "aborting after its end by {end}");
        let next = repos.begin_new(&job, &bob, LONG).await?;
        ensure_eq!(repos.leases.abort(&lease).await?, Aborted::Aborted, "aborting beside another's lease");
        let same = repos.leases.begin(&job, &bob, LONG, None).await?;
        ensure_eq!(same, Begun::Started(next.clone()), "the other's lease after that");
        let _ = repos.leases.complete(&next, &text("next")?, FOREVER).await?;
        ensure_eq!(repos.leases.abort(&lease).await?, Aborted::Aborted, "aborting beside another's record");
        repos.ensure_value(&job, Some("next")).await?;
    }
    Ok(())
}

pub(in crate::dedup) async fn a_forgotten_id_is_used_anew(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (order, ada, bob) = (id("order")?, op("ada")?, op("bob")?);
    let first = repos.record_new(&order, "first", &ada, FOREVER).await?;
    repos.record_new(&id("another")?, "kept", &ada, FOREVER).await?;
    ensure_eq!(repos.records.forget(&order, first).await?, Forgotten::Forgotten, "forgetting");
    repos.ensure_value(&order, None).await?;
    ensure_eq!(repos.records.list(None, 10).await?.entries.len(), 1, "records listed after that");
    ensure_eq!(repos.records.forget(&order, first).await?, Forgotten::Absent, "forgetting again");
    let second = repos.record_new(&order, "second", &bob, FOREVER).await?;
    ensure!(first != second, "the version {first:?} was used again");
    let again = repos.records.record(&order, &text("x")?, &bob, FOREVER).await?;
    ensure_matches!(again, Recorded::Again(_), "the second winner's retry");
    repos.ensure_value(&id("another")?, Some("kept")).await?;
    repos.ensure_value(&order, Some("second")).await
}

pub(in crate::dedup) async fn forgetting_another_version_removes_nothing(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (order, ada, bob) = (id("order")?, op("ada")?, op("bob")?);
    let first = repos.record_new(&order, "first", &ada, FOREVER).await?;
    let _ = repos.records.replace(&order, first, &text("second")?, &bob).await?;
    let second = repos.entry(&order).await?;
    let stale = repos.records.forget(&order, first).await?;
    ensure_eq!(stale, Forgotten::Stale(second.clone()), "forgetting a replaced version");
    repos.ensure_value(&order, Some("second")).await?;
    let _ = repos.records.forget(&order, second.version).await?;
    repos.record_new(&order, "third", &bob, FOREVER).await?;
    for old in [first, second.version] {
        let stale = repos.records.forget(&order, old).await?;
        ensure_eq!(stale, Forgotten::Stale(repos.entry(&order).await?), "forgetting a forgotten version");
    }
    repos.ensure_value(&order, Some("third")).await?;
    let lease = repos.begin_new(&id("job")?, &ada, LONG).await?;
    let absent = repos.records.forget(&lease.id, second.version).await?;
    ensure_eq!(absent, Forgotten::Absent, "forgetting a lease");
    let completed = repos.leases.complete(&lease, &text("result")?, FOREVER).await?;
    ensure_matches!(completed, Completed::Completed(_), "the lease after that");
    Ok(())
}

pub(in crate::dedup) async fn late_copies_of_what_was_forgotten_are_fenced(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (order, job, ada, bob) = (id("order")?, id("job")?, op("ada")?, op("bob")?);
    let version = repos.record_new(&order, "first", &ada, FOREVER).await?;
    let lease = repos.begin_new(&job, &ada, LONG).await?;
    let _ = repos.leases.complete(&lease, &text("result")?, FOREVER).await?;
    let _ = repos.records.forget(&order, version).await?;
    let _ = repos.records.forget(&job, repos.entry(&job).await?.version).await?;
    for recorded in [None, Some("second")] {
        for place in [&order, &job] {
            repos.ensure_value(place, recorded).await?;
            let late = repos.records.record(place, &text("first")?, &ada, FOREVER).await?;
            ensure_eq!(late, Recorded::Fenced, "a late record of {place}, where {recorded:?} is");
            let late = repos.leases.begin(place, &ada, LONG, None).await?;
            ensure_eq!(late, Begun::Fenced, "a late begin of {place}, where {recorded:?} is");
            if recorded.is_none() {
                let late = repos.records.replace(place, version, &text("x")?, &ada).await?;
                ensure_eq!(late, Replaced::Stale(None), "a late replace of {place}");
            }
        }
        let late = repos.leases.complete(&lease, &text("result")?, FOREVER).await?;
        ensure_eq!(late, Completed::Fenced, "a late complete, where {recorded:?} is");
        if recorded.is_none() {
            repos.record_new(&order, "second", &bob, FOREVER).await?;
            repos.record_new(&job, "second", &bob, FOREVER).await?;
        }
    }
    repos.ensure_value(&order, Some("second")).await?;
    repos.ensure_value(&job, Some("second")).await
}

pub(in crate::dedup) async fn an_expired_op_is_fenced(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (order, ada, short) = (id("order")?, op("ada")?, world.short());
    repos.record_new(&order, "first", &ada, Retention::For(short)).await?;
    world.pass(short).await;
    for _ in 0..2 {
        let late = repos.records.record(&order, &text("first")?, &ada, FOREVER).await?;
        ensure_eq!(late, Recorded::Fenced, "a late record of what has expired");
        let late = repos.leases.begin(&order, &ada, LONG, None).await?;
        ensure_eq!(late, Begun::Fenced, "a late begin of what has expired");
    }
    repos.ensure_value(&order, None).await?;
    repos.record_new(&order, "second", &op("bob")?, FOREVER).await?;
    let late = repos.records.record(&order, &text("first")?, &ada, FOREVER).await?;
    ensure_eq!(late, Recorded::Fenced, "a late record when another stands there");
    repos.ensure_value(&order, Some("second")).await
}

pub(in crate::dedup) async fn an_expired_op_is_fenced_after_upkeep(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (order, ada, short) = (id("order")?, op("ada")?, world.short());
    let version = repos.record_new(&order, "first", &ada, Retention::For(short)).await?;
    world.pass(short).await;
    world.upkeep().await?;
    let late = repos.records.record(&order, &text("first")?, &ada, FOREVER).await?;
    ensure_eq!(late, Recorded::Fenced, "a late record of what upkeep deleted");
    let late = repos.leases.begin(&order, &ada, LONG, None).await?;
    ensure_eq!(late, Begun::Fenced, "a late begin of what upkeep deleted");
    let next = repos.record_new(&order, "second", &op("bob")?, FOREVER).await?;
    ensure!(next != version, "{version:?} was used again after upkeep");
    Ok(())
}

pub(in crate::dedup) async fn versions_never_repeat(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let order = id("order")?;
    let mut seen = BTreeSet::new();
    for number in 0..15 {
        let name = op(&format!("op-{number}"))?;
        let version = if number % 3 == 0 {
            let lease = repos.begin_new(&order, &name, LONG).await?;
            let _ = repos.leases.complete(&lease, &text("result")?, FOREVER).await?;
            repos.entry(&order).await?.version
        } else {
            repos.record_new(&order, "value", &name, FOREVER).await?
        };
        ensure!(seen.insert(version), "{version:?} was used again after a forget");
        let replaced = repos.records.replace(&order, version, &text("value")?, &name).await?;
        let next = ensure_matches!(replaced, Replaced::Replaced(version) => version, "replacing {version:?}");
        ensure!(seen.insert(next), "{next:?} was used again after a replace");
        let forgotten = repos.records.forget(&order, next).await?;
        ensure_eq!(forgotten, Forgotten::Forgotten, "forgetting {next:?}");
    }
    Ok(())
}

/// Late calls of an ended operation return `Fenced`, even if the operation was forgotten and has ended again.
pub(in crate::dedup) async fn an_operation_that_ended_anew_is_fenced_anew(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (order, job, ada) = (id("order")?, id("job")?, op("ada")?);
    for _ in 0..2 {
        if let Recorded::New(version) = repos.records.record(&order, &text("value")?, &ada, FOREVER).await? {
            ensure_eq!(repos.records.forget(&order, version).await?, Forgotten::Forgotten, "forgetting");
        }
        if let Begun::Started(lease) = repos.leases.begin(&job, &ada, LONG, None).await? {
            ensure_eq!(repos.leases.abort(&lease).await?, Aborted::Aborted, "aborting");
        }
        for upkeep in [false, true] {
            while upkeep && world.store().maintain(1_000).await?.more {}
            let late = repos.records.record(&order, &text("value")?, &ada, FOREVER).await?;
            ensure_eq!(late, Recorded::Fenced, "a late record, with upkeep: {upkeep}");
            let late = repos.leases.begin(&job, &ada, LONG, None).await?;
            ensure_eq!(late, Begun::Fenced, "a late begin, with upkeep: {upkeep}");
        }
        world.pass_memory().await;
        world.pass_memory().await;
    }
    Ok(())
}

/// A store answers calls of an ended operation with `Fenced` for at least the default retention.
pub(in crate::dedup) async fn fences_are_remembered_for_the_retention(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (order, job, ada) = (id("order")?, id("job")?, op("ada")?);
    let version = repos.record_new(&order, "first", &ada, FOREVER).await?;
    let _ = repos.records.forget(&order, version).await?;
    let lease = repos.begin_new(&job, &ada, LONG).await?;
    let _ = repos.leases.abort(&lease).await?;
    for number in 0..20 {
        let name = op(&format!("op-{number}"))?;
        let lease = repos.begin_new(&job, &name, LONG).await?;
        let _ = repos.leases.abort(&lease).await?;
        let version = repos.record_new(&order, "value", &name, FOREVER).await?;
        let _ = repos.records.forget(&order, version).await?;
    }
    if let (true, Retention::For(week)) = (world.can_travel(), Retention::DEFAULT) {
        world.pass(week - world.short()).await;
    }
    world.upkeep().await?;
    let late = repos.records.record(&order, &text("first")?, &ada, FOREVER).await?;
    ensure_eq!(late, Recorded::Fenced, "a late record after upkeep");
    ensure_eq!(repos.leases.begin(&job, &ada, LONG, None).await?, Begun::Fenced, "a late begin after upkeep");
    let next = repos.begin_new(&job, &op("bob")?, LONG).await?;
    ensure!(next.fence > lease.fence, "the fence {:?} after {:?}", next.fence, lease.fence);
    Ok(())
}

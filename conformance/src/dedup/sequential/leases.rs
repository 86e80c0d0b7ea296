//! Leases and their fences: D-5.

use storagebox_core::{
    Aborted, Begun, Completed, DedupRepo, Forgotten, Lease, LeaseExtended, LeaseRepo, Recorded, Replaced, Retention,
};

use crate::dedup::{LONG, Repos, id, op, text};
use crate::ends::before_its_end;
use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::World;

const FOREVER: Retention = Retention::Forever;

pub(in crate::dedup) async fn one_lease_at_a_time(world: &World) -> Verdict {
    let [here, there] = Repos::pair(world).await?;
    let (job, ada, bob) = (id("job")?, op("ada")?, op("bob")?);
    let lease = here.begin_new(&job, &ada, LONG).await?;
    for repos in [&here, &there] {
        let other = repos.leases.begin(&job, &bob, LONG, None).await?;
        ensure_matches!(
            other,
            Begun::InFlight { remaining } if remaining <= LONG && remaining > LONG / 2,
            "another's begin during a lease of {LONG:?}"
        );
        let same = repos.leases.begin(&job, &ada, LONG, None).await?;
        ensure_eq!(same, Begun::Started(lease.clone()), "the same op begins again");
    }
    here.ensure_value(&job, None).await?;
    let listed = here.records.list(None, 10).await?.entries;
    ensure!(listed.is_empty(), "a lease is listed as a record: {listed:?}");
    let elsewhere = there.begin_new(&id("another")?, &ada, LONG).await?;
    ensure_eq!(elsewhere.op, ada, "the same op on another id");
    Ok(())
}

pub(in crate::dedup) async fn beginning_again_does_not_extend(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, ada, bob, short) = (id("job")?, op("ada")?, op("bob")?, world.short());
    let lives = async {
        let lease = repos.begin_new(&job, &ada, short).await?;
        let same = repos.leases.begin(&job, &ada, LONG, None).await?;
        ensure_eq!(same, Begun::Started(lease), "the same op begins again, for longer");
        let other = repos.leases.begin(&job, &bob, LONG, None).await?;
        ensure_matches!(other, Begun::InFlight { remaining } if remaining <= short, "what is left of the lease");
        Ok(())
    };
    before_its_end(world, short, lives).await?;
    world.pass(short).await;
    repos.begin_new(&job, &bob, LONG).await?;
    Ok(())
}

pub(in crate::dedup) async fn a_lapsed_lease_is_begun_by_another(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, ada, bob, short) = (id("job")?, op("ada")?, op("bob")?, world.short());
    let first = repos.begin_new(&job, &ada, short).await?;
    world.pass(short).await;
    let second = repos.begin_new(&job, &bob, LONG).await?;
    ensure!(second.fence > first.fence, "the fence {:?} after {:?}", second.fence, first.fence);
    let late = repos.leases.begin(&job, &ada, LONG, None).await?;
    ensure_matches!(late, Begun::InFlight { .. }, "the first op begins again during the second's lease");
    let completed = repos.leases.complete(&second, &text("second")?, FOREVER).await?;
    ensure_matches!(completed, Completed::Completed(_), "the second lease completes");
    repos.ensure_value(&job, Some("second")).await
}

async fn ensure_fenced(repos: &Repos, lease: &Lease) -> Verdict {
    let extended = repos.leases.extend(lease, LONG).await?;
    ensure_eq!(extended, LeaseExtended::Fenced, "an older lease extends");
    let completed = repos.leases.complete(lease, &text("late")?, FOREVER).await?;
    ensure_eq!(completed, Completed::Fenced, "an older lease completes");
    ensure_eq!(repos.leases.abort(lease).await?, Aborted::Fenced, "an older lease aborts");
    Ok(())
}

pub(in crate::dedup) async fn an_overtaken_lease_is_fenced(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, ada, bob, short) = (id("job")?, op("ada")?, op("bob")?, world.short());
    let first = repos.begin_new(&job, &ada, short).await?;
    world.pass(short).await;
    let second = repos.begin_new(&job, &bob, LONG).await?;
    ensure_fenced(&repos, &first).await?;
    repos.ensure_value(&job, None).await?;
    let same = repos.leases.begin(&job, &bob, LONG, None).await?;
    ensure_eq!(same, Begun::Started(second.clone()), "the new lease after the old one's calls");
    let _ = repos.leases.complete(&second, &text("second")?, FOREVER).await?;
    ensure_fenced(&repos, &first).await?;
    repos.ensure_value(&job, Some("second")).await
}

pub(in crate::dedup) async fn a_lease_overtaken_by_a_record_is_fenced(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, ada, bob, short) = (id("job")?, op("ada")?, op("bob")?, world.short());
    let lease = repos.begin_new(&job, &ada, short).await?;
    let early = repos.records.record(&job, &text("second")?, &bob, FOREVER).await?;
    ensure_matches!(early, Recorded::InFlight { remaining } if remaining <= short, "a record during a lease");
    world.pass(short).await;
    repos.record_new(&job, "second", &bob, FOREVER).await?;
    ensure_fenced(&repos, &lease).await?;
    repos.ensure_value(&job, Some("second")).await?;
    let version = repos.entry(&job).await?.version;
    ensure_eq!(repos.records.forget(&job, version).await?, Forgotten::Forgotten, "forgetting the record");
    ensure_fenced(&repos, &lease).await?;
    repos.ensure_value(&job, None).await
}

pub(in crate::dedup) async fn the_same_op_after_its_lapse_has_a_new_lease(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, ada, short) = (id("job")?, op("ada")?, world.short());
    let first = repos.begin_new(&job, &ada, short).await?;
    world.pass(short).await;
    let second = repos.begin_new(&job, &ada, LONG).await?;
    ensure!(second.fence > first.fence, "the fence {:?} after {:?}", second.fence, first.fence);
    ensure_fenced(&repos, &first).await?;
    let other = repos.leases.begin(&job, &op("bob")?, LONG, None).await?;
    ensure_matches!(other, Begun::InFlight { .. }, "another's begin after the old lease's calls");
    let completed = repos.leases.complete(&second, &text("second")?, FOREVER).await?;
    ensure_matches!(completed, Completed::Completed(_), "the second lease completes");
    let late = repos.leases.complete(&first, &text("first")?, FOREVER).await?;
    ensure_eq!(late, Completed::Fenced, "the first lease completes after the second");
    repos.ensure_value(&job, Some("second")).await
}

pub(in crate::dedup) async fn a_lease_that_lapsed_unnoticed_still_works(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (ada, bob, short) = (op("ada")?, op("bob")?, world.short());
    let completing = repos.begin_new(&id("completing")?, &ada, short).await?;
    let extending = repos.begin_new(&id("extending")?, &ada, short).await?;
    let aborting = repos.begin_new(&id("aborting")?, &ada, short).await?;
    world.pass(short).await;
    repos.ensure_value(&completing.id, None).await?;
    let completed = repos.leases.complete(&completing, &text("result")?, FOREVER).await?;
    ensure_matches!(completed, Completed::Completed(_), "completing after an unnoticed lapse");
    repos.ensure_value(&completing.id, Some("result")).await?;
    let extended = repos.leases.extend(&extending, LONG).await?;
    ensure_eq!(extended, LeaseExtended::Extended, "extending after an unnoticed lapse");
    let other = repos.leases.begin(&extending.id, &bob, LONG, None).await?;
    ensure_matches!(other, Begun::InFlight { .. }, "another's begin when the lease lives again");
    ensure_eq!(repos.leases.abort(&aborting).await?, Aborted::Aborted, "aborting after an unnoticed lapse");
    let fenced = repos.leases.begin(&aborting.id, &ada, LONG, None).await?;
    ensure_eq!(fenced, Begun::Fenced, "the op that aborted then");
    Ok(())
}

pub(in crate::dedup) async fn extend_lasts_and_never_shortens(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, ada, bob, short) = (id("job")?, op("ada")?, op("bob")?, world.short());
    let lease = repos.begin_new(&job, &ada, short * 2).await?;
    let extend = async |duration| -> Verdict {
        let extended = repos.leases.extend(&lease, duration).await?;
        ensure_eq!(extended, LeaseExtended::Extended, "extending by {duration:?}");
        Ok(())
    };
    let ensure_in_flight = async |when: &str| -> Verdict {
        let other = repos.leases.begin(&job, &bob, LONG, None).await?;
        ensure_matches!(other, Begun::InFlight { .. }, "another's begin {when}");
        Ok(())
    };
    extend(short / 2).await?;
    world.pass(short).await;
    ensure_in_flight("after a shorter extension's time").await?;
    extend(short * 4).await?;
    world.pass(short * 2).await;
    ensure_in_flight("after the first lease's time").await?;
    let same = repos.leases.begin(&job, &ada, LONG, None).await?;
    ensure_eq!(same, Begun::Started(lease.clone()), "the extended lease");
    world.pass(short * 2).await;
    let next = repos.begin_new(&job, &bob, LONG).await?;
    ensure!(next.fence > lease.fence, "the fence {:?} after {:?}", next.fence, lease.fence);
    Ok(())
}

pub(in crate::dedup) async fn a_completed_lease_is_over(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, ada, bob) = (id("job")?, op("ada")?, op("bob")?);
    let lease = repos.begin_new(&job, &ada, LONG).await?;
    let completed = repos.leases.complete(&lease, &text("result")?, FOREVER).await?;
    let entry = ensure_matches!(completed, Completed::Completed(entry) => entry, "completing");
    ensure_eq!(entry, repos.entry(&job).await?, "what complete answers");
    repos.ensure_value(&job, Some("result")).await?;
    for op in [&ada, &bob] {
        let begun = repos.leases.begin(&job, op, LONG, None).await?;
        ensure_eq!(begun, Begun::Done(entry.clone()), "{op} begins what is done");
    }
    for _ in 0..2 {
        let again = repos.leases.complete(&lease, &text("other")?, FOREVER).await?;
        ensure_eq!(again, Completed::Again(entry.clone()), "completing again");
    }
    let extended = repos.leases.extend(&lease, LONG).await?;
    ensure_eq!(extended, LeaseExtended::Fenced, "extending a completed lease");
    ensure_eq!(repos.leases.abort(&lease).await?, Aborted::Fenced, "aborting a completed lease");
    let other = repos.records.record(&job, &text("other")?, &bob, FOREVER).await?;
    ensure_eq!(other, Recorded::Existing(entry.clone()), "recording what is done");
    ensure_eq!(repos.entry(&job).await?, entry, "the result after all that");
    Ok(())
}

pub(in crate::dedup) async fn a_completion_is_known_after_its_result_was_replaced(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, ada, bob) = (id("job")?, op("ada")?, op("bob")?);
    let lease = repos.begin_new(&job, &ada, LONG).await?;
    let _ = repos.leases.complete(&lease, &text("first")?, FOREVER).await?;
    for value in ["second", "third"] {
        let version = repos.entry(&job).await?.version;
        let replaced = repos.records.replace(&job, version, &text(value)?, &op(value)?).await?;
        ensure_matches!(replaced, Replaced::Replaced(_), "replacing by {value}");
        let entry = repos.entry(&job).await?;
        let again = repos.leases.complete(&lease, &text("first")?, FOREVER).await?;
        ensure_eq!(again, Completed::Again(entry.clone()), "completing again what is now {value}");
        for op in [&ada, &bob] {
            let begun = repos.leases.begin(&job, op, LONG, None).await?;
            ensure_eq!(begun, Begun::Done(entry.clone()), "{op} begins what is now {value}");
        }
    }
    repos.ensure_value(&job, Some("third")).await
}

/// Whatever ends a lease, the fence of the next lease is greater.
pub(in crate::dedup) async fn fences_only_grow(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, short) = (id("job")?, world.short());
    let mut last = None;
    for (number, end) in ["abort", "lapse", "forget", "expire", "abort", "forget"].into_iter().enumerate() {
        let lease = repos.begin_new(&job, &op(&format!("op-{number}"))?, short).await?;
        ensure!(last < Some(lease.fence), "the fence {:?} after {last:?} and before {end}", lease.fence);
        last = Some(lease.fence);
        if end == "abort" {
            let _ = repos.leases.abort(&lease).await?;
            continue;
        }
        if end != "lapse" {
            let _ = repos.leases.complete(&lease, &text(end)?, Retention::For(short)).await?;
        }
        if end == "forget" {
            let _ = repos.records.forget(&job, repos.entry(&job).await?.version).await?;
        } else {
            world.pass(short).await;
        }
    }
    Ok(())
}

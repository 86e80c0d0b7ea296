//! The fingerprint of a lapsed lease: D-6.

use storagebox_core::{Aborted, Begun, Completed, DedupRepo, Fingerprint, Lease, LeaseExtended, LeaseRepo, Retention};

use super::fingerprints::{begin, started};
use crate::dedup::{LONG, Repos, id, op, text};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::World;

/// Returns a lapsed lease of the operation `ada` with the fingerprint `ten`.
async fn lapsed(world: &World, repos: &Repos, name: &str) -> Result<Lease, Failure> {
    let (ten, short) = (Fingerprint::new("ten")?, world.short());
    let begun = repos.leases.begin(&id(name)?, &op("ada")?, short, Some(&ten)).await?;
    let lease = ensure_matches!(begun, Begun::Started(lease) => lease, "ada begins {name}");
    world.pass(short).await;
    Ok(lease)
}

/// After a lease has lapsed, only a request with the fingerprint of the lease may begin. A request with another
/// fingerprint gets `Mismatch`.
pub(in crate::dedup) async fn a_lapsed_lease_keeps_its_fingerprint(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let first = lapsed(world, &repos, "order").await?;
    for upkeep in [false, true] {
        if upkeep {
            world.upkeep().await?;
        }
        for who in ["ada", "bob"] {
            let begun = begin(&repos, "order", who, Some("eleven")).await?;
            ensure_eq!(begun, Begun::Mismatch, "another request of {who}, with upkeep: {upkeep}");
        }
    }
    let retry = started(&repos, "order", "bob", "ten").await?;
    ensure!(retry.fence > first.fence, "the fence {:?} after {:?}", retry.fence, first.fence);
    let completed = repos.leases.complete(&retry, &text("charged")?, Retention::Forever).await?;
    let entry = ensure_matches!(completed, Completed::Completed(entry) => entry, "the retry completes");
    ensure_eq!(begin(&repos, "order", "kim", Some("eleven")).await?, Begun::Mismatch, "another request");
    ensure_eq!(begin(&repos, "order", "kim", Some("ten")).await?, Begun::Done(entry), "the request again");
    Ok(())
}

pub(in crate::dedup) async fn a_successor_without_a_fingerprint_inherits(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    for who in ["ada", "bob"] {
        lapsed(world, &repos, who).await?;
        let begun = begin(&repos, who, who, None).await?;
        let lease = ensure_matches!(begun, Begun::Started(lease) => lease, "{who} begins without a fingerprint");
        ensure_eq!(begin(&repos, who, who, Some("eleven")).await?, Begun::Mismatch, "another request of {who}");
        ensure_eq!(begin(&repos, who, "kim", Some("eleven")).await?, Begun::Mismatch, "another request of kim");
        let same = begin(&repos, who, who, Some("ten")).await?;
        ensure_eq!(same, Begun::Started(lease.clone()), "{who} with the inherited fingerprint");
        let _ = repos.leases.complete(&lease, &text("result")?, Retention::Forever).await?;
        ensure_eq!(begin(&repos, who, "kim", Some("eleven")).await?, Begun::Mismatch, "after the result");
    }
    Ok(())
}

pub(in crate::dedup) async fn a_lapsed_lease_without_a_fingerprint_takes_any(world: &World) -> Verdict {
    let (repos, short) = (Repos::of(world.store())?, world.short());
    repos.begin_new(&id("job")?, &op("ada")?, short).await?;
    world.pass(short).await;
    let lease = started(&repos, "job", "bob", "ten").await?;
    ensure_eq!(begin(&repos, "job", "kim", Some("eleven")).await?, Begun::Mismatch, "another request");
    let _ = repos.leases.abort(&lease).await?;
    started(&repos, "job", "kim", "eleven").await?;
    Ok(())
}

/// After a lease is aborted, the id keeps the fingerprint of an earlier, lapsed lease.
pub(in crate::dedup) async fn an_abort_leaves_the_fingerprint_of_an_earlier_lapse(world: &World) -> Verdict {
    // The abort says only that the work of its own lease had no effect.
    let repos = Repos::of(world.store())?;
    for (name, who, asked) in [("a", "bob", Some("ten")), ("b", "bob", None), ("c", "ada", Some("ten"))] {
        lapsed(world, &repos, name).await?;
        let begun = begin(&repos, name, who, asked).await?;
        let second = ensure_matches!(begun, Begun::Started(lease) => lease, "{who} takes over {name}");
        ensure_eq!(repos.leases.abort(&second).await?, Aborted::Aborted, "{who} aborts {name}");
        ensure_eq!(repos.leases.abort(&second).await?, Aborted::Aborted, "{who} aborts {name} again");
        for upkeep in [false, true] {
            if upkeep {
                world.upkeep().await?;
            }
            ensure_eq!(begin(&repos, name, "kim", Some("eleven")).await?, Begun::Mismatch, "kim, {name}, {upkeep}");
            ensure_eq!(begin(&repos, name, who, Some("ten")).await?, Begun::Fenced, "{who}, {name}, {upkeep}");
            let late = repos.leases.complete(&second, &text("late")?, Retention::Forever).await?;
            ensure_eq!(late, Completed::Fenced, "a late complete of {who}, {name}, {upkeep}");
            let late = repos.leases.extend(&second, LONG).await?;
            ensure_eq!(late, LeaseExtended::Fenced, "a late extend of {who}, {name}, {upkeep}");
        }
        let third = started(&repos, name, "joe", "ten").await?;
        ensure!(third.fence > second.fence, "the fence {:?} after {:?}", third.fence, second.fence);
        let _ = repos.leases.abort(&third).await?;
        ensure_eq!(begin(&repos, name, "kim", Some("eleven")).await?, Begun::Mismatch, "after a second abort");
    }
    Ok(())
}

/// After the owner of a lapsed lease aborts the lease, a request with another fingerprint may begin.
pub(in crate::dedup) async fn an_abort_of_the_lapsed_lease_itself_frees_the_id(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let lease = lapsed(world, &repos, "job").await?;
    ensure_eq!(repos.leases.abort(&lease).await?, Aborted::Aborted, "a late abort of ada");
    started(&repos, "job", "bob", "eleven").await?;
    Ok(())
}

/// After a value is recorded for an id with a lapsed lease, every later caller gets this value.
pub(in crate::dedup) async fn a_record_settles_a_lapsed_lease(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    for (name, aborts) in [("job", false), ("aborted", true)] {
        lapsed(world, &repos, name).await?;
        if aborts {
            let second = started(&repos, name, "bob", "ten").await?;
            let _ = repos.leases.abort(&second).await?;
        }
        repos.record_new(&id(name)?, "by hand", &op("eve")?, Retention::Forever).await?;
        let entry = repos.entry(&id(name)?).await?;
        ensure_eq!(begin(&repos, name, "kim", Some("eleven")).await?, Begun::Done(entry.clone()), "after a record");
        let _ = repos.records.forget(&id(name)?, entry.version).await?;
        started(&repos, name, "joe", "eleven").await?;
    }
    Ok(())
}

/// An id forgets the fingerprint of a lapsed lease after the same time as an ended operation, even without upkeep.
pub(in crate::dedup) async fn a_lapsed_fingerprint_is_forgotten_with_operations(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    for (number, upkeep) in [false, true].into_iter().enumerate() {
        let (job, aborted) = (format!("job-{number}"), format!("aborted-{number}"));
        lapsed(world, &repos, &aborted).await?;
        let second = started(&repos, &aborted, "bob", "ten").await?;
        let _ = repos.leases.abort(&second).await?;
        lapsed(world, &repos, &job).await?;
        world.pass_memory().await;
        if upkeep {
            world.upkeep().await?;
        }
        for name in [&job, &aborted] {
            let lease = started(&repos, name, "kim", "eleven").await?;
            ensure_eq!(begin(&repos, name, "joe", Some("ten")).await?, Begun::Mismatch, "{name}, the older request");
            let _ = repos.leases.abort(&lease).await?;
            started(&repos, name, "joe", "twelve").await?;
        }
    }
    Ok(())
}

pub(in crate::dedup) async fn a_lapsed_fingerprint_lasts_as_long_as_operations(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    lapsed(world, &repos, "aborted").await?;
    let second = started(&repos, "aborted", "bob", "ten").await?;
    let _ = repos.leases.abort(&second).await?;
    lapsed(world, &repos, "job").await?;
    if let (true, Retention::For(week)) = (world.can_travel(), Retention::DEFAULT) {
        world.pass(week - 3 * world.short()).await;
    }
    for upkeep in [false, true] {
        if upkeep {
            world.upkeep().await?;
        }
        for name in ["job", "aborted"] {
            let begun = begin(&repos, name, "kim", Some("eleven")).await?;
            ensure_eq!(begun, Begun::Mismatch, "another request of {name}, with upkeep: {upkeep}");
        }
    }
    Ok(())
}

//! When leases, records and results end, and how a faulty clock affects them.

use std::time::Duration;

use storagebox_core::{Begun, Completed, Recorded, Retention, async_trait};

use super::super::{LONG, Repos, id, op, text};
use crate::ends::{Ending, ensure_ends_in_time};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::lasting::{Lasting, MEMORY, ensure_lasts};
use crate::world::World;

/// Repositories whose leases are tested.
struct Leases(Repos);

#[async_trait]
impl Ending for Leases {
    async fn begin(&self, name: &str, lasts: Duration) -> Verdict {
        self.0.begin_new(&id(name)?, &op("ada")?, lasts).await?;
        Ok(())
    }

    /// Tries to record a value, because `InFlight` contains the remaining time of the lease.
    async fn left(&self, name: &str) -> Result<Option<Option<Duration>>, Failure> {
        let recorded = self.0.records.record(&id(name)?, &text("late")?, &op("bob")?, Retention::Forever).await?;
        Ok(match recorded {
            Recorded::InFlight { remaining } => Some(Some(remaining)),
            _ => None,
        })
    }
}

/// Repositories whose expiring records are tested, and whether the records are results of leases.
struct Kept(Repos, bool);

#[async_trait]
impl Ending for Kept {
    async fn begin(&self, name: &str, lasts: Duration) -> Verdict {
        let Self(repos, is_result) = self;
        if *is_result {
            let lease = repos.begin_new(&id(name)?, &op("ada")?, LONG).await?;
            let _ = repos.leases.complete(&lease, &text("value")?, Retention::For(lasts)).await?;
        } else {
            repos.record_new(&id(name)?, "value", &op("ada")?, Retention::For(lasts)).await?;
        }
        Ok(())
    }

    async fn left(&self, name: &str) -> Result<Option<Option<Duration>>, Failure> {
        let (records, id) = (&self.0.records, id(name)?);
        let listed = records.list(None, 100).await?.entries;
        let found = records.get(&id).await?;
        if found.is_some() && !listed.iter().any(|listed| listed.id == id) {
            return Err(Failure::new(format!("the listing ends {id} before its time")));
        }
        Ok(found.map(|_| None))
    }
}

pub(in crate::dedup) async fn a_lease_ends_at_its_time_and_not_before(world: &World) -> Verdict {
    ensure_ends_in_time(world, &Leases(Repos::of(world.store())?)).await
}

pub(in crate::dedup) async fn a_record_ends_at_its_time_and_not_before(world: &World) -> Verdict {
    ensure_ends_in_time(world, &Kept(Repos::of(world.store())?, false)).await
}

pub(in crate::dedup) async fn a_result_ends_at_its_time_and_not_before(world: &World) -> Verdict {
    ensure_ends_in_time(world, &Kept(Repos::of(world.store())?, true)).await
}

/// Repositories whose ended operations are tested.
struct Ended(Repos);

#[async_trait]
impl Lasting for Ended {
    async fn end(&self, name: &str) -> Verdict {
        let Self(repos) = self;
        let lease = repos.begin_new(&id(name)?, &op("aborted")?, LONG).await?;
        let _ = repos.leases.abort(&lease).await?;
        let version = repos.record_new(&id(name)?, "value", &op("forgotten")?, Retention::Forever).await?;
        let _ = repos.records.forget(&id(name)?, version).await?;
        Ok(())
    }

    async fn is_known(&self, name: &str) -> Result<bool, Failure> {
        let Self(repos) = self;
        let aborted = repos.leases.begin(&id(name)?, &op("aborted")?, LONG, None).await?;
        let forgotten = repos.records.record(&id(name)?, &text("late")?, &op("forgotten")?, Retention::Forever).await?;
        Ok(aborted == Begun::Fenced && forgotten == Recorded::Fenced)
    }
}

pub(in crate::dedup) async fn an_end_is_remembered_to_the_end_of_the_retention(world: &World) -> Verdict {
    ensure_lasts(world, &Ended(Repos::of(world.store())?), MEMORY).await
}

pub(in crate::dedup) async fn an_extended_lease_counts_from_now(world: &World) -> Verdict {
    let (repos, job, short) = (Repos::of(world.store())?, id("job")?, world.short());
    let lease = repos.begin_new(&job, &op("ada")?, short * 2).await?;
    let _ = repos.leases.extend(&lease, short * 3).await?;
    let begun = repos.leases.begin(&job, &op("bob")?, LONG, None).await?;
    ensure_matches!(begun, Begun::InFlight { remaining } if remaining <= short * 3, "what is left of the lease");
    world.pass(short * 3).await;
    let next = repos.begin_new(&job, &op("bob")?, LONG).await?;
    ensure!(next.fence > lease.fence, "the fence {:?} after {:?}", next.fence, lease.fence);
    Ok(())
}

pub(in crate::dedup) async fn a_result_of_a_lapsed_lease_is_kept_from_its_completion(world: &World) -> Verdict {
    let (repos, job, short) = (Repos::of(world.store())?, id("job")?, world.short());
    let lease = repos.begin_new(&job, &op("ada")?, short).await?;
    world.pass(short * 4).await;
    let completed = repos.leases.complete(&lease, &text("result")?, Retention::For(short * 3)).await?;
    ensure_matches!(completed, Completed::Completed(_), "completing a lease that lapsed unnoticed");
    repos.ensure_value(&job, Some("result")).await?;
    world.pass(short).await;
    repos.ensure_value(&job, Some("result")).await?;
    world.pass(short * 3).await;
    repos.ensure_value(&job, None).await
}

pub(in crate::dedup) async fn a_clock_that_is_set_back_gives_no_lease_twice(world: &World) -> Verdict {
    let (repos, job, short) = (Repos::of(world.store())?, id("job")?, world.short());
    let lapsed = repos.begin_new(&job, &op("ada")?, short).await?;
    repos.record_new(&id("brief")?, "first", &op("ada")?, Retention::For(short)).await?;
    world.pass(short * 3).await;
    let lease = repos.begin_new(&job, &op("bob")?, LONG).await?;
    repos.record_new(&id("brief")?, "second", &op("bob")?, Retention::Forever).await?;
    world.clock()?.turn_back(short * 3);
    world.store().setup().await?;
    let late = repos.leases.complete(&lapsed, &text("late")?, Retention::Forever).await?;
    ensure_eq!(late, Completed::Fenced, "completing a lease that was taken over, when the clock was set back");
    let begun = repos.leases.begin(&job, &op("eve")?, LONG, None).await?;
    ensure_matches!(begun, Begun::InFlight { .. }, "another begin");
    repos.ensure_value(&id("brief")?, Some("second")).await?;
    let completed = repos.leases.complete(&lease, &text("result")?, Retention::Forever).await?;
    ensure_matches!(completed, Completed::Completed(_), "completing the lease that lives");
    repos.ensure_value(&job, Some("result")).await
}

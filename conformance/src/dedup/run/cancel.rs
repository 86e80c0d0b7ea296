//! Dropped runs.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Begun, DedupId, Fence, LeaseRepo, OpId, Ran, run_to_end};
use tokio::sync::Notify;

use super::timer::StoreTimer;
use super::{Tally, lease, options, run_well};
use crate::dedup::{LONG, Repos, id, op, text};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Link, drop_after};
use crate::world::World;

/// Drops a run during its work, and returns the fence of the run's lease.
async fn dropped(world: &World, repos: &Repos, job: &DedupId, who: &OpId) -> Result<Fence, Failure> {
    let (timer, begun) = (StoreTimer::of(world), Notify::new());
    let options = options(world).take_up(who.clone());
    let run = run_well(repos, &timer, job, &options, async |_| {
        begun.notify_one();
        pending().await
    });
    tokio::select! {
        ran = run => return Err(Failure::new(format!("a run ended although its work never ends: {ran:?}"))),
        () = begun.notified() => {}
    }
    let begun = repos.leases.begin(job, who, LONG, None).await?;
    Ok(ensure_matches!(begun, Begun::Started(lease) => lease.fence, "the lease of a dropped run"))
}

pub(in crate::dedup) async fn a_dropped_run_leaves_a_lease_that_lapses(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (timer, tally, ada) = (StoreTimer::of(world), Tally::default(), op("ada")?);
    let (mine, anothers) = (id("mine")?, id("anothers")?);
    let fence = dropped(world, &repos, &mine, &ada).await?;
    let own = options(world).take_up(ada.clone());
    let ran = run_well(&repos, &timer, &mine, &own, |given| {
        let (tally, same) = (&tally, given == fence);
        async move {
            ensure!(same, "the fence {given:?} after {fence:?}, for the same op");
            tally.work("mine").await
        }
    })
    .await?;
    ensure_eq!(ran, Ran::Done(text("mine")?), "a run by the same op at once");

    dropped(world, &repos, &anothers, &ada).await?;
    let early = run_well(&repos, &timer, &anothers, &options(world), |_| tally.work("early")).await?;
    ensure_matches!(early, Ran::InFlight { .. }, "another's run before the lapse");
    world.pass(lease(world)).await;
    let mut ran = run_well(&repos, &timer, &anothers, &options(world), |_| tally.work("late")).await?;
    if matches!(ran, Ran::InFlight { .. }) {
        // A run with `take_up` extends its lease at once. That call of the dropped run was still in flight.
        world.pass(lease(world)).await;
        ran = run_well(&repos, &timer, &anothers, &options(world), |_| tally.work("late")).await?;
    }
    ensure_eq!(ran, Ran::Done(text("late")?), "another's run after the lapse");
    ensure_eq!(tally.begun(), 2, "how often the work was done");
    Ok(())
}

pub(in crate::dedup) async fn dropping_a_run_anywhere_records_one_result(world: &World) -> Verdict {
    let mut point = 0;
    while drop_run_at(world, point).await.map_err(|failure| failure.during(format!("point {point}")))? {
        point += 1;
    }
    ensure!(point >= 5, "a run was dropped at only {point} points");
    Ok(())
}

/// Drops a run at this await point, and checks that the next run returns the result. Returns whether a run was dropped.
async fn drop_run_at(world: &World, point: usize) -> Result<bool, Failure> {
    let world = world.another().await?;
    let old = Repos::of(world.store())?;
    let (job, timer, tally) = (id("job")?, StoreTimer::of(&world), Tally::default());
    let own = options(&world).take_up(op("ada")?);
    let work = async |_| {
        tokio::task::yield_now().await;
        tally.work("result").await
    };
    let ran = drop_after(run_well(&old.behind(&Link::gated()), &timer, &job, &own, work), point).await;
    let was_dropped = ran.is_none();
    if let Some(ran) = ran {
        ensure_eq!(ran?, Ran::Done(text("result")?), "a run that was not dropped");
    }

    let fresh = Repos::of(&world.client().await?)?;
    let next = run_well(&fresh, &timer, &job, &own, |_| tally.work("result")).await?;
    match next {
        Ran::Done(_) => ensure!(was_dropped, "a second run repeated finished work"),
        other => ensure_eq!(other, Ran::Replayed(text("result")?), "the next run"),
    }
    ensure!((1..=2).contains(&tally.begun()), "the work was done {} times", tally.begun());
    let other = run_well(&fresh, &timer, &job, &options(&world), |_| tally.work("x")).await?;
    ensure_eq!(other, Ran::Replayed(text("result")?), "another's run");
    let elsewhere = run_well(&old, &timer, &id("unrelated")?, &own, |_| tally.work("x")).await?;
    ensure_eq!(elsewhere, Ran::Done(text("x")?), "an unrelated run by the old client");
    Ok(was_dropped)
}

/// `run_to_end` finishes its work after its caller has gone, for example a web client that closes its connection.
pub(in crate::dedup) async fn a_run_to_its_end_outlives_its_caller(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, timer, tally) = (id("job")?, StoreTimer::of(world), Tally::default());
    let (begun, may_end) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begins, ends, count) = (Arc::clone(&begun), Arc::clone(&may_end), tally.clone());
    let work = async move |_| {
        begins.notify_one();
        ends.notified().await;
        count.work("result").await
    };
    let (leases, own) = (Arc::clone(&repos.leases), options(world));
    let running = run_to_end(leases, Arc::clone(&timer), tokio::spawn, &job, &own, work);
    tokio::select! {
        ran = running => return Err(Failure::new(format!("a run ended although its work may not end: {ran:?}"))),
        () = begun.notified() => {}
    }
    may_end.notify_one();
    let waiting = options(world).wait(LONG);
    let next = run_well(&repos, &timer, &job, &waiting, |_| tally.work("second"));
    let ran = timer.pass_while(Duration::from_millis(1), 1, next).await?;
    ensure_eq!(ran, Ran::Replayed(text("result")?), "the next run");
    ensure_eq!(tally.begun(), 1, "how often the work was done");
    Ok(())
}

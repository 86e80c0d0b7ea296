//! One run after another.

use std::iter::repeat_n;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Begun, Completed, DedupRepo, ErrorKind, Fingerprint, LeaseRepo, Payload, Ran, Recorded, Retention, RunError, run,
};

use super::timer::StoreTimer;
use super::{Tally, lease, options, run_well};
use crate::dedup::{LONG, Repos, id, op, text};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::race::answered;
use crate::world::World;

/// The shortest time that a waiting run pauses between two checks.
const A_LOOK: Duration = Duration::from_millis(100);

pub(in crate::dedup) async fn the_first_result_is_replayed(world: &World) -> Verdict {
    let clients = Repos::pair(world).await?;
    let (job, timer, tally) = (id("job")?, StoreTimer::of(world), Tally::default());
    let own = options(world).take_up(op("ada")?);
    let first = run_well(&clients[0], &timer, &job, &own, |_| tally.work("first")).await?;
    ensure_eq!(first, Ran::Done(text("first")?), "the first run");
    clients[0].ensure_value(&job, Some("first")).await?;
    for repos in &clients {
        for options in [&options(world), &own] {
            let again = run_well(repos, &timer, &job, options, |_| tally.work("again")).await?;
            ensure_eq!(again, Ran::Replayed(text("first")?), "another run");
        }
    }
    ensure_eq!(tally.begun(), 1, "how often the work was done");
    let elsewhere = run_well(&clients[1], &timer, &id("another")?, &own, |_| tally.work("second")).await?;
    ensure_eq!(elsewhere, Ran::Done(text("second")?), "the run of another id");
    Ok(())
}

pub(in crate::dedup) async fn a_record_made_otherwise_is_replayed(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, timer, tally) = (id("job")?, StoreTimer::of(world), Tally::default());
    let version = repos.record_new(&job, "recorded", &op("ada")?, Retention::Forever).await?;
    let ran = run_well(&repos, &timer, &job, &options(world), |_| tally.work("x")).await?;
    ensure_eq!(ran, Ran::Replayed(text("recorded")?), "a run of what is recorded");
    let _ = repos.records.replace(&job, version, &text("replaced")?, &op("bob")?).await?;
    let ran = run_well(&repos, &timer, &job, &options(world), |_| tally.work("x")).await?;
    ensure_eq!(ran, Ran::Replayed(text("replaced")?), "a run of what was replaced");
    ensure_eq!(tally.begun(), 0, "how often the work was done");
    let _ = repos.records.forget(&job, repos.entry(&job).await?.version).await?;
    let ran = run_well(&repos, &timer, &job, &options(world), |_| tally.work("anew")).await?;
    ensure_eq!(ran, Ran::Done(text("anew")?), "a run of what was forgotten");
    Ok(())
}

pub(in crate::dedup) async fn anothers_lease_is_in_flight(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, timer, tally) = (id("job")?, StoreTimer::of(world), Tally::default());
    let other = repos.begin_new(&job, &op("bob")?, LONG).await?;
    let ran = run_well(&repos, &timer, &job, &options(world), |_| tally.work("x")).await?;
    ensure_matches!(ran, Ran::InFlight { remaining } if remaining <= LONG, "a run during another's lease");
    let _ = repos.leases.complete(&other, &text("other")?, Retention::Forever).await?;
    let ran = run_well(&repos, &timer, &job, &options(world), |_| tally.work("x")).await?;
    ensure_eq!(ran, Ran::Replayed(text("other")?), "a run after another completed");
    ensure_eq!(tally.begun(), 0, "how often the work was done");
    Ok(())
}

/// While a run holds the lease, every call of `record` returns `InFlight`, even with the operation id of the run. After
/// the run, the id has the result of the run.
pub(in crate::dedup) async fn a_record_during_a_lease_is_in_flight(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, timer, ada, bob) = (id("job")?, StoreTimer::of(world), op("ada")?, op("bob")?);
    let work = |_| async {
        // The heartbeat makes calls at the same time.
        let other = text("other")?;
        for who in [&bob, &ada] {
            let record = answered(|| repos.records.record(&job, &other, who, Retention::Forever)).await?;
            let most = lease(world);
            let in_flight = matches!(record, Recorded::InFlight { remaining } if remaining <= most);
            ensure!(in_flight, "{who} records during the work of {ada}: {record:?}");
        }
        repos.ensure_value(&job, None).await?;
        let listed = answered(|| repos.records.list(None, 10)).await?.entries;
        ensure!(listed.is_empty(), "a record is listed during the work: {listed:?}");
        text("result")
    };
    let ran = run_well(&repos, &timer, &job, &options(world).take_up(ada.clone()), work).await?;
    ensure_eq!(ran, Ran::Done(text("result")?), "the run");
    let other = repos.records.record(&job, &text("other")?, &bob, Retention::Forever).await?;
    ensure_eq!(other, Recorded::Existing(repos.entry(&job).await?), "the same record after the work");
    repos.ensure_value(&job, Some("result")).await
}

pub(in crate::dedup) async fn waiting_ends_with_the_deadline(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, timer, tally) = (id("job")?, StoreTimer::of(world), Tally::default());
    repos.begin_new(&job, &op("bob")?, LONG).await?;
    let (deadline, begun) = (world.short(), storagebox_core::Timer::now(&*timer));
    let options = options(world).wait(deadline);
    let run = run_well(&repos, &timer, &job, &options, |_| tally.work("x"));
    let ran = timer.pass_while(A_LOOK, 1, run).await?;
    ensure_matches!(ran, Ran::InFlight { .. }, "a run that waited in vain");
    let waited = storagebox_core::Timer::now(&*timer) - begun;
    ensure!(waited >= deadline, "the run waited for {waited:?} instead of {deadline:?}");
    ensure_eq!(tally.begun(), 0, "how often the work was done");
    Ok(())
}

pub(in crate::dedup) async fn a_waiter_takes_over_a_lapsed_lease(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, timer, tally) = (id("job")?, StoreTimer::of(world), Tally::default());
    let other = repos.begin_new(&job, &op("bob")?, world.short()).await?;
    let options = options(world).wait(LONG);
    let run = run_well(&repos, &timer, &job, &options, |fence| {
        let (tally, grown) = (&tally, fence > other.fence);
        async move {
            ensure!(grown, "the fence {fence:?} is not greater than the older fence");
            tally.work("result").await
        }
    });
    let ran = timer.pass_while(A_LOOK, 1, run).await?;
    ensure_eq!(ran, Ran::Done(text("result")?), "a run that waited for a lease that lapsed");
    ensure_eq!(tally.begun(), 1, "how often the work was done");
    let late = repos.leases.complete(&other, &text("late")?, Retention::Forever).await?;
    ensure_eq!(late, Completed::Fenced, "the lapsed lease completes");
    repos.ensure_value(&job, Some("result")).await
}

pub(in crate::dedup) async fn long_work_keeps_its_lease(world: &World) -> Verdict {
    let [repos, there] = Repos::pair(world).await?;
    let (job, timer, bob) = (id("job")?, StoreTimer::of(world), op("bob")?);
    let work = |_| async {
        for _ in 0..6 {
            timer.pass(lease(world) / 4, 1).await;
            let other = there.leases.begin(&job, &bob, LONG, None).await?;
            let left = ensure_matches!(other, Begun::InFlight { remaining } => remaining, "another's begin");
            // On a real clock a busy machine may delay the heartbeat. A clock that the suite moves waits for the
            // heartbeat.
            let in_time = !world.can_travel() || left >= lease(world) / 2;
            ensure!(in_time, "only {left:?} of the lease were left during the work");
        }
        text("result")
    };
    let ran = run_well(&repos, &timer, &job, &options(world), work).await?;
    ensure_eq!(ran, Ran::Done(text("result")?), "the run");
    there.ensure_value(&job, Some("result")).await
}

/// Returns a link that delivers the first request, the begin of a lease, and loses all later requests, such as
/// heartbeats, until the link is healed.
fn losing_touch() -> Arc<Link> {
    Link::script([Fate::Delivered].into_iter().chain(repeat_n(Fate::RequestLost, 1_000)))
}

pub(in crate::dedup) async fn fenced_work_is_dropped(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, timer, tally, bob) = (id("job")?, StoreTimer::of(world), Tally::default(), op("bob")?);
    let link = losing_touch();
    let work = async |fence| -> Result<_, Failure> {
        tally.begin();
        timer.pass(lease(world), 1).await;
        let other = repos.begin_new(&job, &bob, LONG).await?;
        ensure!(other.fence > fence, "the fence {:?} after {fence:?}", other.fence);
        link.heal();
        timer.pass(lease(world) * 2, 1).await;
        tally.end();
        text("late")
    };
    let ran = run_well(&repos.behind(&link), &timer, &job, &options(world), work).await?;
    ensure_eq!(ran, Ran::Fenced, "a run whose lease is another's");
    ensure_eq!((tally.begun(), tally.ended()), (1, 0), "how often the work was begun, and brought to its end");
    repos.ensure_value(&job, None).await?;
    let same = repos.leases.begin(&job, &bob, LONG, None).await?;
    let lease = ensure_matches!(same, Begun::Started(lease) => lease, "the other's lease after that");
    let completed = repos.leases.complete(&lease, &text("other")?, Retention::Forever).await?;
    ensure_matches!(completed, Completed::Completed(_), "the other completes");
    Ok(())
}

pub(in crate::dedup) async fn fenced_work_records_nothing(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    for other_is_done in [false, true] {
        let (job, timer, bob) = (id(&format!("job-{other_is_done}"))?, StoreTimer::of(world), op("bob")?);
        let link = losing_touch();
        let work = async |_| -> Result<_, Failure> {
            timer.pass(lease(world), 1).await;
            let other = repos.begin_new(&job, &bob, LONG).await?;
            if other_is_done {
                let _ = repos.leases.complete(&other, &text("other")?, Retention::Forever).await?;
            }
            link.heal();
            text("late")
        };
        let ran = run_well(&repos.behind(&link), &timer, &job, &options(world), work).await?;
        ensure_eq!(ran, Ran::Fenced, "a run whose lease became another's unnoticed");
        repos.ensure_value(&job, other_is_done.then_some("other")).await?;
    }
    Ok(())
}

pub(in crate::dedup) async fn bad_options_are_refused(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, timer, tally) = (id("job")?, StoreTimer::of(world), Tally::default());
    let bad = [
        options(world).lease(Duration::ZERO),
        options(world).lease(Duration::MAX),
        options(world).retention(Retention::For(Duration::ZERO)),
        options(world).retention(Retention::For(Duration::MAX)),
    ];
    for options in bad {
        let ran = run(&*repos.leases, &*timer, &job, &options, |_| tally.work("x")).await;
        let error = ensure_matches!(ran, Err(RunError::Store(error)) => error, "a run with {options:?}");
        ensure_eq!(error.kind(), ErrorKind::InvalidInput, "the kind of {error}");
    }
    ensure_eq!(tally.begun(), 0, "how often the work was done");
    repos.begin_new(&job, &op("bob")?, LONG).await?;
    Ok(())
}

pub(in crate::dedup) async fn another_fingerprint_does_not_run(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, timer, tally) = (id("job")?, StoreTimer::of(world), Tally::default());
    let asking = |text: &str| Ok::<_, Failure>(options(world).fingerprint(Fingerprint::new(text)?));
    let (ten, eleven) = (asking("ten")?, asking("eleven")?);
    let work = async |_| -> Result<_, Failure> {
        let ran = run_well(&repos, &timer, &job, &eleven, |_| tally.work("eleven")).await?;
        ensure_eq!(ran, Ran::Mismatch, "a run with another fingerprint during the work");
        text("ten")
    };
    let ran = run_well(&repos, &timer, &job, &ten, work).await?;
    ensure_eq!(ran, Ran::Done(text("ten")?), "the first run");
    let ran = run_well(&repos, &timer, &job, &eleven, |_| tally.work("eleven")).await?;
    ensure_eq!(ran, Ran::Mismatch, "a run with another fingerprint");
    for same in [&ten, &options(world)] {
        let ran = run_well(&repos, &timer, &job, same, |_| tally.work("x")).await?;
        ensure_eq!(ran, Ran::Replayed(text("ten")?), "a run with the same fingerprint, or none");
    }
    ensure_eq!(tally.begun(), 0, "how often other work was done");
    Ok(())
}

/// After a run is killed, a retry with the same fingerprint does the work. A request with another fingerprint always
/// returns `Mismatch`.
pub(in crate::dedup) async fn a_killed_run_is_resumed_by_its_own_request(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, timer, tally) = (id("order")?, StoreTimer::of(world), Tally::default());
    let asking = |text: &str| Ok::<_, Failure>(options(world).fingerprint(Fingerprint::new(text)?));
    let (ten, eleven) = (asking("ten")?, asking("eleven")?);
    let killed = repos.leases.begin(&job, &op("killed")?, world.short(), Some(&Fingerprint::new("ten")?)).await?;
    ensure_matches!(killed, Begun::Started(_), "the run that is killed");
    world.pass(world.short()).await;
    let ran = run_well(&repos, &timer, &job, &eleven, |_| tally.work("sold out")).await?;
    ensure_eq!(ran, Ran::Mismatch, "another request");
    let ran = run_well(&repos, &timer, &job, &ten, |_| tally.work("charged")).await?;
    ensure_eq!(ran, Ran::Done(text("charged")?), "the retry");
    let ran = run_well(&repos, &timer, &job, &eleven, |_| tally.work("sold out")).await?;
    ensure_eq!(ran, Ran::Mismatch, "another request after the result");
    let ran = run_well(&repos, &timer, &job, &ten, |_| tally.work("charged")).await?;
    ensure_eq!(ran, Ran::Replayed(text("charged")?), "the retry again");
    ensure_eq!(tally.begun(), 1, "how often the work was done");
    Ok(())
}

pub(in crate::dedup) async fn a_failure_is_not_remembered(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, timer, tally) = (id("job")?, StoreTimer::of(world), Tally::default());
    for number in 0..3 {
        let ran = run(&*repos.leases, &*timer, &job, &options(world), |_| async {
            tally.begin();
            Err::<Payload, _>(number)
        })
        .await;
        ensure_matches!(ran, Err(RunError::Work(found)) if found == number, "a run whose work fails");
        repos.ensure_value(&job, None).await?;
    }
    ensure_eq!(tally.begun(), 3, "how often failing work was done");
    ensure!(repos.records.list(None, 10).await?.entries.is_empty(), "a failure is listed");
    let ran = run_well(&repos, &timer, &job, &options(world), |_| tally.work("result")).await?;
    ensure_eq!(ran, Ran::Done(text("result")?), "the run after failures");
    Ok(())
}

//! Many concurrent runs of one id.

use std::sync::Arc;

use storagebox_core::{Fingerprint, Payload, Ran, RunError, run};

use super::timer::StoreTimer;
use super::{Tally, lease, options, run_well};
use crate::dedup::{LONG, Repos, id, text};
use crate::failure::{Failure, Verdict, ensure_eq, ensure_matches};
use crate::race::{SIZES, race};
use crate::world::World;

/// Returns the result of the only run that did the work.
fn the_one_result(answers: &[Ran]) -> Result<Payload, Failure> {
    let mut results: Vec<_> = answers
        .iter()
        .filter_map(|ran| match ran {
            Ran::Done(result) => Some(result.clone()),
            _ => None,
        })
        .collect();
    ensure_eq!(results.len(), 1, "runs of {} that did the work: {answers:?}", answers.len());
    Ok(results.remove(0))
}

pub(in crate::dedup) async fn racing_runs_work_once(world: &World) -> Verdict {
    let (clients, timer) = (Repos::pair(world).await?, StoreTimer::of(world));
    for round in 0..world.profile().rounds {
        for size in SIZES {
            let (job, tally) = (id(&format!("job-{round}-{size}"))?, Tally::default());
            let answers = race(size, |number| {
                let (job, options, tally) = (job.clone(), options(world), tally.clone());
                let (repos, timer) = (clients[number % 2].clone(), Arc::clone(&timer));
                async move {
                    let work = async |_| {
                        tokio::task::yield_now().await;
                        tally.work(&format!("caller-{number}")).await
                    };
                    run_well(&repos, &timer, &job, &options, work).await
                }
            })
            .await?;
            let result = the_one_result(&answers)?;
            for ran in answers {
                match ran {
                    Ran::Done(seen) | Ran::Replayed(seen) => ensure_eq!(seen, result, "the result of a run"),
                    other => ensure_matches!(other, Ran::InFlight { .. }, "what a run was answered"),
                }
            }
            ensure_eq!(tally.begun(), 1, "how often the work of {size} runs was done");
            let late = run_well(&clients[0], &timer, &job, &options(world), |_| tally.work("late")).await?;
            ensure_eq!(late, Ran::Replayed(result), "a later run");
        }
    }
    Ok(())
}

/// If two copies of a request run at once, one copy does the work, and the other copy returns `InFlight`.
pub(in crate::dedup) async fn the_same_request_twice_works_once(world: &World) -> Verdict {
    let [here, there] = Repos::pair(world).await?;
    let (job, timer, tally) = (id("job")?, StoreTimer::of(world), Tally::default());
    let request = options(world).fingerprint(Fingerprint::new("ten euros")?);
    let work = async |_| {
        let second = run_well(&there, &timer, &job, &request, |_| tally.work("second")).await?;
        ensure_matches!(second, Ran::InFlight { .. }, "the second while the first is at work");
        tally.work("first").await
    };
    let first = run_well(&here, &timer, &job, &request, work).await?;
    ensure_eq!(first, Ran::Done(text("first")?), "the first");
    let third = run_well(&there, &timer, &job, &request, |_| tally.work("third")).await?;
    ensure_eq!(third, Ran::Replayed(text("first")?), "a third, later");
    ensure_eq!(tally.begun(), 1, "how often the work was done");
    Ok(())
}

/// Returns the races, each as a round number and a number of callers.
fn long_races(world: &World) -> Vec<(usize, usize)> {
    if !world.can_travel() {
        // On a real clock, a race takes some seconds.
        return vec![(0, 24)];
    }
    let rounds = 0..world.profile().rounds;
    rounds.flat_map(|round| SIZES.map(|size| (round, size))).collect()
}

/// The number of steps in which time moves by a lease. A run that could not extend its lease, because other calls came
/// first, can try again several times before the lease ends.
const STEPS_OF_A_LEASE: u32 = 12;

pub(in crate::dedup) async fn racing_runs_wait_for_the_first(world: &World) -> Verdict {
    let clients = Repos::pair(world).await?;
    for (round, size) in long_races(world) {
        let (job, timer) = (id(&format!("job-{round}-{size}"))?, StoreTimer::of(world));
        let (tally, step) = (Tally::default(), lease(world) / STEPS_OF_A_LEASE);
        let answers = race(size, |number| {
            let (job, options, tally) = (job.clone(), options(world).wait(LONG), tally.clone());
            let (repos, timer) = (clients[number % 2].clone(), Arc::clone(&timer));
            async move {
                let work = async |_| {
                    for _ in 0..STEPS_OF_A_LEASE * 3 / 2 {
                        timer.pass(step, size).await;
                    }
                    tally.work(&format!("caller-{number}")).await
                };
                let ran = run_well(&repos, &timer, &job, &options, work).await;
                timer.leave();
                if let Ok(Ran::Done(_)) = ran {
                    timer.pass(step, size).await;
                }
                ran
            }
        })
        .await?;
        let result = the_one_result(&answers)?;
        for ran in answers.into_iter().filter(|ran| !matches!(ran, Ran::Done(_))) {
            ensure_eq!(ran, Ran::Replayed(result.clone()), "a run that waited for the first");
        }
        ensure_eq!(tally.begun(), 1, "how often the work of {size} runs was done");
    }
    Ok(())
}

/// The first few runs fail, the next run does the work, and all remaining runs see the result of this work.
pub(in crate::dedup) async fn racing_runs_try_on_after_failures(world: &World) -> Verdict {
    let clients = Repos::pair(world).await?;
    for (round, size) in long_races(world) {
        let (failures, step) = (usize::min(size / 2, 4), lease(world) / 2);
        let (job, timer) = (id(&format!("job-{round}-{size}"))?, StoreTimer::of(world));
        let tally = Tally::default();
        let answers = race(size, |number| {
            let (job, options, tally) = (job.clone(), options(world).wait(LONG), tally.clone());
            let (repos, timer) = (clients[number % 2].clone(), Arc::clone(&timer));
            async move {
                let work = async |_| {
                    tally.begin();
                    if tally.begun() <= failures { Err(None) } else { text("result").map_err(Some) }
                };
                let ran = run(&*repos.leases, &*timer, &job, &options, work).await;
                timer.leave();
                timer.pass(step, size).await;
                Ok(ran)
            }
        })
        .await?;
        ensure_tried_on(answers, failures)?;
        ensure_eq!(tally.begun(), failures + 1, "how often the work of {size} runs was done");
    }
    Ok(())
}

/// Checks that `failures` runs failed, that one run did the work, and that all remaining runs saw its result.
fn ensure_tried_on(answers: Vec<Result<Ran, RunError<Option<Failure>>>>, failures: usize) -> Verdict {
    let (mut failed, mut others) = (0, Vec::new());
    for ran in answers {
        match ran {
            Ok(ran) => others.push(ran),
            Err(RunError::Work(None)) => failed += 1,
            Err(RunError::Work(Some(failure))) => return Err(failure),
            Err(RunError::Store(error)) => return Err(error.into()),
        }
    }
    ensure_eq!(failed, failures, "runs whose work failed");
    let result = the_one_result(&others)?;
    ensure_eq!(result, text("result")?, "the result after failures");
    let replayed = others.iter().filter(|ran| **ran == Ran::Replayed(result.clone())).count();
    ensure_eq!(replayed, others.len() - 1, "runs that saw the result");
    Ok(())
}

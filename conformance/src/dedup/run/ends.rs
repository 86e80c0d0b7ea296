//! How a run ends: with a result, late, with a result that is too long, or without a result.

use std::panic::resume_unwind;
use std::sync::Arc;

use storagebox_core::{MAX_PAYLOAD_BYTES, Payload, Ran, Retry, RunError, run};

use super::refusing::Refusing;
use super::timer::StoreTimer;
use super::{Tally, lease, options, run_well};
use crate::dedup::{Repos, id, op, text};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::World;

/// After failed work, a run with the same operation id does no work, and a run with another operation id does the work.
pub(in crate::dedup) async fn a_name_whose_work_failed_is_over(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, timer, tally) = (id("job")?, StoreTimer::of(world), Tally::default());
    let own = options(world).take_up(op("ada")?);
    let failed = run(&*repos.leases, &*timer, &job, &own, async |_| Err::<Payload, _>("refused")).await;
    ensure_matches!(failed, Err(RunError::Work("refused")), "a run whose work fails");
    let again = run_well(&repos, &timer, &job, &own, |_| tally.work("again")).await?;
    ensure_eq!(again, Ran::Over, "a run that takes up what has failed");
    ensure_eq!(tally.begun(), 0, "how often the work was done for it");
    let ran = run_well(&repos, &timer, &job, &options(world), |_| tally.work("result")).await?;
    ensure_eq!(ran, Ran::Done(text("result")?), "a run with another op after that");
    Ok(())
}

/// A run whose result is too long to record returns `NotKept`, and a later run does not do the work again.
pub(in crate::dedup) async fn a_result_that_is_too_long_is_not_made_again(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, timer, tally) = (id("job")?, StoreTimer::of(world), Tally::default());
    let bytes = MAX_PAYLOAD_BYTES as u64 + 1;
    for turn in ["the first run", "a later run"] {
        let work = async |_| {
            tally.begin();
            Ok::<_, Failure>(vec![b'x'; MAX_PAYLOAD_BYTES + 1])
        };
        let ran = run(&*repos.leases, &*timer, &job, &options(world), work).await;
        ensure_matches!(ran, Ok(Ran::NotKept { bytes: found }) if found == bytes, "{turn}");
    }
    ensure_eq!(tally.begun(), 1, "how often the work was done");
    Ok(())
}

pub(in crate::dedup) async fn work_that_panics_gives_its_lease_back(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, timer, tally) = (id("job")?, StoreTimer::of(world), Tally::default());
    let (leases, same_job, same_timer) = (Arc::clone(&repos.leases), job.clone(), Arc::clone(&timer));
    let options = options(world);
    let own = options.clone();
    let task = tokio::spawn(async move {
        // Bypasses the panic hook, which would print the panic.
        let work = async |_| -> Result<Payload, Failure> { resume_unwind(Box::new("as the case asked")) };
        run(&*leases, &*same_timer, &same_job, &own, work).await
    });
    ensure!(task.await.is_err_and(|ended| ended.is_panic()), "the panic of the work was not passed on");
    let ran = run_well(&repos, &timer, &job, &options, |_| tally.work("result")).await?;
    ensure_eq!(ran, Ran::Done(text("result")?), "a run right after the panic");
    Ok(())
}

/// While the result of finished work is not recorded yet, no other run begins.
pub(in crate::dedup) async fn the_lease_lasts_until_the_result_is_recorded(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, timer, tally) = (id("job")?, StoreTimer::of(world), Tally::default());
    let step = lease(world) / 4;
    // The refusals last longer than a lease and are more than the retry alone would attempt. On a real clock a slow
    // moment could let another run begin.
    let refusing = Arc::new(Refusing::new(Arc::clone(&repos.leases), 5, world.can_travel()));
    let far = Repos { records: Arc::clone(&repos.records), leases: refusing.leases() };
    let retry = Retry { attempts: 2, first_delay: step, max_delay: step };
    let options = options(world).retry(retry);
    let run = run_well(&far, &timer, &job, &options, |_| tally.work("result"));
    // The two sleepers are the next attempt and the next heartbeat: time passes while both wait and no call is in
    // flight.
    let ran = timer.pass_while(step, 2, run).await?;
    ensure_eq!(ran, Ran::Done(text("result")?), "a run whose result is recorded late");
    ensure_eq!(refusing.begun_by_others(), 0, "others who began while the result was on its way");
    ensure_eq!(tally.begun(), 1, "how often the work was done");
    repos.ensure_value(&job, Some("result")).await
}

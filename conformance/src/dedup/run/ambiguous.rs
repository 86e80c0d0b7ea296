//! Runs over a link that loses messages.

use storagebox_core::{DedupRepo, Ran};

use super::timer::StoreTimer;
use super::{Tally, options, run_well};
use crate::dedup::{Repos, id, text};
use crate::failure::{Failure, Verdict, ensure_eq};
use crate::link::{Fate, Link};
use crate::world::World;

const FAULTS: [Fate; 4] = [Fate::RequestLost, Fate::ReplyLost, Fate::Late, Fate::Twice];

pub(in crate::dedup) async fn lost_messages_do_not_repeat_the_work(world: &World) -> Verdict {
    for begin in FAULTS {
        for complete in FAULTS {
            let during = |failure: Failure| failure.during(format!("begin {begin:?}, complete {complete:?}"));
            run_over(world, begin, complete).await.map_err(during)?;
        }
    }
    Ok(())
}

async fn run_over(world: &World, begin: Fate, complete: Fate) -> Verdict {
    let world = world.another().await?;
    let repos = Repos::of(world.store())?;
    let (job, timer, tally) = (id("job")?, StoreTimer::of(&world), Tally::default());
    // Only a begin without an answer is repeated.
    let again = (begin != Fate::Twice).then_some(Fate::Delivered);
    let link = Link::script([begin].into_iter().chain(again).chain([complete]));
    let far = repos.behind(&link);
    let ran = run_well(&far, &timer, &job, &options(&world), |_| tally.work("result")).await?;
    ensure_eq!(ran, Ran::Done(text("result")?), "the run");
    link.land().await;
    repos.ensure_value(&job, Some("result")).await?;
    let later = run_well(&repos, &timer, &job, &options(&world), |_| tally.work("later")).await?;
    ensure_eq!(later, Ran::Replayed(text("result")?), "a later run");
    ensure_eq!(tally.begun(), 1, "how often the work was done");
    Ok(())
}

pub(in crate::dedup) async fn random_faults_leave_one_result(world: &World) -> Verdict {
    let mut rng = world.rng();
    for _ in 0..world.profile().rounds {
        let world = world.another().await?;
        let (repos, timer) = (Repos::of(world.store())?, StoreTimer::of(&world));
        let link = Link::random(rng.u64(..), 30);
        let far = repos.behind(&link);
        for number in 0..20 {
            let (job, tally) = (id(&format!("job-{number}"))?, Tally::default());
            let first = run_well(&far, &timer, &job, &options(&world), |_| tally.work("first")).await?;
            ensure_eq!(first, Ran::Done(text("first")?), "the first run of {job}");
            if rng.bool() {
                link.land().await;
            }
            let second = run_well(&far, &timer, &job, &options(&world), |_| tally.work("second")).await?;
            ensure_eq!(second, Ran::Replayed(text("first")?), "the second run of {job}");
            ensure_eq!(tally.begun(), 1, "how often the work of {job} was done");
        }
        link.heal();
        link.land().await;
        for number in 0..20 {
            repos.ensure_value(&id(&format!("job-{number}"))?, Some("first")).await?;
        }
        ensure_eq!(repos.records.list(None, 1_000).await?.entries.len(), 20, "records listed in the end");
    }
    Ok(())
}

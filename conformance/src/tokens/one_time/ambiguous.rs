//! Lost replies, requests that land late or twice.

use std::sync::Arc;

use storagebox_core::{Backend, ErrorKind, Payload, Peeked, TokenBegun, TokenCommitted};

use super::{LONG, Links, text};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::world::World;

const LOSSES: [Fate; 3] = [Fate::RequestLost, Fate::ReplyLost, Fate::Late];
/// The number of steps of a commit.
const STEPS: usize = 4;

fn behind(link: &Arc<Link>, world: &World) -> Result<Links, Failure> {
    let linked: Arc<dyn Backend> = link.before_store(world.store());
    Ok(Links::of(&linked)?)
}

/// If a fault stops a commit at any step, the next call of the same or another caller finishes the commit.
pub(in crate::tokens) async fn a_commit_that_stops_anywhere_is_finished_by_the_next_call(world: &World) -> Verdict {
    let near = Links::of(world.store())?;
    for step in 0..STEPS {
        for (fate, by_another) in LOSSES.into_iter().flat_map(|fate| [(fate, true), (fate, false)]) {
            let during = |failure: Failure| failure.during(format!("step {step}, {fate:?}"));
            stopped(world, &near, step, fate, by_another).await.map_err(during)?;
        }
    }
    Ok(())
}

async fn stopped(world: &World, near: &Links, step: usize, fate: Fate, by_another: bool) -> Verdict {
    let name = format!("link-{step}-{fate:?}-{by_another}");
    near.create(&name).await?;
    let lease = near.start(&name, "ada", LONG).await?;
    let link = Link::script((0..step).map(|_| Fate::Delivered).chain([fate]));
    let committed = behind(&link, world)?.links.commit(&lease, "result").await;
    ensure_matches!(committed, Err(error) if error.kind() == ErrorKind::OutcomeUnknown, "a commit that stops");
    let is_recorded = step > 0 || fate == Fate::ReplyLost;
    near.ensure_peeked(&name, if is_recorded { Peeked::Gone } else { Peeked::Live }, "after a commit that stopped")
        .await?;
    if is_recorded && by_another {
        near.ensure_gone(&name, "bob").await?;
    }
    link.land().await;
    near.ensure_peeked(&name, if is_recorded || fate == Fate::Late { Peeked::Gone } else { Peeked::Live }, "later")
        .await?;
    near.commit(&lease, "result").await?;
    near.ensure_replayed(&name, "ada", "result").await?;
    near.ensure_gone(&name, "bob").await?;
    ensure!(!near.left(&name).await?.1, "the token is left");
    let unfinished = near.links.recover(None, 1_000).await?;
    ensure_eq!(unfinished.finished, 0, "commits that are not finished");
    Ok(())
}

/// Two callers try to use a token over a link that loses requests and answers. Only one result is recorded.
pub(in crate::tokens) async fn random_faults_leave_one_result(world: &World) -> Verdict {
    let (near, mut rng) = (Links::of(world.store())?, world.rng());
    for round in 0..world.profile().rounds {
        let link = Link::random(rng.u64(..), 20);
        let far = behind(&link, world)?;
        for number in 0..4 {
            let name = format!("link-{round}-{number}");
            near.create(&name).await?;
            let result = used_by_either(world, &far, &name, rng.bool()).await?;
            if rng.bool() {
                link.land().await;
            }
            agree(&near, &name, &result).await?;
        }
        link.heal();
        link.land().await;
        for number in 0..4 {
            ensure!(!near.left(&format!("link-{round}-{number}")).await?.1, "link-{round}-{number} is left");
        }
        let unfinished = near.links.recover(None, 1_000).await?;
        ensure_eq!(unfinished.finished, 0, "commits that are not finished");
    }
    Ok(())
}

/// Lets the two callers try alternately until one of them has the result.
async fn used_by_either(world: &World, far: &Links, name: &str, ada_first: bool) -> Result<Payload, Failure> {
    for turn in 0..1_000 {
        let caller = if (turn % 2 == 0) == ada_first { "ada" } else { "bob" };
        match far.links.begin(name, caller, world.short()).await {
            Ok(TokenBegun::Started(lease)) => {
                let result = format!("{caller} at turn {turn}");
                if let Ok(TokenCommitted::Committed(result)) = far.links.commit(&lease, &*result).await {
                    return Ok(result);
                }
            }
            Ok(TokenBegun::Replayed(result)) => return Ok(result),
            Ok(TokenBegun::InUse { remaining }) => world.pass(remaining).await,
            Ok(TokenBegun::Gone) => {}
            Err(error) => ensure!(error.is_retryable(), "a call that is answered {error}"),
        }
    }
    Err(Failure::new("no caller gets a result in 1,000 turns"))
}

async fn agree(near: &Links, name: &str, result: &Payload) -> Verdict {
    let told = String::from_utf8_lossy(result.as_bytes()).into_owned();
    let (winner, other) = if told.starts_with("ada") { ("ada", "bob") } else { ("bob", "ada") };
    near.ensure_replayed(name, winner, &told).await?;
    near.ensure_gone(name, other).await?;
    ensure_eq!(text(&told)?, *result, "the result as a text");
    near.ensure_peeked(name, Peeked::Gone, "after it was used").await
}

//! Futures that are dropped: before they land, and after they landed and before their reply.

use storagebox_core::Retention;

use super::calls::{Call, ON_LEASES, ON_RECORDS, Scene};
use super::{Repos, id, op};
use crate::case::Verdict;
use crate::failure::{Failure, ensure, ensure_eq};
use crate::link::{Link, drop_after, polls};
use crate::world::World;

pub(super) async fn dropping_any_call_on_a_record_is_harmless(world: &World) -> Verdict {
    drop_everywhere(world, &ON_RECORDS).await
}

pub(super) async fn dropping_any_call_on_a_lease_is_harmless(world: &World) -> Verdict {
    drop_everywhere(world, &ON_LEASES).await
}

async fn drop_everywhere(world: &World, calls: &[Call]) -> Verdict {
    for &call in calls {
        let points = points_of(call, world).await?;
        ensure!(points >= 2, "only {points} points to drop {call:?} at");
        for point in 0..points {
            let during = |failure: Failure| failure.during(format!("{call:?}, dropped at point {point}"));
            drop_at(call, world, point).await.map_err(during)?;
        }
    }
    Ok(())
}

/// How often the call pends when nobody drops it.
async fn points_of(call: Call, world: &World) -> Result<usize, Failure> {
    let world = world.another().await?;
    let repos = Repos::of(world.store())?;
    let scene = Scene::set(call, &world, &repos).await?;
    let (pends, outcome) = polls(scene.make(call, &repos.behind(&Link::gated()))).await;
    ensure_eq!(outcome?, call.first(), "{call:?} that is not dropped");
    Ok(pends)
}

async fn drop_at(call: Call, world: &World, point: usize) -> Verdict {
    let world = world.another().await?;
    let old = Repos::of(world.store())?;
    let scene = Scene::set(call, &world, &old).await?;
    let gated = old.behind(&Link::gated());
    // A store that is far away may answer a moment sooner than it did before; then nothing was dropped.
    if let Some(outcome) = drop_after(scene.make(call, &gated), point).await {
        ensure_eq!(outcome?, call.first(), "a call that ended before it could be dropped");
    }
    let fresh = Repos::of(&world.client().await?)?;
    let outcome = scene.make(call, &fresh).await?;
    ensure!([call.first(), call.again()].contains(&outcome), "the same call by a fresh client is {outcome}");
    ensure_eq!(scene.make(call, &fresh).await?, call.again(), "the same call once more");
    scene.ensure_done(call, &world, &fresh).await?;
    old.record_new(&id("unrelated")?, "value", &op("kim")?, Retention::Forever).await?;
    fresh.ensure_value(&id("unrelated")?, Some("value")).await
}

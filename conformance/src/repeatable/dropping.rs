//! Calls whose futures are dropped: at the points of the link, and at each await point of the client.

use std::sync::Arc;

use storagebox_core::Backend;

use super::{Attempt, Repeatable, allowed};
use crate::failure::{Failure, Verdict, ensure};
use crate::link::{Link, drop_after};
use crate::world::World;

/// A limit above the number of await points of any call.
const MOST_POINTS: usize = 500;

/// Drops each call at its first await point, then at its second, and so on until the call finishes before it can be
/// dropped.
pub(crate) async fn drop_everywhere<C: Repeatable>(world: &World, calls: &[C]) -> Verdict {
    let fresh = world.client().await?;
    for (number, call) in allowed(world, calls) {
        let mut point = 0;
        let during =
            |point: usize| move |failure: Failure| failure.during(format!("{call:?}, dropped at point {point}"));
        while drop_at(call, world, &fresh, number, point).await.map_err(during(point))? {
            point += 1;
            ensure!(point < MOST_POINTS, "{call:?} has not finished after {point} points");
        }
        ensure!(point >= 2, "{call:?} was dropped at only {point} points");
    }
    Ok(())
}

/// Drops the call at this await point. Returns false if the call finished before this point.
async fn drop_at<C: Repeatable>(
    call: C,
    world: &World,
    fresh: &Arc<dyn Backend>,
    number: usize,
    point: usize,
) -> Result<bool, Failure> {
    let mut attempt = Attempt::on(call, world, format!("{number}-{point}")).await?;
    let gated: Arc<dyn Backend> = Link::gated().before_store(world.store());
    attempt.told = drop_after(call.make(&attempt.scene, &gated), point).await.transpose()?;
    attempt.settle(world.store(), fresh).await?;
    Ok(attempt.told.is_none())
}

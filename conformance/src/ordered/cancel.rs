//! Futures that are dropped: before the request lands, in flight, and between landing and reply.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Backend, OrderedStore};

use super::calls::CALLS;
use super::{SEQUENCE, delete_new, listed, put_new, shown};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::link::{Link, drop_after};
use crate::repeatable::drop_everywhere;
use crate::world::World;

pub(super) async fn dropping_any_write_leaves_one_winner(world: &World) -> Verdict {
    drop_everywhere(world, &CALLS).await
}

/// A purge that is dropped at any await point has deleted only tombstones, and no deleted value is visible again.
pub(super) async fn dropping_a_purge_resurrects_nothing(world: &World) -> Verdict {
    let mut point = 0;
    while drop_purge_at(world, point).await? {
        point += 1;
    }
    ensure!(point >= 2, "a purge was dropped at only {point} points");
    Ok(())
}

/// Drops the purge at this await point. Returns false if the purge finished before this point.
async fn drop_purge_at(world: &World, point: usize) -> Result<bool, Failure> {
    let moment = Duration::from_millis(1);
    let far: Arc<dyn OrderedStore> = Link::gated().before(&world.ordered(SEQUENCE)?);
    put_new(&*far, &format!("live-{point:03}"), "value", 1).await?;
    for number in 0..10 {
        let key = format!("gone-{point}-{number}");
        put_new(&*far, &key, "value", 1).await?;
        delete_new(&*far, &key, 2).await?;
    }
    world.pass(moment * 5).await;
    let dropped = drop_after(far.purge(moment, 3), point).await.transpose()?.is_none();
    let fresh = world.client().await?.ordered_store(&"ordered".parse()?, SEQUENCE)?;
    let live: Vec<_> = (0..=point).map(|number| format!("live-{number:03}")).collect();
    ensure_eq!(listed(&*fresh, 100).await?, live, "the keys listed after a dropped purge");
    let left = fresh.purge(moment, 100).await?.deleted;
    // The dropped purge may still be in flight.
    ensure!((4..=10).contains(&left), "{left} of 10 tombstones were left by a purge of at most 3");
    ensure_eq!(shown(&*far, &format!("live-{point:03}")).await?, Some(("value".to_owned(), 1)), "a value");
    Ok(dropped)
}

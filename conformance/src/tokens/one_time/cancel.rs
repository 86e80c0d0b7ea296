//! Dropped calls.

use std::sync::Arc;

use storagebox_core::{Backend, Peeked, TokenBegun, TokenCommitted, TokenLease};

use super::{LONG, Links, text};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Link, drop_after};
use crate::world::World;

/// A commit that is dropped at any await point is finished by its repetition: at once, after a call of another caller,
/// or after a recovery.
pub(in crate::tokens) async fn a_commit_that_is_dropped_anywhere_is_finished(world: &World) -> Verdict {
    let near = Links::of(&world.client().await?)?;
    let gated: Arc<dyn Backend> = Link::gated().before_store(world.store());
    let far = Links::of(&gated)?;
    // Each point is tried with all three continuations only if the store needs no connections.
    let turns = if world.sandbox().upstream().is_none() { 3 } else { 1 };
    for turn in 0..turns {
        let mut point = 0;
        loop {
            let by = ["the caller", "another", "a sweeper"][(point + turn) % 3];
            let name = format!("{turn} {point}");
            near.create(&name).await?;
            let lease = near.start(&name, "ada", LONG).await?;
            let committed = drop_after(far.links.commit(&lease, "result"), point).await.transpose()?;
            match by {
                "another" => drop(near.begin(&name, "bob").await?),
                "a sweeper" => drop(near.links.recover(None, 1_000).await?),
                _ => {}
            }
            near.commit(&lease, "result").await?;
            near.ensure_replayed(&name, "ada", "result").await?;
            ensure_eq!(near.left(&name).await?.1, false, "whether the token lives");
            if committed.is_some() {
                break;
            }
            point = next(point);
        }
        ensure!(point >= 8, "a commit was dropped at only {point} points");
    }
    ensure_eq!(near.links.recover(None, 1_000).await?.finished, 0, "commits that are not finished");
    Ok(())
}

/// A dropped call of `begin` leaves at most a lease, which lapses.
pub(in crate::tokens) async fn a_begin_that_is_dropped_anywhere_blocks_nobody_for_long(world: &World) -> Verdict {
    let near = Links::of(&world.client().await?)?;
    let gated: Arc<dyn Backend> = Link::gated().before_store(world.store());
    let far = Links::of(&gated)?;
    let mut point = 0;
    loop {
        let name = format!("link-{point}");
        near.create(&name).await?;
        let begun = drop_after(far.links.begin(&*name, "ada", world.short()), point).await.transpose()?;
        near.ensure_peeked(&name, Peeked::Live, "after a begin that was dropped").await?;
        world.pass(world.short()).await;
        let was_through = begun.is_some();
        let lease =
            if was_through { near.start(&name, "bob", LONG).await? } else { start_late(world, &near, &name).await? };
        if let Some(begun) = begun {
            let late = ensure_matches!(begun, TokenBegun::Started(lease) => lease, "a begin that is not dropped");
            ensure_eq!(
                near.links.commit(&late, "late").await?,
                TokenCommitted::Fenced,
                "its commit after another's begin"
            );
        }
        let committed = near.links.commit(&lease, "result").await?;
        ensure_eq!(committed, TokenCommitted::Committed(text("result")?), "the commit of who came after");
        if was_through {
            break;
        }
        point = next(point);
    }
    ensure!(point >= 6, "a begin was dropped at only {point} points");
    Ok(())
}

/// Begins the use of a token as `bob`, after any lease of a dropped call has ended.
async fn start_late(world: &World, near: &Links, name: &str) -> Result<TokenLease, Failure> {
    if let TokenBegun::Started(lease) = near.begin(name, "bob").await? {
        return Ok(lease);
    }
    world.pass(world.short()).await;
    near.start(name, "bob", LONG).await
}

/// Returns the next await point at which to drop a call.
fn next(point: usize) -> usize {
    // The first points have no gaps: a call of a store in this process has no more points. The cases of the parts drop
    // each of their calls at every point.
    point + 1 + point / 8
}

//! Futures that are dropped: before they land, and after they landed and before their reply.

use storagebox_core::{Bounds, Counted, Result};

use super::subject::HOUR;
use super::{Kind, Subject, by_strategy};
use crate::case::Verdict;
use crate::failure::{Failure, ensure, ensure_eq};
use crate::link::{Link, drop_after, polls};
use crate::world::World;

/// A call on a counter of 5 within 0 and 10 that knows the operation `known`, of 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Apply,
    ApplyKnown,
    ApplyTooMuch,
    Cancel,
    CancelKnown,
}

const CALLS: [Call; 5] = [Call::Apply, Call::ApplyKnown, Call::ApplyTooMuch, Call::Cancel, Call::CancelKnown];

impl Call {
    async fn make(self, counter: &Subject) -> Result<()> {
        match self {
            Self::Apply => counter.attempt("op", 2).await.map(|_| ()),
            Self::ApplyKnown => counter.attempt("known", 5).await.map(|_| ()),
            Self::ApplyTooMuch => counter.attempt("op", 6).await.map(|_| ()),
            Self::Cancel => counter.attempt_cancel("op").await.map(|_| ()),
            Self::CancelKnown => counter.attempt_cancel("known").await.map(|_| ()),
        }
    }
}

by_strategy! { calls_can_be_dropped_anywhere:
    Marker marker_calls_can_be_dropped_anywhere,
    Window window_calls_can_be_dropped_anywhere,
    Sharded sharded_calls_can_be_dropped_anywhere
}

/// Every call, dropped at every point: it was done or not, the call made again ends in the state that one undisturbed
/// call leaves, and a stranger's call through the old client works.
async fn calls_can_be_dropped_anywhere(world: &World, kind: Kind) -> Verdict {
    let mut points = 0;
    for call in CALLS {
        let (pends, expected) = undisturbed(world, kind, call).await?;
        for point in 0..pends {
            let found = dropped_at(world, kind, call, point)
                .await
                .map_err(|failure| failure.during(format!("{call:?}, dropped at point {point}")))?;
            ensure_eq!(
                found,
                expected,
                "the counter after {call:?}, dropped at point {point} and made again"
            );
        }
        points += pends;
    }
    ensure!(points >= 10, "only {points} points to drop a call at");
    Ok(())
}

fn bounds() -> Result<Bounds> {
    Bounds::between(0, 10)
}

async fn prepared(world: &World, kind: Kind) -> Result<(World, Subject), Failure> {
    let world = world.another().await?;
    let counter = Subject::within(&world, kind, bounds()?)?;
    counter.apply("known", 5).await?;
    Ok((world, counter))
}

async fn undisturbed(world: &World, kind: Kind, call: Call) -> Result<(usize, String), Failure> {
    let (_world, counter) = prepared(world, kind).await?;
    let (pends, answer) = polls(call.make(&counter.behind(&Link::gated()))).await;
    answer?;
    Ok((pends, state(&counter).await?))
}

/// Drops the call there; the world, and the client that it was made with.
async fn dropped(world: &World, kind: Kind, call: Call, point: usize) -> Result<(World, Subject), Failure> {
    let (world, old) = prepared(world, kind).await?;
    let gated = old.behind(&Link::gated());
    // Over a network a call may pend less often than the last time, and end before this point.
    let _ = drop_after(call.make(&gated), point).await;
    Ok((world, old))
}

async fn dropped_at(world: &World, kind: Kind, call: Call, point: usize) -> Result<String, Failure> {
    let (world, old) = dropped(world, kind, call, point).await?;
    let fresh = Subject::open(&world.client().await?, kind.strategy(bounds()?, HOUR), bounds()?)?;
    let value = fresh.value().await?;
    let legal = if call == Call::Apply { [5, 7] } else { [5, 5] };
    ensure!(legal.contains(&value), "the value after the drop is {value}");
    for _ in 0..2 {
        call.make(&fresh).await?;
    }
    let stranger = old.at("stranger")?;
    ensure_eq!(
        stranger.apply("op", 3).await?,
        stranger.applied(3),
        "a stranger's call through the old client"
    );
    state(&fresh).await
}

/// The value, and what is known of both operations, asked so that nothing changes it.
async fn state(counter: &Subject) -> Result<String, Failure> {
    let value = counter.value().await?;
    let (known, op) = (counter.apply("known", 100).await?, counter.apply("op", 100).await?);
    ensure_eq!(counter.value().await?, value, "the value after rejections");
    Ok(format!("{value}; the known operation with another delta: {known:?}, the new one: {op:?}"))
}

/// A call that is dropped and made again may count twice here, and may still land after that; it is never done in part,
/// and never beyond a bound.
pub(super) async fn atomic_calls_can_be_dropped_anywhere(world: &World) -> Verdict {
    for (call, delta, legal) in [(Call::Apply, 2, [7, 9]), (Call::ApplyTooMuch, 6, [5, 5])] {
        let (pends, _) = undisturbed(world, Kind::Atomic, call).await?;
        ensure!(pends >= 2, "only {pends} points to drop a call at");
        for point in 0..pends {
            let (world, old) = dropped(world, Kind::Atomic, call, point).await?;
            let strategy = Kind::Atomic.strategy(bounds()?, HOUR);
            let fresh = Subject::open(&world.client().await?, strategy, bounds()?)?;
            let counted = fresh.apply("op", delta).await?;
            if call == Call::ApplyTooMuch {
                ensure_eq!(counted, Counted::OutOfBounds, "6 on 5, dropped at {point} and made again");
            }
            let value = fresh.value().await?;
            ensure!(legal.contains(&value), "the value after {call:?}, dropped at {point}, is {value}");
            let stranger = old.at("stranger")?;
            ensure_eq!(stranger.apply("op", 3).await?, stranger.applied(3), "a stranger's call");
        }
    }
    Ok(())
}

//! Futures that are dropped: before the request lands, in flight, and between landing and reply.

use storagebox_core::{Bounds, Counted};

use super::calls::calls;
use super::subject::HOUR;
use super::{Kind, Subject};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::link::{Link, drop_after};
use crate::repeatable::drop_everywhere;
use crate::world::World;

pub(super) async fn calls_can_be_dropped_anywhere(world: &World, kind: Kind) -> Verdict {
    drop_everywhere(world, &calls(kind)).await
}

/// A dropped and repeated change of an `Atomic` counter counts at most twice. No change is applied in part or crosses a
/// bound.
pub(super) async fn atomic_calls_can_be_dropped_anywhere(world: &World) -> Verdict {
    // The dropped attempt may land even after the repetition.
    for (delta, legal) in [(2, [7, 9]), (6, [5, 5])] {
        let mut point = 0;
        while drop_atomic_at(world, delta, legal, point).await? {
            point += 1;
        }
        ensure!(point >= 2, "a call was dropped at only {point} points");
    }
    Ok(())
}

/// Drops the change at this await point, or returns false if the change finished before that point.
async fn drop_atomic_at(world: &World, delta: i64, legal: [i64; 2], point: usize) -> Result<bool, Failure> {
    let (bounds, place) = (Bounds::between(0, 10)?, format!("{delta}-{point}"));
    let strategy = Kind::Atomic.strategy(bounds, HOUR);
    let old = Subject::open(world.store(), strategy, bounds)?.at(place.as_str())?;
    let _ = old.apply("known", 5).await?;
    let gated = old.behind(&Link::gated());
    let dropped = drop_after(gated.attempt("op", delta), point).await.transpose()?.is_none();
    let fresh = Subject::open(&world.client().await?, strategy, bounds)?.at(place.as_str())?;
    let counted = fresh.apply("op", delta).await?;
    let value = fresh.value().await?;
    ensure!(legal.contains(&value), "the value after {delta} on 5, dropped at {point}, is {value}");
    if delta == 6 {
        ensure_eq!(counted, Counted::OutOfBounds, "6 on 5, dropped at {point} and made again");
    }
    let (old, fresh) = (old.at(format!("unrelated-{place}"))?, fresh.at(format!("unrelated-{place}"))?);
    ensure_eq!(old.apply("op", 3).await?, old.applied(3), "an unrelated call by the old client");
    ensure_eq!(fresh.value().await?, 3, "what it counted");
    Ok(dropped)
}

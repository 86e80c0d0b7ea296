//! One caller, one call after another: bounds, sums, reads and rejections.

use storagebox_core::{Bounds, Counted};

use super::subject::HOUR;
use super::{Kind, Subject};
use crate::failure::{Verdict, ensure_eq};
use crate::world::World;

/// The result of a change is tested against the bounds. A change is neither clamped nor applied in part.
pub(super) async fn bounds_are_inclusive(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::within(world, kind, Bounds::between(-2, 3)?)?;
    let steps = [
        (4, None),
        (-3, None),
        (3, Some(3)),
        (1, None),
        (0, Some(3)),
        (-6, None),
        (-5, Some(-2)),
        (-1, None),
        (6, None),
        (5, Some(3)),
        (-3, Some(0)),
    ];
    let mut value = 0;
    for (number, (delta, result)) in steps.into_iter().enumerate() {
        let expected = result.map_or(Counted::OutOfBounds, |result| counter.applied(result));
        let counted = counter.apply(&format!("op-{number}"), delta).await?;
        ensure_eq!(counted, expected, "{delta} on {value} within -2 and 3");
        value = result.unwrap_or(value);
        ensure_eq!(counter.value().await?, value, "the value after {delta}");
    }
    Ok(())
}

/// A change whose result is out of bounds is rejected, even if it moves the value towards the bounds.
pub(super) async fn bounds_are_those_of_each_change(world: &World, kind: Kind) -> Verdict {
    let free = Subject::new(world, kind)?;
    let _ = free.apply("start", 5).await?;
    let (low, high) = (free.bounded(Bounds::at_most(3)), free.bounded(Bounds::at_least(8)));
    ensure_eq!(low.apply("low", -1).await?, Counted::OutOfBounds, "5 - 1 with a ceiling of 3");
    ensure_eq!(high.apply("high", 2).await?, Counted::OutOfBounds, "5 + 2 with a floor of 8");
    ensure_eq!(low.apply("zero", 0).await?, Counted::OutOfBounds, "5 + 0 with a ceiling of 3");
    ensure_eq!(free.value().await?, 5, "the value after three rejections");
    ensure_eq!(low.apply("low", -2).await?, free.applied(3), "5 - 2 with a ceiling of 3");
    ensure_eq!(high.apply("high", 5).await?, free.applied(8), "3 + 5 with a floor of 8");
    ensure_eq!(free.apply("free", -100).await?, free.applied(-92), "a change without bounds");
    let exact = free.bounded(Bounds::between(7, 7)?);
    ensure_eq!(exact.apply("exact", 98).await?, Counted::OutOfBounds, "-92 + 98 within 7 and 7");
    ensure_eq!(exact.apply("exact", 99).await?, free.applied(7), "-92 + 99 within 7 and 7");
    Ok(())
}

/// Every client sees an acknowledged change, even a client that read the value before the change.
pub(super) async fn reads_see_what_was_acknowledged(world: &World, kind: Kind) -> Verdict {
    let mine = Subject::new(world, kind)?;
    let strategy = kind.strategy(Bounds::NONE, HOUR);
    let other = Subject::open(&world.client().await?, strategy, Bounds::NONE)?;
    ensure_eq!((mine.value().await?, other.value().await?), (0, 0), "an absent counter");
    let mut value = 0;
    for number in 0..30 {
        let delta = if number % 3 == 2 { -5 } else { 7 };
        let writer = if number % 2 == 0 { &mine } else { &other };
        let _ = writer.apply(&format!("op-{number}"), delta).await?;
        value += delta;
        ensure_eq!(other.value().await?, value, "the other client's read after {number} changes");
        ensure_eq!(mine.value().await?, value, "one's own read after {number} changes");
    }
    let late = Subject::open(&world.client().await?, strategy, Bounds::NONE)?;
    ensure_eq!(late.value().await?, value, "a new client's read");
    Ok(())
}

pub(super) async fn value_is_the_sum(world: &World, kind: Kind) -> Verdict {
    let (counter, mut rng) = (Subject::new(world, kind)?, world.rng());
    let keys = [counter.at("a")?, counter.at("b")?, counter.at("c")?];
    let mut sums = [0; 3];
    for number in 0..90 {
        let (at, delta) = (rng.usize(..3), rng.i64(-1_000..=1_000));
        sums[at] += delta;
        let counted = keys[at].apply(&format!("op-{number}"), delta).await?;
        ensure_eq!(counted, counter.applied(sums[at]), "operation {number}");
        for (key, sum) in keys.iter().zip(sums) {
            ensure_eq!(key.value().await?, sum, "the sum at {} after {number} operations", key.key);
        }
    }
    Ok(())
}

/// A rejected operation is not remembered: it may succeed later, even with another delta.
pub(super) async fn rejections_are_not_remembered(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::within(world, kind, Bounds::between(0, 10)?)?;
    for _ in 0..3 {
        ensure_eq!(counter.apply("sell", -4).await?, Counted::OutOfBounds, "selling 4 of 0");
    }
    let _ = counter.apply("fill", 5).await?;
    ensure_eq!(counter.apply("sell", -4).await?, counter.applied(1), "selling 4 of 5");
    ensure_eq!(counter.apply("large", 100).await?, Counted::OutOfBounds, "100 with a ceiling of 10");
    ensure_eq!(counter.apply("large", i64::MAX).await?, Counted::Overflow, "an overflow");
    ensure_eq!(counter.apply("large", 9).await?, counter.applied(10), "the same operation with a lesser delta");
    ensure_eq!(counter.value().await?, 10, "the value after that");
    if counter.promise().remember != storagebox_core::Remember::None {
        ensure_eq!(counter.apply("large", 9).await?, counter.already(10), "its retry");
        ensure_eq!(counter.apply("large", 8).await?, Counted::Mismatch, "another delta for it");
        ensure_eq!(counter.apply("large", 9).await?, counter.already(10), "its retry after a mismatch");
    }
    if !matches!(kind, Kind::Atomic | Kind::Optimistic) {
        ensure_eq!(counter.apply("sell", -4).await?, counter.already(1), "the other's retry");
    }
    Ok(())
}

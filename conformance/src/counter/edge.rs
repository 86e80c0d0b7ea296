//! The limits of `i64`, and numbers that a double cannot distinguish.

use storagebox_core::{Bounds, Counted};

use super::{Kind, Subject};
use crate::failure::{Verdict, ensure_eq};
use crate::world::World;

/// Above this number, an `f64` cannot represent odd numbers.
const BIG: i64 = 1 << 53;

pub(super) async fn overflow_changes_nothing(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::new(world, kind)?;
    let rows: [(&str, i64, &[i64], i64); 7] = [
        ("the greatest", i64::MAX, &[1, i64::MAX], i64::MIN),
        ("the least", i64::MIN, &[-1, i64::MIN], i64::MAX),
        ("one below the greatest", i64::MAX - 1, &[2, i64::MAX], 1),
        ("one above the least", i64::MIN + 1, &[-2, i64::MIN], -1),
        ("one", 1, &[i64::MAX], i64::MIN),
        ("minus one", -1, &[i64::MIN], i64::MAX),
        ("absent", 0, &[], i64::MIN),
    ];
    for (name, start, overflows, fits) in rows {
        let counter = counter.at(name)?;
        ensure_eq!(counter.apply("start", start).await?, counter.applied(start), "{start} on 0");
        for delta in overflows {
            ensure_eq!(counter.apply("over", *delta).await?, Counted::Overflow, "{delta} on {start}");
            ensure_eq!(counter.value().await?, start, "the value after that");
        }
        let result = start + fits;
        ensure_eq!(counter.apply("over", fits).await?, counter.applied(result), "{fits} on {start}");
        ensure_eq!(counter.value().await?, result, "the value in the end");
    }
    Ok(())
}

pub(super) async fn overflow_is_judged_before_the_bounds(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::within(world, kind, Bounds::between(-10, 10)?)?;
    for (number, (start, overflow, fits)) in
        [(5, i64::MAX, i64::MAX - 5), (-5, i64::MIN, i64::MIN + 5)].into_iter().enumerate()
    {
        let counter = counter.at(format!("key-{number}"))?;
        let _ = counter.apply("start", start).await?;
        ensure_eq!(counter.apply("op", overflow).await?, Counted::Overflow, "{overflow} on {start}");
        ensure_eq!(counter.apply("op", fits).await?, Counted::OutOfBounds, "{fits} on {start}");
        ensure_eq!(counter.value().await?, start, "the value after both");
    }
    Ok(())
}

pub(super) async fn sums_beyond_2_53_are_exact(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::new(world, kind)?;
    for (key, sign) in [("above", 1), ("below", -1)] {
        let counter = counter.at(key)?;
        let mut value = 0;
        for (number, delta) in [BIG, 1, 1, 1, BIG + 1, i64::MAX / 2, 1, 1].into_iter().enumerate() {
            value += sign * delta;
            let counted = counter.apply(&format!("op-{number}"), sign * delta).await?;
            ensure_eq!(counted, counter.applied(value), "operation {number}, of {}", sign * delta);
            ensure_eq!(counter.value().await?, value, "the value after it");
        }
    }
    Ok(())
}

pub(super) async fn bounds_beyond_2_53_are_exact(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::within(world, kind, Bounds::between(-BIG - 1, i64::MAX - 1)?)?;
    let steps = [
        (-BIG - 2, None),
        (-BIG, Some(-BIG)),
        (-1, Some(-BIG - 1)),
        (-1, None),
        (i64::MAX, Some(i64::MAX - BIG - 1)),
        (BIG + 1, None),
        (BIG, Some(i64::MAX - 1)),
        (1, None),
    ];
    for (number, (delta, result)) in steps.into_iter().enumerate() {
        let expected = result.map_or(Counted::OutOfBounds, |result| counter.applied(result));
        ensure_eq!(counter.apply(&format!("op-{number}"), delta).await?, expected, "step {number}, of {delta}");
    }
    ensure_eq!(counter.value().await?, i64::MAX - 1, "the value in the end");
    Ok(())
}

pub(super) async fn deltas_beyond_2_53_are_told_apart(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::new(world, kind)?;
    for (delta, other) in [(BIG, BIG + 1), (-BIG - 1, -BIG), (i64::MAX, i64::MAX - 1), (i64::MIN, i64::MIN + 1)] {
        let counter = counter.at(delta.to_string())?;
        ensure_eq!(counter.apply("op", delta).await?, counter.applied(delta), "an operation of {delta}");
        ensure_eq!(counter.apply("op", other).await?, Counted::Mismatch, "{other} for an operation of {delta}");
        ensure_eq!(counter.apply("op", delta).await?, counter.already(delta), "the operation itself");
        ensure_eq!(counter.value().await?, delta, "the value in the end");
    }
    Ok(())
}

//! Sharded counters: bounds of the whole counter, and one shard per operation.

use storagebox_core::{Backend, Bounds, Change, Counted, Counter, ErrorKind, OpId, Result, Retention, Strategy};

use super::subject::HOUR;
use super::{Kind, Subject};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::world::World;

pub(super) async fn bounds_are_fixed_for_the_namespace(world: &World) -> Verdict {
    let counter = Subject::within(world, Kind::Sharded, Bounds::between(-5, 5)?)?;
    let others = [
        Bounds::between(-5, 6)?,
        Bounds::between(-4, 5)?,
        Bounds::at_least(-5),
        Bounds::at_most(5),
        Bounds::between(-100, 100)?,
    ];
    for (number, bounds) in others.into_iter().enumerate() {
        let change = Change::new(OpId::new(format!("op-{number}"))?, 1).within(bounds);
        ensure_refused(counter.counter.apply(&counter.key, &change).await, bounds)?;
    }
    ensure_eq!(counter.value().await?, 0, "the value after changes with other bounds");
    ensure_eq!(counter.apply("op-0", 1).await?, counter.applied(1), "an operation that was refused before");
    let repeated = Change::new(OpId::new("repeated")?, 4).within(Bounds::between(-5, 5)?);
    let counted = counter.counter.apply(&counter.key, &repeated).await?;
    ensure_eq!(counted, counter.applied(5), "a change that repeats the namespace's bounds");
    Ok(())
}

fn ensure_refused<T: std::fmt::Debug>(answer: Result<T>, bounds: Bounds) -> Verdict {
    match answer {
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        other => Err(Failure::new(format!("{bounds:?} should be refused as InvalidInput: {other:?}"))),
    }
}

/// A sharded counter whose bounds exclude 0 is refused when it is opened or at its first call.
pub(super) async fn bounds_without_0_are_refused(world: &World) -> Verdict {
    let without = [Bounds::at_least(1), Bounds::at_most(-1), Bounds::between(5, 10)?, Bounds::between(-9, -3)?];
    for (number, bounds) in without.into_iter().enumerate() {
        let strategy = Kind::Sharded.strategy(bounds, HOUR);
        let counted = match world.store().counter(&format!("namespace-{number}").parse()?, strategy) {
            Ok(counter) => first_change(&*counter).await,
            Err(error) => Err(error),
        };
        ensure_refused(counted, bounds)?;
    }
    Ok(())
}

async fn first_change(counter: &dyn Counter) -> Result<Counted> {
    counter.apply(&"key".try_into()?, &Change::new(OpId::new("op")?, 7)).await
}

pub(super) async fn a_change_larger_than_any_shards_room_is_applied(world: &World) -> Verdict {
    let counter = Subject::within(world, Kind::Sharded, Bounds::between(0, 100)?)?;
    for number in 0..20 {
        let (up, down) = (format!("up-{number}"), format!("down-{number}"));
        ensure_eq!(counter.apply(&up, 100).await?, counter.applied(100), "all the room at once");
        ensure_eq!(counter.apply(&format!("{up}+"), 1).await?, Counted::OutOfBounds, "1 more");
        ensure_eq!(counter.value().await?, 100, "the value when all the room is used");
        ensure_eq!(counter.apply(&down, -100).await?, counter.applied(0), "all of it back at once");
        ensure_eq!(counter.apply(&format!("{down}-"), -1).await?, Counted::OutOfBounds, "1 less");
        ensure_eq!(counter.value().await?, 0, "the value when nothing is left");
    }
    for number in 0..60 {
        let _ = counter.apply(&format!("one-{number}"), 1).await?;
    }
    ensure_eq!(counter.apply("41", 41).await?, Counted::OutOfBounds, "41 with room for 40 on all shards");
    ensure_eq!(counter.apply("40", 40).await?, counter.applied(100), "40 with room for 40 on all shards");
    ensure_eq!(counter.apply("-101", -101).await?, Counted::OutOfBounds, "101 back out of 100");
    ensure_eq!(counter.value().await?, 100, "the value in the end");
    Ok(())
}

/// Changes use all the room up to a bound, even if less room is left than there are shards.
pub(super) async fn the_last_room_is_found_wherever_it_is(world: &World) -> Verdict {
    for (number, (floor, ceiling)) in [(0, 1), (-1, 0), (-2, 3), (0, 0), (-17, 13)].into_iter().enumerate() {
        let bounds = Bounds::between(floor, ceiling)?;
        let strategy = Kind::Sharded.strategy(bounds, HOUR);
        let counter = Subject::named(world.store(), &format!("namespace-{number}"), strategy, bounds)?;
        let mut value = 0;
        for turn in 0..3 {
            for (direction, bound) in [(1, ceiling), (-1, floor)] {
                let mut step = 0;
                while value != bound {
                    step += 1;
                    let counted = counter.apply(&format!("{turn}/{direction}/{step}"), direction).await?;
                    ensure_eq!(counted, counter.applied(value + direction), "{direction} on {value} in {bounds:?}");
                    value += direction;
                }
                let beyond = counter.apply(&format!("{turn}/{direction}/beyond"), direction).await?;
                ensure_eq!(beyond, Counted::OutOfBounds, "{direction} on {value} in {bounds:?}");
            }
        }
        ensure_eq!(counter.value().await?, floor, "the value in the end");
    }
    Ok(())
}

/// The bounds of a sharded counter are exact with any number of shards, even if an `f64` cannot represent the bounds.
pub(super) async fn bounds_at_the_edges_are_exact_over_any_number_of_shards(world: &World) -> Verdict {
    const ODD: i64 = 999_999_999_999_999_999;
    for shards in [1, 2, 3, 7, 64] {
        let all = [
            Bounds::between(-ODD, ODD)?,
            Bounds::between(i64::MIN, i64::MAX)?,
            Bounds::between(i64::MIN + 1, i64::MAX - 1)?,
            Bounds::NONE,
        ];
        for (number, bounds) in all.into_iter().enumerate() {
            let strategy = Strategy::Sharded { shards, bounds, retention: Retention::For(HOUR) };
            let counter = Subject::named(world.store(), &format!("{shards}-{number}"), strategy, bounds)?;
            ensure_ends_are_exact(&counter, bounds).await?;
        }
    }
    Ok(())
}

/// Checks that changes beyond the ceiling and changes beyond the floor are refused.
async fn ensure_ends_are_exact(counter: &Subject, bounds: Bounds) -> Verdict {
    const BEYOND: usize = 8;
    let (floor, ceiling) = (bounds.floor().unwrap_or(i64::MIN), bounds.ceiling().unwrap_or(i64::MAX));
    for (end, direction) in [(ceiling, 1_i64), (floor, -1)] {
        ensure_eq!(counter.apply(&format!("to {end}"), end).await?, counter.applied(end), "{end} on 0");
        let refused = match end.checked_add(direction) {
            Some(_) => Counted::OutOfBounds,
            None => Counted::Overflow,
        };
        for number in 0..BEYOND {
            let op = format!("beyond {end}, {number}");
            ensure_eq!(counter.apply(&op, direction).await?, refused, "{direction} on {end} in {bounds:?}");
        }
        ensure_eq!(counter.value().await?, end, "the value at the end of {bounds:?}");
        // `i64::MIN` has no opposite, so the value goes back in two halves.
        let half = end / 2;
        ensure_eq!(counter.apply(&format!("{end} halved"), -half).await?, counter.applied(end - half), "half");
        ensure_eq!(counter.apply(&format!("{end} undone"), half - end).await?, counter.applied(0), "the rest");
    }
    Ok(())
}

/// A retry is recognised even if the shard of the first attempt has no room left, or room was moved between shards.
pub(super) async fn a_retry_never_lands_on_another_shard(world: &World) -> Verdict {
    let counter = Subject::within(world, Kind::Sharded, Bounds::between(0, 40)?)?;
    let mut sum = 0;
    for number in 0..60 {
        let delta = if number % 3 == 2 { -1 } else { 2 };
        let op = format!("op-{number}");
        let first = counter.apply(&op, delta).await?;
        if !matches!(first, Counted::Applied { .. }) {
            ensure_eq!(first, Counted::OutOfBounds, "operation {number} on {sum}");
            ensure!(!(0..=40).contains(&(sum + delta)), "operation {number} had room: {delta} on {sum}");
            continue;
        }
        sum += delta;
        for _ in 0..6 {
            ensure_eq!(counter.apply(&op, delta).await?, counter.already(sum), "operation {number} again");
        }
        ensure_eq!(counter.value().await?, sum, "the sum after {number} operations");
    }
    ensure_eq!(counter.apply("op-0", 2).await?, counter.already(2), "the first operation in the end");
    ensure_eq!(counter.value().await?, sum, "the sum in the end");
    Ok(())
}

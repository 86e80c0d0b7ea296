//! Windows and sets: they remember a limited number of operations, for a lifetime or forever.

use std::time::Duration;

use storagebox_core::{Bounds, Cancelled, Counted, Strategy};

use super::subject::HOUR;
use super::{Kind, Subject};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::race::{SIZES, race};
use crate::world::World;

fn window(world: &World, lifetime: Duration, capacity: u32) -> storagebox_core::Result<Subject> {
    Subject::open(world.store(), Strategy::Window { lifetime, capacity }, Bounds::NONE)
}

fn holding(world: &World, kind: Kind, capacity: u32) -> storagebox_core::Result<Subject> {
    match kind {
        Kind::Set => Subject::open(world.store(), Strategy::TokenSet { max: capacity }, Bounds::NONE),
        _ => window(world, HOUR, capacity),
    }
}

pub(super) async fn full_is_full_and_forgets_nothing(world: &World, kind: Kind) -> Verdict {
    let counter = holding(world, kind, 3)?;
    for number in 1..=3 {
        let counted = counter.apply(&format!("op-{number}"), 1).await?;
        ensure_eq!(counted, counter.applied(number), "operation {number} of 3");
    }
    for late in ["late-1", "late-2", "late-1"] {
        ensure_eq!(counter.apply(late, 1).await?, Counted::Full, "an operation beyond the three");
        for number in 1..=3 {
            let retried = counter.apply(&format!("op-{number}"), 1).await?;
            ensure_eq!(retried, counter.already(number), "a retry");
            let other = counter.apply(&format!("op-{number}"), 2).await?;
            ensure_eq!(other, Counted::Mismatch, "another delta");
        }
    }
    world.upkeep().await?;
    ensure_eq!(counter.apply("late-1", 1).await?, Counted::Full, "an operation after upkeep");
    ensure_eq!(counter.apply("op-1", 1).await?, counter.already(1), "the oldest after upkeep");
    ensure_eq!(counter.value().await?, 3, "the value in the end");
    Ok(())
}

/// Repeats the change while the window is full.
async fn freed(world: &World, counter: &Subject, op: &str) -> Result<Counted, Failure> {
    // On a real clock, a backend may remove an expired operation late to allow for clock differences.
    let turns = if world.can_travel() { 1 } else { 60 };
    for _ in 0..turns {
        let counted = counter.apply(op, 1).await?;
        if counted != Counted::Full {
            return Ok(counted);
        }
        world.pass(world.short()).await;
    }
    Ok(Counted::Full)
}

pub(super) async fn a_window_frees_its_places_after_the_lifetime(world: &World) -> Verdict {
    let counter = window(world, world.short(), 2)?;
    for (round, name) in ["a", "b", "c"].into_iter().enumerate() {
        let value = 2 * i64::try_from(round).unwrap_or_default();
        let first = freed(world, &counter, &format!("{name}-1")).await?;
        ensure_eq!(first, counter.applied(value + 1), "the first operation of round {name}");
        let second = freed(world, &counter, &format!("{name}-2")).await?;
        ensure_eq!(second, counter.applied(value + 2), "the second operation of round {name}");
        if world.can_travel() {
            ensure_eq!(counter.apply(&format!("{name}-3"), 1).await?, Counted::Full, "the third of round {name}");
        }
        world.pass(world.short()).await;
    }
    ensure_eq!(counter.value().await?, 6, "the value after three rounds");
    Ok(())
}

pub(super) async fn a_window_has_room_after_upkeep(world: &World) -> Verdict {
    let counter = window(world, world.short(), 2)?;
    for op in ["a", "b"] {
        let _ = counter.apply(op, 1).await?;
    }
    world.pass(world.short()).await;
    world.upkeep().await?;
    for (op, value) in [("c", 3), ("d", 4)] {
        ensure_eq!(freed(world, &counter, op).await?, counter.applied(value), "an operation after upkeep");
    }
    Ok(())
}

pub(super) async fn each_operation_has_a_lifetime_of_its_own(world: &World) -> Verdict {
    let time = if world.can_travel() { HOUR } else { world.short() * 8 };
    let counter = window(world, time, 2)?;
    let _ = counter.apply("early", 1).await?;
    world.pass(time * 3 / 4).await;
    let _ = counter.apply("late", 1).await?;
    world.pass(time / 4).await;
    let third = freed(world, &counter, "third").await?;
    ensure_eq!(third, counter.applied(3), "an operation in the place of the early one");
    if world.can_travel() {
        ensure_eq!(counter.apply("late", 1).await?, counter.already(2), "the late one's retry");
        ensure_eq!(counter.apply("fourth", 1).await?, Counted::Full, "an operation beyond the two");
        ensure_eq!(counter.value().await?, 3, "the value in the end");
    }
    Ok(())
}

/// A change on a full key removes the expired operations of this key, but no operations of other keys.
pub(super) async fn every_key_frees_its_own_places(world: &World) -> Verdict {
    let namespace_of = window(world, world.short(), 2)?;
    let keys = ["a", "b", "ba", "c"];
    for key in keys {
        for op in ["first", "second"] {
            let _ = namespace_of.at(key)?.apply(op, 1).await?;
        }
    }
    world.pass(world.short()).await;
    for (turn, key) in ["b", "a", "c", "ba"].into_iter().enumerate() {
        let counter = namespace_of.at(key)?;
        for (op, value) in [("third", 3), ("fourth", 4)] {
            ensure_eq!(
                freed(world, &counter, op).await?,
                counter.applied(value),
                "{op} at {key}, freed in turn {turn}"
            );
        }
        if world.can_travel() {
            ensure_eq!(counter.apply("fifth", 1).await?, Counted::Full, "a fifth operation at {key}");
        }
    }
    Ok(())
}

pub(super) async fn every_key_has_room_of_its_own(world: &World, kind: Kind) -> Verdict {
    let counter = holding(world, kind, 2)?;
    for key in ["one", "two", "three"] {
        let counter = counter.at(key)?;
        for number in 1..=2 {
            let counted = counter.apply(&format!("op-{number}"), 1).await?;
            ensure_eq!(counted, counter.applied(number), "operation {number} at {key}");
        }
        ensure_eq!(counter.apply("op-3", 1).await?, Counted::Full, "operation 3 at {key}");
    }
    Ok(())
}

pub(super) async fn other_rejections_come_before_full(world: &World, kind: Kind) -> Verdict {
    let counter = holding(world, kind, 1)?.bounded(Bounds::between(-10, 10)?);
    let _ = counter.apply("only", 5).await?;
    ensure_eq!(counter.apply("op", i64::MAX).await?, Counted::Overflow, "an overflow where it is full");
    ensure_eq!(counter.apply("op", 6).await?, Counted::OutOfBounds, "6 on 5 where it is full");
    ensure_eq!(counter.apply("op", -15).await?, Counted::Full, "-15 on 5 where it is full");
    ensure_eq!(counter.value().await?, 5, "the value after three rejections");
    Ok(())
}

pub(super) async fn full_says_so_to_a_cancel(world: &World, kind: Kind) -> Verdict {
    let counter = holding(world, kind, 2)?;
    let _ = counter.apply("applied", 5).await?;
    ensure_eq!(counter.cancel("fenced").await?, Cancelled::Cancelled, "a cancel in the last place");
    ensure_eq!(counter.apply("op", 1).await?, Counted::Full, "an operation beyond a fence in the last place");
    ensure_eq!(counter.cancel("op").await?, Cancelled::Full, "a cancel where it is full");
    ensure_eq!(counter.cancel("fenced").await?, Cancelled::Cancelled, "a cancel of what is fenced");
    ensure_eq!(counter.cancel("applied").await?, counter.cancelled_too_late(5), "a cancel of what is applied");
    ensure_eq!(counter.apply("fenced", 1).await?, Counted::Fenced, "the fenced operation");
    ensure_eq!(counter.value().await?, 5, "the value in the end");
    Ok(())
}

pub(super) async fn racing_callers_fill_it_exactly(world: &World, kind: Kind) -> Verdict {
    let namespace_of = holding(world, kind, 6)?;
    for round in 0..world.profile().rounds * 2 {
        for size in SIZES {
            let counter = namespace_of.at(format!("{round}-{size}"))?;
            let answers = race(size, |number| {
                let counter = counter.clone();
                async move { counter.apply(&format!("op-{number}"), 1).await }
            })
            .await?;
            let full = answers.iter().filter(|answer| **answer == Counted::Full).count();
            ensure_eq!(full, size.saturating_sub(6), "callers of {size} that found 6 places taken");
            let applied = answers.iter().filter(|answer| matches!(answer, Counted::Applied { .. })).count();
            ensure_eq!(applied, size.min(6), "callers of {size} that were applied");
            let value = usize::try_from(counter.value().await?).unwrap_or_default();
            ensure!(value == applied, "{applied} changes were acknowledged, and the value is {value}");
        }
    }
    Ok(())
}

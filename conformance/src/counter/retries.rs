//! Retries: while an operation is remembered, it is applied once and gets the first answer again.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Backend, Bounds, Counted, MAX_DURATION, Remember, Retention, Strategy};

use super::subject::{CAPACITY, HOUR, SHARDS};
use super::{Kind, Subject};
use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::World;

/// A retry is recognised by every client, after any number of other operations.
pub(super) async fn retries_are_applied_once(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::new(world, kind)?;
    let fresh = reopened(&world.client().await?, kind)?;
    ensure_eq!(counter.apply("first", 5).await?, counter.applied(5), "the first attempt");
    ensure_eq!(counter.apply("first", 5).await?, counter.already(5), "a retry at once");
    for number in 0..40 {
        let _ = counter.apply(&format!("other-{number}"), 1).await?;
        let client = if number % 2 == 0 { &fresh } else { &counter };
        ensure_eq!(client.apply("first", 5).await?, counter.already(5), "a retry after {number} others");
    }
    for number in 0..40 {
        let value = 6 + number;
        let retried = fresh.apply(&format!("other-{number}"), 1).await?;
        ensure_eq!(retried, counter.already(value), "another operation's retry");
    }
    ensure_eq!(counter.value().await?, 45, "the value after 41 operations and their retries");
    Ok(())
}

fn reopened(store: &Arc<dyn Backend>, kind: Kind) -> storagebox_core::Result<Subject> {
    Subject::open(store, kind.strategy(Bounds::NONE, HOUR), Bounds::NONE)
}

pub(super) async fn operations_are_scoped_by_key(world: &World, kind: Kind) -> Verdict {
    let (one, two) = (Subject::new(world, kind)?, Subject::new(world, kind)?.at("other")?);
    ensure_eq!(one.apply("op", 5).await?, one.applied(5), "the operation on one key");
    ensure_eq!(two.apply("op", 7).await?, two.applied(7), "the same operation on another");
    ensure_eq!(one.apply("op", 5).await?, one.already(5), "its retry on the first key");
    ensure_eq!(two.apply("op", 7).await?, two.already(7), "its retry on the other");
    ensure_eq!(two.apply("op", 5).await?, Counted::Mismatch, "the first key's delta on the other");
    ensure_eq!((one.value().await?, two.value().await?), (5, 7), "both values");
    Ok(())
}

/// A store remembers an operation for at least the time that its strategy promises.
pub(super) async fn remembers_for_its_time(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::new(world, kind)?;
    for number in 0..5 {
        let _ = counter.apply(&format!("op-{number}"), 2).await?;
    }
    let quarter = if world.can_travel() { HOUR / 4 } else { world.short() };
    for turn in 1..=4 {
        // The last turn ends before the hour, with a margin for a clock that also runs in real time.
        let less = if turn == 4 { quarter / 10 } else { Duration::ZERO };
        world.pass(quarter - less).await;
        world.upkeep().await?;
        for number in 0..5 {
            let retried = counter.apply(&format!("op-{number}"), 2).await?;
            ensure_eq!(retried, counter.already(2 * (number + 1)), "a retry at quarter {turn} of the time");
        }
    }
    ensure_eq!(counter.value().await?, 10, "the value after 5 operations and their retries");
    Ok(())
}

/// An operation that is applied a second time, after the store has forgotten it, is remembered from then on.
pub(super) async fn remembers_anew_what_is_applied_anew(world: &World, kind: Kind) -> Verdict {
    let time = if world.can_travel() { HOUR } else { world.short() * 8 };
    let counter = Subject::open(world.store(), kind.strategy(Bounds::NONE, time), Bounds::NONE)?;
    // Whether a store forgets operations by age or by name, some of these operations come before `op`.
    for other in ["one", "two", "three", "four"] {
        let _ = counter.apply(other, 0).await?;
    }
    let _ = counter.apply("op", 5).await?;
    world.pass(time + world.short()).await;
    let anew = counter.apply("op", 5).await?;
    let value = counter.value().await?;
    ensure_eq!(anew, if value == 10 { counter.applied(10) } else { counter.already(5) }, "a retry after its time");
    if value == 10 {
        world.upkeep().await?;
        ensure_eq!(counter.apply("op", 5).await?, counter.already(10), "its retry after upkeep");
    }
    ensure_eq!(counter.value().await?, value, "the value in the end");
    Ok(())
}

pub(super) async fn is_remembered_for_ever(world: &World, kind: Kind) -> Verdict {
    let strategy = match kind {
        Kind::Marker => Strategy::Marker { retention: Retention::Forever },
        kind => kind.strategy(Bounds::NONE, HOUR),
    };
    let counter = Subject::open(world.store(), strategy, Bounds::NONE)?;
    ensure_eq!(counter.promise().remember, Remember::Forever, "the memory that is promised");
    let _ = counter.apply("op", 5).await?;
    let _ = counter.cancel("fenced").await?;
    world.pass(if world.can_travel() { MAX_DURATION } else { world.short() }).await;
    world.upkeep().await?;
    ensure_eq!(counter.apply("op", 5).await?, counter.already(5), "a retry after years");
    ensure_eq!(counter.apply("fenced", 5).await?, Counted::Fenced, "a fenced operation after years");
    ensure_eq!(counter.value().await?, 5, "the value after years");
    Ok(())
}

pub(super) async fn remembers_a_delta_of_0(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::new(world, kind)?;
    ensure_eq!(counter.apply("before", 0).await?, counter.applied(0), "0 on an absent counter");
    ensure_eq!(counter.value().await?, 0, "the value after it");
    let _ = counter.apply("other", 4).await?;
    ensure_eq!(counter.apply("before", 0).await?, counter.already(0), "its retry");
    ensure_eq!(counter.apply("after", 0).await?, counter.applied(4), "0 on a counter of 4");
    ensure_eq!(counter.apply("after", 0).await?, counter.already(4), "its retry");
    for op in ["before", "after"] {
        ensure_eq!(counter.apply(op, 1).await?, Counted::Mismatch, "1 for an operation of 0");
    }
    ensure_eq!(counter.apply("other", 0).await?, Counted::Mismatch, "0 for an operation of 4");
    ensure_eq!(counter.value().await?, 4, "the value in the end");
    Ok(())
}

/// A counter promises at least the memory, the bounds and the capacity that its strategy asks for.
pub(super) async fn strategies_promise_what_they_were_asked_for(world: &World) -> Verdict {
    for kind in [Kind::Marker, Kind::Window, Kind::Sharded] {
        let strategy = kind.strategy(Bounds::NONE, HOUR);
        let promise = world.store().counter(&format!("{kind:?}").parse()?, strategy)?.promise();
        let enough = match promise.remember {
            Remember::None | Remember::Writers(_) => false,
            Remember::For(time) => time >= HOUR,
            Remember::Forever => true,
        };
        ensure!(enough, "{strategy:?} promises {:?}", promise.remember);
        match kind {
            Kind::Window => ensure_eq!(promise.capacity, Some(CAPACITY), "the capacity of a window"),
            Kind::Sharded => {
                ensure!(!promise.bounds_per_change, "{SHARDS} shards promise bounds for each change");
                ensure!(!promise.answers_value, "{SHARDS} shards promise to answer the value");
            }
            _ => {}
        }
        if kind != Kind::Sharded {
            ensure!(promise.bounds_per_change, "{strategy:?} promises no bounds");
        }
    }
    Ok(())
}

pub(super) async fn retries_tell_the_first_value(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::new(world, kind)?;
    let deltas = [5, -3, 10, 0, -20, 1];
    let mut values = Vec::new();
    for (number, delta) in deltas.into_iter().enumerate() {
        let value = values.last().unwrap_or(&0) + delta;
        let counted = counter.apply(&format!("op-{number}"), delta).await?;
        ensure_eq!(counted, counter.applied(value), "operation {number}");
        values.push(value);
        for (earlier, first) in values.iter().enumerate() {
            let retried = counter.apply(&format!("op-{earlier}"), deltas[earlier]).await?;
            ensure_eq!(retried, counter.already(*first), "operation {earlier}, retried after {number}");
        }
    }
    Ok(())
}

/// A retry gets the answer of the first attempt, even if a new operation with the same change would be rejected.
pub(super) async fn retries_are_judged_before_anything_else(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::within(world, kind, Bounds::between(-10, 10)?)?;
    ensure_eq!(counter.apply("up", 10).await?, counter.applied(10), "up to the ceiling");
    ensure_eq!(counter.apply("up", 10).await?, counter.already(10), "its retry at the ceiling");
    ensure_eq!(counter.apply("down", -20).await?, counter.applied(-10), "down to the floor");
    ensure_eq!(counter.apply("down", -20).await?, counter.already(-10), "its retry at the floor");
    ensure_eq!(counter.apply("down", i64::MIN).await?, Counted::Mismatch, "an overflow for a known operation");
    ensure_eq!(counter.apply("down", -1).await?, Counted::Mismatch, "a result out of bounds for it");
    if counter.promise().bounds_per_change {
        let narrower = counter.bounded(Bounds::between(0, 1)?);
        let retried = narrower.apply("up", 10).await?;
        // A request token identifies the whole request, including its bounds.
        let differs = !counter.tells_repeats() && retried == Counted::Mismatch;
        ensure!(differs || retried == counter.already(10), "a retry with other bounds has another answer: {retried:?}");
    }
    ensure_eq!(counter.value().await?, -10, "the value in the end");
    Ok(())
}

/// A key remembers more operations than a page, a batch or a ring buffer of a store may hold.
pub(super) async fn a_thousand_operations_are_remembered(world: &World, kind: Kind) -> Verdict {
    const OPERATIONS: i64 = 1_100;
    let counter = Subject::new(world, kind)?;
    for number in 0..OPERATIONS {
        let _ = counter.apply(&format!("op-{number}"), 1).await?;
    }
    for number in [0, 1, 499, 999, 1_000, OPERATIONS - 1] {
        let again = counter.apply(&format!("op-{number}"), 1).await?;
        ensure_matches!(again, Counted::AlreadyApplied { .. }, "the retry of operation {number} of {OPERATIONS}");
    }
    ensure_eq!(counter.value().await?, OPERATIONS, "the value");
    Ok(())
}

pub(super) async fn another_delta_is_a_mismatch(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::new(world, kind)?;
    let _ = counter.apply("op", 5).await?;
    for delta in [6, 4, -5, 0, i64::MAX, i64::MIN] {
        ensure_eq!(counter.apply("op", delta).await?, Counted::Mismatch, "{delta} for an operation of 5");
        ensure_eq!(counter.value().await?, 5, "the value after that");
        ensure_eq!(counter.apply("op", 5).await?, counter.already(5), "the operation itself after that");
    }
    Ok(())
}

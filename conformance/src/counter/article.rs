//! Article 5: where each of its seven approaches is exact and where it may not be. [`window`] covers article 3.

pub(super) mod lasting;
pub(super) mod sharding;
pub(super) mod window;

use std::ops::RangeInclusive;

use storagebox_core::{Bounds, Counted, ErrorKind, Strategy};

use super::Subject;
use super::ambiguous::ensure_lost;
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::link::{Fate, Link};
use crate::race::race;
use crate::world::World;

/// Creates the counter `abc123` with this quantity and the lower bound 0.
async fn stock(world: &World, strategy: Strategy, quantity: i64) -> Result<Subject, Failure> {
    let counter = Subject::open(world.store(), strategy, Bounds::at_least(0))?.at("abc123")?;
    let _ = counter.apply("delivery", quantity).await?;
    Ok(counter)
}

/// Makes an attempt whose request or reply is lost, and checks that the attempt returns `OutcomeUnknown`.
async fn lose(counter: &Subject, fate: Fate, op: &str, delta: i64) -> Verdict {
    ensure_lost(counter.behind(&Link::script([fate])).attempt(op, delta).await)
}

/// The reply to a change of -5 is lost, and the change is retried. The counter subtracts 5 or 10.
pub(super) async fn approach_1_a_lost_reply_may_be_counted_twice(world: &World) -> Verdict {
    // Article 5: "Always retry after a failure if overapplication is tolerable."
    let counter = stock(world, Strategy::Atomic, 20).await?;
    lose(&counter, Fate::ReplyLost, "order", -5).await?;
    let _ = counter.apply("order", -5).await?;
    let value = counter.value().await?;
    ensure!(
        [10, 15].contains(&value),
        "20 and a retried order of 5, whose reply was lost, are neither 10 nor 15: {value}"
    );
    Ok(())
}

/// If the request or reply of a change is lost and the change is not retried, the change is applied at most once.
pub(super) async fn approach_1_without_a_retry_nothing_is_counted_twice(world: &World) -> Verdict {
    // Article 5: "Never retry if underapplication is tolerable."
    let counter = stock(world, Strategy::Atomic, 20).await?;
    lose(&counter, Fate::RequestLost, "lost", -5).await?;
    ensure_eq!(counter.value().await?, 20, "the value after a request that was lost");
    lose(&counter, Fate::ReplyLost, "applied", -5).await?;
    ensure_eq!(counter.value().await?, 15, "the value after a reply that was lost");
    Ok(())
}

/// The counter subtracts 3 only while at least 3 are left, even if a retried change counts twice.
pub(super) async fn approach_1_a_threshold_is_never_passed(world: &World) -> Verdict {
    let counter = stock(world, Strategy::Atomic, 8).await?;
    ensure_eq!(counter.apply("1", -3).await?, counter.applied(5), "3 of 8");
    lose(&counter, Fate::ReplyLost, "2", -3).await?;
    ensure_eq!(counter.apply("2", -3).await?, Counted::OutOfBounds, "3 of 2");
    ensure_eq!(counter.value().await?, 2, "what is left");
    Ok(())
}

/// Concurrent changes of -5 are applied one by one, as many as the value allows.
pub(super) async fn approach_1_simultaneous_calls_are_applied_one_by_one(world: &World) -> Verdict {
    // Article 5: "Naturally serialized."
    let counter = stock(world, Strategy::Atomic, 61).await?;
    let answers = race(24, |number| {
        let counter = counter.clone();
        async move { counter.apply(&format!("order-{number}"), -5).await }
    })
    .await?;
    let served = answers.iter().filter(|answer| **answer != Counted::OutOfBounds).count();
    ensure_eq!((served, counter.value().await?), (12, 1), "orders of 5 served out of 61, and what is left");
    Ok(())
}

/// If the request of a change was lost and no other change was applied since, a retry is applied.
pub(super) async fn approach_2_an_unchanged_tag_means_it_did_not_happen(world: &World) -> Verdict {
    // Article 5: "If the value of entityTag hasn't changed, the update didn't happen and you can safely retry."
    let counter = stock(world, Strategy::Optimistic, 20).await?;
    lose(&counter, Fate::RequestLost, "order", -5).await?;
    ensure_eq!(counter.apply("order", -5).await?, counter.applied(15), "the retry of what never arrived");
    ensure_eq!(counter.value().await?, 15, "the value after it");
    Ok(())
}

/// If the reply to a change was lost, a retry returns `AlreadyApplied` until another change is applied.
pub(super) async fn approach_2_ones_own_tag_means_it_happened(world: &World) -> Verdict {
    // Article 5: "If entityTag was changed to the new value, the update happened and there is no need to retry."
    let counter = stock(world, Strategy::Optimistic, 20).await?;
    lose(&counter, Fate::ReplyLost, "order", -5).await?;
    for _ in 0..3 {
        ensure_eq!(counter.apply("order", -5).await?, counter.already(15), "the retry of what was applied");
    }
    ensure_eq!(counter.value().await?, 15, "the value after the retries");
    Ok(())
}

/// If another writer changes the counter after a lost reply, a retry of the lost change returns `OutcomeUnknown` or
/// counts again.
pub(super) async fn approach_2_a_third_writer_leaves_it_unknown_or_counted_again(world: &World) -> Verdict {
    // Article 5: "A third value: it's still unclear if your update applied or not."
    let counter = stock(world, Strategy::Optimistic, 20).await?;
    lose(&counter, Fate::ReplyLost, "order", -5).await?;
    let _ = counter.apply("another", -1).await?;
    ensure_forgotten(&counter, "order", -5, 9..=14).await
}

/// Retries an operation that the store may have forgotten, and checks that the answer agrees with the value.
async fn ensure_forgotten(counter: &Subject, op: &str, delta: i64, values: RangeInclusive<i64>) -> Verdict {
    let before = counter.value().await?;
    let answer = counter.attempt(op, delta).await;
    let value = counter.value().await?;
    ensure!(values.contains(&value), "the value is {value}, not within {values:?}");
    match answer {
        Ok(Counted::Applied { .. }) => {
            ensure_eq!(value, before + delta, "the value when it is counted again")
        }
        Ok(Counted::AlreadyApplied { .. }) => ensure_eq!(value, before, "the value when it is known"),
        Err(error) => ensure_eq!(error.kind(), ErrorKind::OutcomeUnknown, "the kind of {error}"),
        Ok(other) => ensure!(false, "an operation that may be forgotten is answered {other:?}"),
    }
    Ok(())
}

/// The store refuses a change that would make the value negative, and still recognises a retry of the last applied
/// change.
pub(super) async fn approach_2_a_threshold_stops_the_process(world: &World) -> Verdict {
    // Article 5: "If the change would breach the threshold, the process can be stopped."
    let counter = stock(world, Strategy::Optimistic, 7).await?;
    ensure_eq!(counter.apply("1", -5).await?, counter.applied(2), "5 of 7");
    ensure_eq!(counter.apply("2", -5).await?, Counted::OutOfBounds, "5 of 2");
    ensure_eq!(counter.apply("1", -5).await?, counter.already(2), "the retry of the last writer");
    Ok(())
}

/// Under contention, every caller's change is applied, and each change is counted once.
pub(super) async fn approach_2_contention_ends(world: &World) -> Verdict {
    for (strategy, name) in [(Strategy::Optimistic, "occ"), (Strategy::OptimisticHistory { len: 50 }, "history")] {
        let counter = Subject::named(world.store(), name, strategy, Bounds::NONE)?;
        race(32, |number| {
            let counter = counter.clone();
            async move { counter.apply(&format!("process-{number}"), 1).await }
        })
        .await?;
        ensure_eq!(counter.value().await?, 32, "the value after 32 processes at once");
    }
    Ok(())
}

fn history(world: &World, len: u16) -> storagebox_core::Result<Subject> {
    Subject::open(world.store(), Strategy::OptimisticHistory { len }, Bounds::NONE)
}

/// A retry returns `AlreadyApplied` while its change is in the history of the last writers.
pub(super) async fn approach_3_within_its_history_a_retry_is_exact(world: &World) -> Verdict {
    // Article 5: "Check if the random value it tried to append is present. If it is, the update was successful."
    let counter = history(world, 10)?;
    lose(&counter, Fate::ReplyLost, "a458fc3d", 5).await?;
    for others in 1..=9 {
        let _ = counter.apply(&format!("other-{others}"), 1).await?;
        let retried = counter.apply("a458fc3d", 5).await?;
        ensure_eq!(retried, counter.already(5), "the retry after {others} other writers of 10 in all");
    }
    lose(&counter, Fate::RequestLost, "781d45ac", 5).await?;
    ensure_eq!(counter.apply("781d45ac", 5).await?, counter.applied(19), "what is not in the history");
    ensure_eq!(counter.value().await?, 19, "the value in the end");
    Ok(())
}

/// A retry whose change has left the history returns `OutcomeUnknown` or counts again.
pub(super) async fn approach_3_beyond_its_history_it_is_unknown_or_counted_again(world: &World) -> Verdict {
    // Article 5: "Every entry might have changed: this writer is in an ambiguous situation."
    let counter = history(world, 3)?;
    lose(&counter, Fate::ReplyLost, "a458fc3d", 5).await?;
    for others in 0..3 {
        let _ = counter.apply(&format!("other-{others}"), 1).await?;
    }
    ensure_forgotten(&counter, "a458fc3d", 5, 8..=13).await
}

/// A history never returns `Full`: each new writer replaces the oldest writer.
pub(super) async fn approach_3_the_oldest_writer_makes_room(world: &World) -> Verdict {
    // Article 5: "Remove an entry from the start (the oldest successful writer) as well as adding its own at the end."
    let counter = history(world, 3)?;
    for number in 1..=30 {
        ensure_eq!(counter.apply(&format!("op-{number}"), 1).await?, counter.applied(number), "writer {number}");
        for kept in (number - 2).max(1)..=number {
            let retried = counter.apply(&format!("op-{kept}"), 1).await?;
            ensure_eq!(retried, counter.already(kept), "the retry of writer {kept} after {number}");
        }
    }
    ensure_eq!(counter.value().await?, 30, "the value after 30 writers");
    Ok(())
}

/// Repetitions of a change with the same request token apply it once.
pub(super) async fn approach_4_repeats_of_a_token_apply_once(world: &World) -> Verdict {
    // Article 5: "Only one request with that CRT will apply within any 10-minute window."
    let counter = stock(world, Strategy::TransactionToken, 40).await?;
    lose(&counter, Fate::ReplyLost, "edaf-4999-9878-23tf", -7).await?;
    for _ in 0..5 {
        let repeated = counter.apply("edaf-4999-9878-23tf", -7).await?;
        ensure_eq!(repeated, counter.already(33), "the same token once more");
    }
    ensure_eq!(counter.value().await?, 33, "40 less 7");
    ensure_eq!(counter.apply("another", -7).await?, counter.applied(26), "another token");
    Ok(())
}

/// A change that would make the value negative is refused. The token of a refused change can be used again when the
/// value is high enough.
pub(super) async fn approach_4_a_threshold_goes_with_the_token(world: &World) -> Verdict {
    // Article 5: "A condition that the quantity must not drop below zero."
    let counter = stock(world, Strategy::TransactionToken, 10).await?;
    ensure_eq!(counter.apply("1", -7).await?, counter.applied(3), "7 of 10");
    ensure_eq!(counter.apply("2", -7).await?, Counted::OutOfBounds, "7 of 3");
    let _ = counter.apply("more", 5).await?;
    ensure_eq!(counter.apply("2", -7).await?, counter.applied(1), "7 of 8 with the token that was rejected");
    ensure_eq!(counter.apply("2", -7).await?, counter.already(1), "the same token once more");
    ensure_eq!(counter.value().await?, 1, "what is left");
    Ok(())
}

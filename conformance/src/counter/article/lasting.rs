//! Approaches 5 to 7: counters that are exact without a time limit.

use std::time::Duration;

use storagebox_core::{Bounds, Cancelled, Change, Counted, ErrorKind, LedgerEntry, Retention, Strategy};

use super::{lose, stock};
use crate::counter::Subject;
use crate::counter::ledger::{Book, ensure_in_order};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::link::Fate;
use crate::race::race;
use crate::world::World;

fn marker(retention: Duration) -> Strategy {
    Strategy::Marker { retention: Retention::For(retention) }
}

const DAY: Duration = Duration::from_secs(86_400);

/// A marker counter recognises a retry after more than ten minutes, unlike a request token.
pub(in crate::counter) async fn approach_5_the_marker_is_exact_beyond_ten_minutes(world: &World) -> Verdict {
    // Article 5: "If idempotency must extend beyond the ten-minute CRT window."
    let counter = stock(world, marker(DAY), 20).await?;
    lose(&counter, Fate::ReplyLost, "edaf-4999-9878-23tf", -5).await?;
    let eleven_minutes = Duration::from_secs(660);
    for _ in 0..3 {
        world.pass(if world.can_travel() { eleven_minutes } else { world.short() }).await;
        world.upkeep().await?;
        let retried = counter.apply("edaf-4999-9878-23tf", -5).await?;
        ensure_eq!(retried, counter.already(15), "the retry after more than ten minutes");
    }
    ensure_eq!(counter.value().await?, 15, "20 less 5");
    Ok(())
}

/// When the stock is empty, a retry of an applied change returns `AlreadyApplied`, and a new change returns
/// `OutOfBounds`.
pub(in crate::counter) async fn approach_5_a_repeat_is_told_from_a_threshold(world: &World) -> Verdict {
    // Article 5: "Check for the existence of the marker item. If not, the threshold blocked the change."
    let counter = stock(world, marker(DAY), 5).await?;
    ensure_eq!(counter.apply("1", -5).await?, counter.applied(0), "5 of 5");
    ensure_eq!(counter.apply("1", -5).await?, counter.already(0), "its marker is there, with nothing left");
    ensure_eq!(counter.apply("2", -5).await?, Counted::OutOfBounds, "no marker is there, and nothing is left");
    ensure_eq!(counter.value().await?, 0, "what is left");
    Ok(())
}

/// If the request or reply of a change is lost and the change is retried, the ledger has one entry for the change.
pub(in crate::counter) async fn approach_6_a_retry_writes_the_same_entry(world: &World) -> Verdict {
    // Article 5: "It's safe to retry, the item will be over-written if it already exists."
    let book = Book::of(world.store())?;
    let counter = Subject::of(book.ledger.clone() as _)?;
    for fate in [Fate::RequestLost, Fate::ReplyLost] {
        lose(&counter, fate, "a458fc3d", 3).await?;
    }
    for _ in 0..5 {
        ensure_eq!(counter.apply("a458fc3d", 3).await?, counter.already(3), "the retry");
    }
    ensure_eq!((book.value().await?, book.log(10).await?.len()), (3, 1), "the value, and the entries");
    Ok(())
}

/// A compaction merges ledger entries into one sum and keeps the value.
pub(in crate::counter) async fn approach_6_entries_merge_without_changing_the_value(world: &World) -> Verdict {
    // Article 5: "Multiple entries can be deleted and replaced by a singular entry containing their net change."
    let book = Book::of(world.store())?;
    for number in 0..10 {
        book.add(&format!("op-{number}"), 10 - 3 * number).await?;
    }
    for left in [7_u64, 4, 1, 0] {
        let merged = book.compact(Duration::ZERO, 3).await?;
        ensure_eq!(merged.more, left > 0, "whether there is more with {left} left");
        ensure_eq!(book.value().await?, -35, "the value with {left} entries left");
        let log = book.log(100).await?;
        ensure_eq!(log.len() as u64, 1 + left, "the sum and {left} entries");
        ensure!(
            matches!(log[0], LedgerEntry::Sum { changes, .. } if changes == 10 - left),
            "the sum of all but {left}: {:?}",
            log[0]
        );
    }
    Ok(())
}

/// A ledger lists its changes in the order of time, not in the order of their names.
pub(in crate::counter) async fn approach_6_the_log_is_in_order(world: &World) -> Verdict {
    // Article 5: "To show a log of changes, the SK can be prefixed with a timestamp."
    let book = Book::of(world.store())?;
    // The order by name is different.
    let ops = ["zulu", "mike", "alpha", "yankee", "bravo"];
    for (number, op) in ops.into_iter().enumerate() {
        book.add(op, 1 << number).await?;
        world.pass(Duration::from_millis(20)).await;
    }
    for limit in [1, 2, 100] {
        let log = book.log(limit).await?;
        ensure_in_order(&log)?;
        let shown: Vec<_> = log.iter().map(named).collect();
        ensure_eq!(shown, ops, "the operations of the log by {limit}");
    }
    Ok(())
}

fn named(entry: &LedgerEntry) -> &str {
    match entry {
        LedgerEntry::Change { op, .. } => op.as_str(),
        LedgerEntry::Sum { .. } => "a sum",
    }
}

/// A ledger keeps a separate entry for each of many concurrent changes.
pub(in crate::counter) async fn approach_6_changes_of_one_moment_are_not_confused(world: &World) -> Verdict {
    // Article 5: "Keep a random element as a suffix to avoid two changes at exactly the same time being confused for
    // one."
    let book = Book::of(world.store())?;
    race(24, |number| {
        let book = book.clone();
        async move { book.add(&format!("op-{number}"), 1).await }
    })
    .await?;
    let log = book.log(7).await?;
    ensure_in_order(&log)?;
    ensure_eq!((log.len(), book.value().await?), (24, 24), "entries of 24 changes at once, and the value");
    Ok(())
}

/// A later retry of a ledger change adds no entry.
pub(in crate::counter) async fn approach_6_a_retry_at_another_time_is_the_same_entry(world: &World) -> Verdict {
    let book = Book::of(world.store())?;
    let counter = Subject::of(book.ledger.clone() as _)?;
    let _ = counter.apply("a458fc3d", 3).await?;
    for _ in 0..3 {
        world.pass(world.short()).await;
        ensure_eq!(counter.apply("a458fc3d", 3).await?, counter.already(3), "the retry at another time");
    }
    ensure_eq!((book.value().await?, book.log(10).await?.len()), (3, 1), "the value, and the entries");
    Ok(())
}

/// A ledger refuses a change with bounds, and its value stays the same.
pub(in crate::counter) async fn approach_6_bounds_are_refused(world: &World) -> Verdict {
    // Article 5: "This approach doesn't work well with threshold enforcement."
    let book = Book::of(world.store())?;
    book.add("deposit", 3).await?;
    let change = Change::new("withdrawal".try_into()?, -5).within(Bounds::at_least(0));
    let refused = book.ledger.apply(&book.key, &change).await;
    let error = refused.err().ok_or_else(|| Failure::new("a ledger accepts a threshold"))?;
    ensure_eq!(error.kind(), ErrorKind::Unsupported, "the kind of {error}");
    ensure_eq!(book.value().await?, 3, "the value after it");
    Ok(())
}

/// A ledger applies a change that makes its value negative, and the next read shows the negative value.
pub(in crate::counter) async fn approach_6_a_crossing_can_be_observed(world: &World) -> Verdict {
    // Article 5: "It would be possible to observe a threshold's crossing and take action."
    let book = Book::of(world.store())?;
    book.add("deposit", 3).await?;
    book.add("withdrawal", -5).await?;
    ensure_eq!(book.value().await?, -2, "what the next read sees");
    book.add("correction", 2).await?;
    ensure_eq!(book.value().await?, 0, "the value after the action that was taken");
    Ok(())
}

/// A cached read of a ledger is no older than its caller allows.
pub(in crate::counter) async fn approach_6_a_cached_value_is_no_older_than_asked(world: &World) -> Verdict {
    // Article 5: "Caching the calculated value."
    let (writer, reader) = (Book::of(world.store())?, Book::of(&world.client().await?)?);
    let age = world.short();
    writer.add("first", 3).await?;
    let first = reader.ledger.value_within(&reader.key, age).await?;
    ensure!([0, 3].contains(&first), "a value within {age:?}: {first}");
    writer.add("second", 4).await?;
    let stale = reader.ledger.value_within(&reader.key, age).await?;
    ensure!([0, 3, 7].contains(&stale), "a value within {age:?}: {stale}");
    ensure_eq!(reader.ledger.value_within(&reader.key, Duration::ZERO).await?, 7, "a value that is not cached");
    world.pass(age * 2).await;
    ensure_eq!(reader.ledger.value_within(&reader.key, age).await?, 7, "a value within {age:?} after longer");
    Ok(())
}

fn slots(world: &World, max: u32) -> storagebox_core::Result<Subject> {
    Subject::open(world.store(), Strategy::TokenSet { max }, Bounds::NONE)
}

/// A token set that is full with 50 tokens returns `Full` to a new token and `AlreadyApplied` to a stored token.
pub(in crate::counter) async fn approach_7_a_full_set_says_so(world: &World) -> Verdict {
    let counter = slots(world, 50)?;
    for number in 1..=50 {
        let counted = counter.apply(&format!("player-{number}"), 1).await?;
        ensure_eq!(counted, counter.applied(number), "player {number} of 50");
    }
    ensure_eq!(counter.apply("player-51", 1).await?, Counted::Full, "the player after the last");
    ensure_eq!(counter.apply("player-7", 1).await?, counter.already(7), "a player whose token is there");
    ensure_eq!(counter.value().await?, 50, "the slots that are filled");
    Ok(())
}

/// A token set recognises a token after a year.
pub(in crate::counter) async fn approach_7_a_token_in_the_set_is_not_applied_again(world: &World) -> Verdict {
    // Article 5: "The check of the token's existence in the set prevents repeat application."
    let counter = slots(world, 50)?;
    lose(&counter, Fate::ReplyLost, "a458fc3d", 1).await?;
    world.pass(if world.can_travel() { DAY * 365 } else { world.short() }).await;
    world.upkeep().await?;
    for _ in 0..3 {
        ensure_eq!(counter.apply("a458fc3d", 1).await?, counter.already(1), "the token, long after");
    }
    ensure_eq!(counter.value().await?, 1, "the slots that are filled");
    Ok(())
}

/// A token set refuses a change that is out of bounds, and does not store the token of the refused change.
pub(in crate::counter) async fn approach_7_bounds_beside_the_set(world: &World) -> Verdict {
    // Article 5: "If the change is variable, the condition expression can be extended to include a threshold check."
    let counter = slots(world, 3)?.bounded(Bounds::between(0, 10)?);
    ensure_eq!(counter.apply("1", 8).await?, counter.applied(8), "8 on 0");
    ensure_eq!(counter.apply("2", 3).await?, Counted::OutOfBounds, "3 on 8 with a threshold of 10");
    ensure_eq!(counter.apply("2", 2).await?, counter.applied(10), "2 on 8, by the token that was rejected");
    ensure_eq!(counter.apply("3", -10).await?, counter.applied(0), "the last token of the set");
    ensure_eq!(counter.apply("4", -1).await?, Counted::OutOfBounds, "-1 on 0 where the set is full as well");
    ensure_eq!(counter.apply("4", 1).await?, Counted::Full, "1 on 0 where the set is full");
    Ok(())
}

/// A token set that is full of applied and cancelled tokens stays full.
pub(in crate::counter) async fn approach_7_a_full_set_stays_full(world: &World) -> Verdict {
    // Article 5: "Once the set maximum is reached, the counter can no longer be updated."
    let counter = slots(world, 2)?;
    let _ = counter.apply("applied", 5).await?;
    ensure_eq!(counter.cancel("fenced").await?, Cancelled::Cancelled, "a fence in the last place");
    for _ in 0..3 {
        world.pass(if world.can_travel() { DAY * 365 } else { world.short() }).await;
        world.upkeep().await?;
        ensure_eq!(counter.apply("late", 1).await?, Counted::Full, "a change of a full set");
        ensure_eq!(counter.cancel("late").await?, Cancelled::Full, "a fence in a full set");
    }
    ensure_eq!(counter.value().await?, 5, "the value in the end");
    Ok(())
}

//! Operations on counters whose refusals have made calls void.

use std::sync::Arc;

use futures_util::future::join_all;
use storagebox_core::{
    Attempt, Backend, Bounds, Cancelled, Change, Counted, Counter, ErrorKind, Key, OpId, Result, Retention, Strategy,
};

use super::{HOUR, store};
use crate::scene::{count, with_database, with_place};
use crate::support::Place;

const MARKER: Strategy = Strategy::Marker { retention: Retention::For(HOUR) };
const WINDOW: Strategy = Strategy::Window { lifetime: HOUR, capacity: 2 };

fn strategies() -> Result<[Strategy; 3]> {
    let sharded = Strategy::Sharded { shards: 3, bounds: Bounds::at_least(0), retention: Retention::For(HOUR) };
    Ok([MARKER, WINDOW, sharded])
}

async fn counters(place: &Place, strategy: Strategy) -> Result<Arc<dyn Counter>> {
    store(place, true).await?.counter(&"namespace".parse()?, strategy)
}

fn key() -> Key {
    "key".parse().expect("a key")
}

fn change(op: &str, delta: i64) -> Change {
    Change::new(OpId::new(op).expect("an operation"), delta).within(Bounds::at_least(0))
}

async fn apply(counters: &Arc<dyn Counter>, call: i64, op: &str, delta: i64) -> Result<Counted> {
    counters.attempt_apply(Attempt::of_call(call), &key(), &change(op, delta)).await
}

async fn repeat(counters: &Arc<dyn Counter>, call: i64, op: &str, delta: i64) -> Result<Counted> {
    counters.attempt_apply(Attempt::of_call(call).again(), &key(), &change(op, delta)).await
}

async fn applied(counters: &Arc<dyn Counter>, call: i64, op: &str, delta: i64) -> Result<()> {
    let counted = apply(counters, call, op, delta).await?;
    assert!(matches!(counted, Counted::Applied { .. }), "{op}: {counted:?}");
    Ok(())
}

#[test]
fn a_late_attempt_of_a_refused_change_is_not_applied() -> Result<()> {
    with_database(async |database| {
        for strategy in strategies()? {
            let place = database.place().await?;
            let counters = counters(&place, strategy).await?;
            assert_eq!(repeat(&counters, 7, "sale", -1).await?, Counted::OutOfBounds, "{strategy:?}");
            assert_eq!(count(&place.database, &format!("SELECT count(*) FROM {}.counters", place.schema)).await?, 0);
            applied(&counters, 1, "fill", 5).await?;
            for delta in [-1, -2] {
                assert_eq!(apply(&counters, 7, "sale", delta).await?, Counted::OutOfBounds, "{strategy:?}");
                assert_eq!(repeat(&counters, 7, "sale", delta).await?, Counted::OutOfBounds, "{strategy:?}");
            }
            applied(&counters, 8, "sale", -1).await?;
            let late = apply(&counters, 7, "sale", -1).await?;
            assert!(matches!(late, Counted::AlreadyApplied { .. }), "{strategy:?}: {late:?}");
            assert_eq!(apply(&counters, 7, "sale", -2).await?, Counted::Mismatch, "{strategy:?}");
            assert_eq!(counters.value(&key()).await?, 4, "{strategy:?}");
        }
        Ok(())
    })
}

/// The first of several concurrent calls is made alone, and the others are made in a batch.
#[test]
fn a_batch_makes_refused_calls_void() -> Result<()> {
    with_database(async |database| {
        for strategy in strategies()? {
            let counters = counters(&database.place().await?, strategy).await?;
            let ops: Vec<_> = (0..8).map(|number| format!("op-{number}")).collect();
            let refused = join_all(ops.iter().map(|op| repeat(&counters, 7, op, -1))).await;
            assert!(refused.iter().all(|counted| matches!(counted, Ok(Counted::OutOfBounds))), "{refused:?}");
            applied(&counters, 1, "fill", 50).await?;
            let late = join_all(ops.iter().map(|op| apply(&counters, 7, op, -1))).await;
            assert!(late.iter().all(|counted| matches!(counted, Ok(Counted::OutOfBounds))), "{strategy:?}: {late:?}");
            assert_eq!(counters.value(&key()).await?, 50, "{strategy:?}");
        }
        Ok(())
    })
}

#[test]
fn cancel_after_a_void_call_fences_all_calls_of_the_operation() -> Result<()> {
    with_database(async |database| {
        for strategy in strategies()? {
            let counters = counters(&database.place().await?, strategy).await?;
            assert_eq!(repeat(&counters, 7, "sale", -1).await?, Counted::OutOfBounds);
            assert_eq!(counters.cancel(&key(), &OpId::new("sale")?).await?, Cancelled::Cancelled, "{strategy:?}");
            for call in [7, 8] {
                assert_eq!(apply(&counters, call, "sale", 1).await?, Counted::Fenced, "{strategy:?}");
            }
        }
        Ok(())
    })
}

#[test]
fn change_beyond_the_limit_of_void_calls_is_outcome_unknown() -> Result<()> {
    with_database(async |database| {
        for strategy in strategies()? {
            let counters = counters(&database.place().await?, strategy).await?;
            for call in 0..Attempt::MAX_VOID as i64 {
                assert_eq!(repeat(&counters, call, "sale", -1).await?, Counted::OutOfBounds);
            }
            let more = repeat(&counters, -1, "sale", -1).await;
            assert_eq!(more.unwrap_err().kind(), ErrorKind::OutcomeUnknown, "{strategy:?}");
            assert_eq!(repeat(&counters, 0, "sale", -1).await?, Counted::OutOfBounds, "it is void already");
            applied(&counters, -1, "sale", 1).await?;
        }
        Ok(())
    })
}

#[test]
fn repeated_refusal_by_an_atomic_counter_is_outcome_unknown() -> Result<()> {
    with_place(async |place| {
        let counters = counters(place, Strategy::Atomic).await?;
        assert_eq!(apply(&counters, 7, "sale", -1).await?, Counted::OutOfBounds);
        let ops: Vec<_> = (0..4).map(|number| format!("op-{number}")).collect();
        for refused in join_all(ops.iter().map(|op| repeat(&counters, 7, op, -1))).await {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::OutcomeUnknown);
        }
        Ok(())
    })
}

async fn ops(place: &Place) -> Result<i64> {
    count(&place.database, &format!("SELECT coalesce(sum(ops), 0)::bigint FROM {}.counters", place.schema)).await
}

#[test]
fn refusal_by_a_full_window_does_not_count_as_an_operation() -> Result<()> {
    with_place(async |place| {
        let counters = counters(place, WINDOW).await?;
        applied(&counters, 1, "first", 1).await?;
        applied(&counters, 1, "second", 1).await?;
        place.advance(HOUR / 2).await?;
        assert_eq!(repeat(&counters, 7, "third", 1).await?, Counted::Full);
        assert_eq!(repeat(&counters, 7, "fourth", -5).await?, Counted::OutOfBounds);
        assert_eq!(ops(place).await?, 2);
        place.advance(HOUR / 2).await?;
        assert_eq!(apply(&counters, 7, "third", 1).await?, Counted::Full);
        assert_eq!(apply(&counters, 7, "fourth", 1).await?, Counted::OutOfBounds);
        applied(&counters, 8, "third", 1).await?;
        assert_eq!(counters.cancel(&key(), &OpId::new("fourth")?).await?, Cancelled::Cancelled);
        assert_eq!(ops(place).await?, 2);
        assert_eq!(apply(&counters, 1, "fifth", 1).await?, Counted::Full);
        assert_eq!(counters.value(&key()).await?, 3);
        Ok(())
    })
}

/// A forgotten operation is repeated and refused. The row of the operation then stores the refusal.
#[test]
fn refusal_replaces_the_row_of_a_forgotten_operation() -> Result<()> {
    with_database(async |database| {
        for strategy in strategies()? {
            let place = database.place().await?;
            let counters = counters(&place, strategy).await?;
            applied(&counters, 1, "sale", 1).await?;
            applied(&counters, 1, "back", -1).await?;
            place.advance(HOUR).await?;
            assert_eq!(repeat(&counters, 7, "sale", -1).await?, Counted::OutOfBounds, "{strategy:?}");
            assert_eq!(ops(&place).await?, 0, "{strategy:?}");
            assert_eq!(apply(&counters, 7, "sale", 1).await?, Counted::OutOfBounds, "{strategy:?}");
            applied(&counters, 8, "sale", 1).await?;
        }
        Ok(())
    })
}

#[test]
fn void_calls_are_forgotten_like_operations() -> Result<()> {
    with_database(async |database| {
        for strategy in strategies()? {
            let place = database.place().await?;
            let store = store(&place, true).await?;
            let counters = store.counter(&"namespace".parse()?, strategy)?;
            for op in ["sale", "other"] {
                assert_eq!(repeat(&counters, 7, op, -1).await?, Counted::OutOfBounds, "{strategy:?}");
            }
            assert_eq!(store.maintain(10).await?.deleted, 0, "{strategy:?}");
            place.advance(HOUR).await?;
            applied(&counters, 7, "sale", 1).await?;
            assert_eq!(store.maintain(10).await?.deleted, 1, "{strategy:?}");
            assert_eq!(counters.value(&key()).await?, 1, "{strategy:?}");
        }
        Ok(())
    })
}

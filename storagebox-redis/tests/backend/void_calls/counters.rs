//! Changes of counters.

use std::sync::Arc;

use redis::cmd;
use storagebox_core::{
    Attempt, Backend, Bounds, Cancelled, Certainty, Change, Counted, Counter, ErrorKind, Key, OpId, Result, Retention,
    Strategy,
};

use super::{HOUR, lost};
use crate::scene::with_place;
use crate::support::{Place, failed};

async fn counter(place: &Place, strategy: Strategy) -> Result<(Arc<dyn Counter>, Key)> {
    Ok((place.store()?.counter(&"namespace".parse()?, strategy)?, Key::new("shoes")?))
}

fn change(op: &str, delta: i64) -> Result<Change> {
    Ok(Change::new(OpId::new(op)?, delta).within(Bounds::at_least(0)))
}

/// Returns the number of stored fields for the operations of the counter `shoes`.
async fn size(place: &Place) -> Result<u64> {
    place.server.ask(cmd("HLEN").arg(format!("{}:o:shoes", place.key("c.namespace.0")))).await
}

const WINDOW: Strategy = Strategy::Window { lifetime: HOUR, capacity: 2 };

#[test]
fn a_change_that_arrives_after_its_refusal_is_not_made() -> Result<()> {
    with_place(async |place| {
        let (stock, key) = counter(place, Strategy::Marker { retention: Retention::For(HOUR) }).await?;
        let (sell, fill) = (change("sell", -1)?, change("fill", 1)?);
        assert_eq!(stock.attempt_apply(lost(), &key, &sell).await?, Counted::OutOfBounds);
        assert_eq!(size(place).await?, 0, "a first attempt leaves nothing");
        assert_eq!(stock.attempt_apply(lost().again(), &key, &sell).await?, Counted::OutOfBounds);
        assert_eq!(stock.apply(&key, &fill).await?, Counted::Applied { value: Some(1) });
        assert_eq!(stock.attempt_apply(lost(), &key, &sell).await?, Counted::OutOfBounds);
        assert_eq!(stock.attempt_apply(lost().again(), &key, &sell).await?, Counted::OutOfBounds);
        assert_eq!(stock.value(&key).await?, 1);
        assert_eq!(stock.apply(&key, &sell).await?, Counted::Applied { value: Some(0) });
        assert_eq!(stock.attempt_apply(lost(), &key, &sell).await?, Counted::AlreadyApplied { value: Some(0) });
        assert_eq!(stock.attempt_apply(lost(), &key, &change("sell", -2)?).await?, Counted::Mismatch);
        Ok(())
    })
}

#[test]
fn a_call_refused_twice_returns_the_later_refusal() -> Result<()> {
    with_place(async |place| {
        let (stock, key) = counter(place, WINDOW).await?;
        let most = Change::new(OpId::new("most")?, i64::MAX);
        let one_more = Change::new(OpId::new("one more")?, 1);
        let _ = stock.apply(&key, &most).await?;
        assert_eq!(stock.attempt_apply(lost().again(), &key, &one_more).await?, Counted::Overflow);
        let _ = stock.apply(&key, &Change::new(OpId::new("less")?, -10)).await?;
        assert_eq!(stock.attempt_apply(lost(), &key, &one_more).await?, Counted::Overflow);
        let other = Attempt::of_call(8);
        assert_eq!(stock.attempt_apply(other.again(), &key, &one_more).await?, Counted::Full);
        for attempt in [lost(), other] {
            assert_eq!(stock.attempt_apply(attempt, &key, &one_more).await?, Counted::Full, "the last refusal");
        }
        Ok(())
    })
}

#[test]
fn void_calls_use_no_capacity_of_a_window() -> Result<()> {
    with_place(async |place| {
        let (stock, key) = counter(place, WINDOW).await?;
        for op in ["a", "b", "c"] {
            assert_eq!(stock.attempt_apply(lost().again(), &key, &change(op, -1)?).await?, Counted::OutOfBounds);
        }
        assert_eq!(stock.apply(&key, &change("d", 5)?).await?, Counted::Applied { value: Some(5) });
        assert_eq!(stock.apply(&key, &change("a", -1)?).await?, Counted::Applied { value: Some(4) });
        assert_eq!(stock.apply(&key, &change("b", -1)?).await?, Counted::Full);
        assert_eq!(stock.attempt_apply(lost().again(), &key, &change("e", 1)?).await?, Counted::Full);
        assert_eq!(stock.cancel(&key, &OpId::new("b")?).await?, Cancelled::Full);
        place.moved.advance(2 * HOUR);
        assert_eq!(stock.attempt_apply(lost(), &key, &change("e", 1)?).await?, Counted::Applied { value: Some(5) });
        assert_eq!(stock.attempt_apply(lost(), &key, &change("b", 1)?).await?, Counted::Applied { value: Some(6) });
        assert_eq!(stock.apply(&key, &change("f", 1)?).await?, Counted::Full, "of two places, none is free");
        assert_eq!(size(place).await?, 2, "all that is over is forgotten");
        Ok(())
    })
}

/// Upkeep forgets the operation when the memory of its last void call is over.
#[test]
fn a_cancel_after_a_void_call_fences_the_operation() -> Result<()> {
    with_place(async |place| {
        let (stock, key) = counter(place, WINDOW).await?;
        for op in ["a", "b"] {
            assert_eq!(stock.attempt_apply(lost().again(), &key, &change(op, -1)?).await?, Counted::OutOfBounds);
        }
        assert_eq!(stock.cancel(&key, &OpId::new("a")?).await?, Cancelled::Cancelled);
        assert_eq!(stock.attempt_apply(lost(), &key, &change("a", 1)?).await?, Counted::Fenced);
        assert_eq!(size(place).await?, 3, "two operations, and the number of those that only have void calls");
        place.moved.advance(HOUR / 2);
        assert_eq!(
            stock.attempt_apply(Attempt::of_call(8).again(), &key, &change("b", -1)?).await?,
            Counted::OutOfBounds
        );
        place.moved.advance(HOUR / 2);
        let store = place.store()?;
        store.maintain(100).await?;
        assert_eq!(size(place).await?, 2, "the later of two calls counts");
        assert_eq!(stock.attempt_apply(lost(), &key, &change("b", 1)?).await?, Counted::OutOfBounds);
        place.moved.advance(HOUR);
        store.maintain(100).await?;
        assert_eq!(size(place).await?, 0);
        Ok(())
    })
}

#[test]
fn a_refusal_that_cannot_be_remembered_is_unknown() -> Result<()> {
    with_place(async |place| {
        let (stock, key) = counter(place, Strategy::Atomic).await?;
        let sell = change("sell", -1)?;
        assert_eq!(stock.attempt_apply(lost(), &key, &sell).await?, Counted::OutOfBounds);
        let error = stock.attempt_apply(lost().again(), &key, &sell).await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::OutcomeUnknown, Certainty::Unknown), "{error}");
        let bounds = Bounds::at_least(0);
        let sharded = Strategy::Sharded { shards: 4, bounds, retention: Retention::Forever };
        let stock = place.store()?.counter(&"sharded".parse()?, sharded)?;
        let most = i64::try_from(Attempt::MAX_VOID).map_err(failed)?;
        for number in 0..most {
            let attempt = Attempt::of_call(number).again();
            assert_eq!(stock.attempt_apply(attempt, &key, &sell).await?, Counted::OutOfBounds);
        }
        let error = stock.attempt_apply(lost().again(), &key, &sell).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
        Ok(())
    })
}

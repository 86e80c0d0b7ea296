//! Counters.

use std::time::Duration;

use storagebox_core::{Backend, Bounds, Change, Counter as _, Key, OpId, Result, Strategy};
use storagebox_redis::RedisStore;
use storagebox_testkit::checks::corruption::{Call, Filling, Unnoticed, call};

use super::{Part, stands_damage};
use crate::support::Place;

const HOUR: Duration = Duration::from_secs(3_600);
const WINDOW: Strategy = Strategy::Window { lifetime: HOUR, capacity: 3 };

/// No end, another number, and what is gone without a trace.
const UNNOTICED: Unnoticed =
    &[("", "keeps", &["empty", "half", "none"]), (":o", "field", &["none"]), (":v", "field", &["half", "none"])];

pub(super) const PART: Part = Part { tag: "c.namespace.0", fill, calls, unnoticed: UNNOTICED };

#[tokio::test]
async fn damaged_counters_are_corrupt_at_once_and_left_as_they_are() -> Result<()> {
    stands_damage(&PART).await
}

fn change(op: &str, delta: i64) -> Result<Change> {
    Ok(Change::new(OpId::new(op)?, delta))
}

fn fill<'a>(place: &'a Place, store: &'a RedisStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        let (counters, key) = (store.counter(&name.parse()?, WINDOW)?, Key::new("KEY")?);
        let _ = counters.apply(&key, &change("OVER", 5)?).await?;
        place.moved.advance(HOUR / 2);
        let _ = counters.apply(&key, &change("APPLIED", 7)?).await?;
        let _ = counters.cancel(&key, &OpId::new("CANCELLED")?).await?;
        place.moved.advance(HOUR / 2);
        Ok(())
    })
}

fn calls(store: &dyn Backend, name: &str) -> Result<Vec<Call>> {
    let (counters, mut calls) = (store.counter(&name.parse()?, WINDOW)?, vec![]);
    for key in ["KEY", "NEW"] {
        let id = Key::new(key)?;
        calls.push(call!(format!("value of {key}"), [counters, id], counters.value(&id)));
        for op in ["APPLIED", "CANCELLED", "OVER", "NEW"] {
            let (fits, other, name) = (change(op, 7)?, change(op, 8)?, OpId::new(op)?);
            let bounded = change(op, 7)?.within(Bounds::between(-100, 100)?);
            calls.extend([
                call!(format!("apply {op} to {key}"), [counters, id, fits], counters.apply(&id, &fits)),
                call!(format!("apply another {op} to {key}"), [counters, id, other], counters.apply(&id, &other)),
                call!(format!("apply {op} within to {key}"), [counters, id, bounded], counters.apply(&id, &bounded)),
                call!(format!("cancel {op} of {key}"), [counters, id, name], counters.cancel(&id, &name)),
            ]);
        }
    }
    Ok(calls)
}

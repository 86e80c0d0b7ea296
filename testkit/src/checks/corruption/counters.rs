//! Counters that remember operations for a limited time.

use std::time::Duration;

use storagebox_core::{Backend, Bounds, Change, Counter as _, Key, OpId, Result, Strategy};

use super::{Call, call};
use crate::checks::HOUR;

/// How long an operation is remembered.
pub const LIFETIME: Duration = HOUR;

const WINDOW: Strategy = Strategy::Window { lifetime: LIFETIME, capacity: 3 };

fn change(op: &str, delta: i64) -> Result<Change> {
    Ok(Change::new(OpId::new(op)?, delta))
}

/// Applies the operation `OVER`. A test applies it half a lifetime before the other operations, so that it is forgotten
/// first.
pub async fn fill_first(store: &dyn Backend, name: &str) -> Result<()> {
    let (counters, key) = (store.counter(&name.parse()?, WINDOW)?, Key::new("KEY")?);
    counters.apply(&key, &change("OVER", 5)?).await.map(drop)
}

/// Applies one operation, and cancels another.
pub async fn fill(store: &dyn Backend, name: &str) -> Result<()> {
    let (counters, key) = (store.counter(&name.parse()?, WINDOW)?, Key::new("KEY")?);
    let _ = counters.apply(&key, &change("APPLIED", 7)?).await?;
    counters.cancel(&key, &OpId::new("CANCELLED")?).await.map(drop)
}

/// Returns every call, for each operation.
pub fn calls(store: &dyn Backend, name: &str) -> Result<Vec<Call>> {
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

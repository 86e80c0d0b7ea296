//! The counters' calls, each with a separate namespace: a change by each strategy that every backend has, and a cancel.

use std::sync::Arc;

use storagebox_core::{Backend, Bounds, Cancelled, Change, Counter, Key, OpId, Result, Retention, Strategy};

use super::LONG;
use crate::failure::{Failure, Verdict};

pub(super) const CALLS: &[&str] = &["marker", "window", "sharded", "cancel"];

fn counter_of(store: &dyn Backend, call: &str) -> Result<Arc<dyn Counter>> {
    let retention = Retention::Forever;
    let strategy = match call {
        "window" => Strategy::Window { lifetime: LONG, capacity: 10 },
        "sharded" => Strategy::Sharded { shards: 3, bounds: Bounds::NONE, retention },
        _ => Strategy::Marker { retention },
    };
    store.counter(&format!("step-{call}").parse()?, strategy)
}

fn key() -> Result<Key> {
    Key::new("key")
}

pub(super) async fn make(store: &dyn Backend, call: &str) -> Verdict {
    let (counter, op) = (counter_of(store, call)?, OpId::new("op")?);
    match call {
        "cancel" => drop(counter.cancel(&key()?, &op).await?),
        _ => drop(counter.apply(&key()?, &Change::new(op, 5)).await?),
    }
    Ok(())
}

pub(super) async fn is_made(store: &dyn Backend, call: &str) -> Result<bool, Failure> {
    let counter = counter_of(store, call)?;
    Ok(match call {
        "cancel" => {
            let _ = counter.apply(&key()?, &Change::new("op".parse()?, 5)).await?;
            counter.value(&key()?).await? == 0
        }
        _ => {
            counter.value(&key()?).await? == 5 && counter.cancel(&key()?, &"op".parse()?).await? != Cancelled::Cancelled
        }
    })
}

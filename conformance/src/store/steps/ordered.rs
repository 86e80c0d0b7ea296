//! The calls of an ordered store, each with a separate key.

use std::sync::Arc;

use storagebox_core::{Backend, Key, OrderedOptions, OrderedStore, Result, Stamp};

use crate::failure::{Failure, Verdict};

pub(super) const CALLS: &[&str] = &["put", "delete", "reset"];

fn ordered_of(store: &dyn Backend) -> Result<Arc<dyn OrderedStore>> {
    store.ordered_store(&"steps".parse()?, OrderedOptions::sequence())
}

fn stamp(at: i64) -> Result<Stamp> {
    Ok(Stamp::new(at, "writer".parse()?))
}

pub(super) async fn prepare(store: &dyn Backend, call: &str) -> Verdict {
    if call != "put" {
        let _ = ordered_of(store)?.put(&Key::new(call)?, &"value".try_into()?, &stamp(5)?).await?;
    }
    Ok(())
}

pub(super) async fn make(store: &dyn Backend, call: &str) -> Verdict {
    let (ordered, key) = (ordered_of(store)?, Key::new(call)?);
    match call {
        "put" => drop(ordered.put(&key, &"value".try_into()?, &stamp(5)?).await?),
        "delete" => drop(ordered.delete(&key, &stamp(6)?).await?),
        _ => drop(ordered.reset(&key, &stamp(5)?).await?),
    }
    Ok(())
}

pub(super) async fn is_made(store: &dyn Backend, call: &str) -> Result<bool, Failure> {
    let there = ordered_of(store)?.get(&Key::new(call)?).await?;
    Ok(there.is_some() == (call == "put"))
}

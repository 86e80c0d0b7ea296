//! Ordered values.

use storagebox_core::{Backend, Key, OrderedOptions, OrderedStore, Payload, Result, Stamp, WriterId};

use super::{Call, call};
use crate::checks::HOUR;

/// The age up to which a newly filled namespace keeps tombstones.
pub const KEPT: std::time::Duration = HOUR;

fn stamp(at: i64, writer: &str) -> Result<Stamp> {
    Ok(Stamp::new(at, WriterId::new(writer)?))
}

/// Makes a value and a deleted value.
pub async fn fill(store: &dyn Backend, name: &str) -> Result<()> {
    let values = store.ordered_store(&name.parse()?, OrderedOptions::sequence())?;
    let value = Payload::try_from("value")?;
    for key in ["VALUE", "DELETED"] {
        let _ = values.put(&Key::new(key)?, &value, &stamp(5, "ADA")?).await?;
    }
    values.delete(&Key::new("DELETED")?, &stamp(6, "ADA")?).await.map(drop)
}

/// Returns every call, for these keys.
pub fn calls(store: &dyn Backend, name: &str, keys: &[&str]) -> Result<Vec<Call>> {
    let values = store.ordered_store(&name.parse()?, OrderedOptions::sequence())?;
    let mut calls =
        vec![call!("list", [values], values.list(None, None, 100)), call!("purge", [values], values.purge(KEPT, 100))];
    for key in keys {
        let (id, value) = (Key::new(*key)?, Payload::try_from("value")?);
        calls.push(call!(format!("get {key}"), [values, id], values.get(&id)));
        for (at, writer) in [(4, "ADA"), (5, "ADA"), (5, "BOB"), (6, "ADA"), (7, "ADA")] {
            let stamp = stamp(at, writer)?;
            let about = format!("{key} at {at} from {writer}");
            calls.extend([
                call!(format!("put {about}"), [values, id, value, stamp], values.put(&id, &value, &stamp)),
                call!(format!("delete {about}"), [values, id, stamp], values.delete(&id, &stamp)),
                call!(format!("reset {about}"), [values, id, stamp], values.reset(&id, &stamp)),
            ]);
        }
    }
    Ok(calls)
}

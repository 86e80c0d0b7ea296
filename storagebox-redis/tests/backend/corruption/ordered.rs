//! Ordered values.

use std::time::Duration;

use storagebox_core::{Backend as _, Key, OrderedOptions, OrderedStore as _, Payload, Result, Stamp, WriterId};
use storagebox_redis::RedisStore;

use super::Part;
use super::call::{Call, Filling, call};
use crate::support::Place;

const HOUR: Duration = Duration::from_secs(3_600);

/// No end, any value, another moment or writer, and what is gone without a trace.
const UNNOTICED: &[(&str, &str)] = &[
    ("", "keeps: empty"),
    ("", "keeps: half"),
    ("", "keeps: none"),
    (":o", "r: half"),
    (":o", "v: an unknown mark"),
    (":o", "v: empty"),
    (":o", "v: half"),
    (":o", "w: half"),
    (":t", "no first member"),
    (":x", "no first member"),
];

pub(super) const PART: Part = Part { tag: "o.namespace.0", fill, calls, unnoticed: UNNOTICED };

fn stamp(at: i64, writer: &str) -> Result<Stamp> {
    Ok(Stamp::new(at, WriterId::new(writer)?))
}

fn fill<'a>(place: &'a Place, store: &'a RedisStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        let (values, value) =
            (store.ordered_store(&name.parse()?, OrderedOptions::sequence())?, Payload::try_from("value")?);
        for key in ["VALUE", "DELETED"] {
            let _ = values.put(&Key::new(key)?, &value, &stamp(5, "ADA")?).await?;
        }
        let _ = values.delete(&Key::new("DELETED")?, &stamp(6, "ADA")?).await?;
        place.moved.advance(2 * HOUR);
        Ok(())
    })
}

fn calls(store: &RedisStore, name: &str) -> Result<Vec<Call>> {
    let (values, store) = (store.ordered_store(&name.parse()?, OrderedOptions::sequence())?, store.clone());
    let mut calls = vec![
        call!("maintain", [store], store.maintain(1_000)),
        call!("list", [values], values.list(None, None, 100)),
        call!("purge", [values], values.purge(HOUR, 100)),
    ];
    for key in ["VALUE", "DELETED", "NEW"] {
        let (id, value) = (Key::new(key)?, Payload::try_from("value")?);
        calls.push(call!(format!("get {key}"), [values, id], values.get(&id)));
        for (at, writer) in [(4, "ADA"), (5, "ADA"), (5, "BOB"), (6, "ADA"), (7, "ADA")] {
            let stamp = stamp(at, writer)?;
            let about = format!("{key} at {at} by {writer}");
            calls.extend([
                call!(format!("put {about}"), [values, id, value, stamp], values.put(&id, &value, &stamp)),
                call!(format!("delete {about}"), [values, id, stamp], values.delete(&id, &stamp)),
            ]);
        }
    }
    Ok(calls)
}

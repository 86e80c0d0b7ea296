//! Ordered values.

use std::time::Duration;

use storagebox_core::{Backend as _, Key, OrderedOptions, Payload, Result, Stamp, WriterId};
use storagebox_dynamo::DynamoStore;

use super::Part;
use super::call::{Call, Filling, call};
use crate::support::Place;

const HOUR: Duration = Duration::from_secs(3_600);

pub(super) const PART: Part = Part {
    rows: "ordered",
    fill,
    calls,
    unnoticed: &[
        ("keys", "o: none"),
        ("keys", "o: unknown"),
        ("keys", "t: a number"),
        ("keys", "t: empty"),
        ("keys", "t: none"),
        ("keys", "t: unknown"),
        ("keys", "v: cut off"),
        ("keys", "v: none"),
        ("keys", "w: unknown"),
    ],
};

fn stamp(at: i64, writer: &str) -> Result<Stamp> {
    Ok(Stamp::new(at, WriterId::new(writer)?))
}

fn fill<'a>(place: &'a Place, store: &'a DynamoStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        let (values, value) =
            (store.ordered_store(&name.parse()?, OrderedOptions::sequence())?, Payload::try_from("value")?);
        for key in ["VALUE", "DELETED"] {
            let _ = values.put(&Key::new(key)?, &value, &stamp(5, "ADA")?).await?;
        }
        let _ = values.delete(&Key::new("DELETED")?, &stamp(6, "ADA")?).await?;
        place.clock.advance(2 * HOUR);
        Ok(())
    })
}

fn calls(store: &DynamoStore, name: &str) -> Result<Vec<Call>> {
    let values = store.ordered_store(&name.parse()?, OrderedOptions::sequence())?;
    let mut calls =
        vec![call!("list", [values], values.list(None, None, 100)), call!("purge", [values], values.purge(HOUR, 100))];
    for key in ["VALUE", "DELETED"] {
        let (id, value) = (Key::new(key)?, Payload::try_from("value")?);
        calls.push(call!(format!("get {key}"), [values, id], values.get(&id)));
        for (at, writer) in [(4, "ADA"), (5, "ADA"), (5, "BOB"), (6, "ADA"), (7, "ADA")] {
            let stamp = stamp(at, writer)?;
            let about = format!("{key} at {at} from {writer}");
            calls.extend([
                call!(format!("put {about}"), [values, id, value, stamp], values.put(&id, &value, &stamp)),
                call!(format!("delete {about}"), [values, id, stamp], values.delete(&id, &stamp)),
            ]);
        }
    }
    Ok(calls)
}

//! Records and leases, which share their namespace.

use std::time::Duration;

use storagebox_core::{Backend, Clock as _, ManualClock, Result};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::checks::corruption::records::{self, Numbers, OVER};
use storagebox_testkit::checks::corruption::{Call, Filling, call};

use super::{NAMESPACE, Part};
use crate::support::Place;

const HOUR: Duration = Duration::from_secs(3_600);

/// Ids in every state, each with the number of versions and fences after the first.
const IDS: [(&str, u64); 10] = [
    ("DONE", 0),
    ("KEPT", 0),
    ("PAST", 0),
    ("FORGOTTEN", 0),
    ("REPLACED", 1),
    ("LEASED", 0),
    ("LAPSED", 0),
    ("ABORTED", 0),
    ("COMPLETED", 1),
    ("REUSED", 1),
];

/// Returns the first version or fence of every id in the namespace: the time at which the namespace was filled, in
/// microseconds.
fn first(name: &str) -> u64 {
    let filled = ManualClock::new().now() + if name == NAMESPACE { Duration::ZERO } else { 2 * records::PAST };
    u64::try_from(filled.as_micros()).unwrap_or(u64::MAX)
}

pub(super) const PART: Part = Part {
    rows: "records",
    fill,
    calls,
    unnoticed: &[
        ("ids", "c", &["unknown"]),
        ("ids", "e", &["none"]),
        ("ids", "g", &["a text", "beyond its range", "no whole number", "none"]),
        ("ids", "p", &["none", "unknown"]),
        ("ids", "r", &["none", "unknown"]),
        ("ids", "t", &["unknown"]),
        ("ids", "v", &["cut off"]),
        ("ids", "x", &["none"]),
        ("ids", "y", &["none"]),
        ("over", "g", &["a text", "beyond its range", "no whole number", "none"]),
    ],
};

fn fill<'a>(place: &'a Place, store: &'a DynamoStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        let numbers = Numbers { forgotten: first(name), replaced: first(name) };
        records::fill(store, name, numbers).await?;
        for op in [OVER, "OP"] {
            records::lease(store, name, ("REUSED", op, HOUR)).await?;
        }
        place.clock.advance(2 * records::PAST);
        Ok(())
    })
}

fn calls(store: &dyn Backend, name: &str) -> Result<Vec<Call>> {
    let all = store.dedup_repo(&name.parse()?)?;
    let mut calls = vec![call!("list", [all], all.list(None, 100))];
    for (id, more) in IDS {
        let number = first(name) + more;
        calls.extend(records::of_records(store, name, (id, number), "OP")?);
        calls.extend(records::of_leases(store, name, (id, number), "OP")?);
    }
    calls.extend(records::of_records(store, name, ("REUSED", first(name)), OVER)?);
    calls.extend(records::of_leases(store, name, ("REUSED", first(name)), OVER)?);
    Ok(calls)
}

//! Records and leases, which share their namespace.

use storagebox_core::{Backend, DedupRepo as _, Result};
use storagebox_redis::RedisStore;
use storagebox_testkit::checks::corruption::records::{self, Numbers};
use storagebox_testkit::checks::corruption::{Call, Filling, Unnoticed, call};

use super::{Part, stands_damage};
use crate::support::Place;

/// Ids, each in another state, with their numbers.
const IDS: [(&str, u64); 10] = [
    ("DONE", 1),
    ("KEPT", 2),
    ("PAST", 3),
    ("FORGOTTEN", 4),
    ("REPLACED", 6),
    ("LEASED", 7),
    ("LAPSED", 8),
    ("ABORTED", 9),
    ("COMPLETED", 11),
    ("NEW", 12),
];

/// Damage to records that no call notices: another number or time, data that is forgotten later, any value, operation
/// or fingerprint, and data that is gone without a trace.
const UNNOTICED: Unnoticed = &[
    ("", "keeps", &["an unknown mark", "empty", "half", "none"]),
    ("", "n", &["half", "none"]),
    (":d", "", &["another member", "no first member"]),
    (":e", "field", &["half", "none"]),
    (":g", "first", &["half"]),
    (":r", "b", &["an unknown mark", "empty", "half", "none"]),
    (":r", "m", &["an unknown mark", "empty", "half", "none"]),
    (":r", "o", &["an unknown mark", "empty", "half"]),
    (":r", "p", &["an unknown mark", "empty", "half", "none"]),
    (":r", "u", &["half"]),
    (":r", "v", &["an unknown mark", "empty", "half"]),
    (":x", "", &["no first member"]),
    ("", "sound", &["an unknown mark", "empty", "half", "none"]),
];

pub(super) const PART: Part = Part { tag: "r.namespace.0", fill, calls, unnoticed: UNNOTICED };

#[tokio::test]
async fn damaged_records_and_leases_are_corrupt_and_unchanged() -> Result<()> {
    stands_damage(&PART).await
}

fn fill<'a>(place: &'a Place, store: &'a RedisStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        records::fill(store, name, Numbers { forgotten: 4, replaced: 5 }).await?;
        place.moved.advance(2 * records::PAST);
        Ok(())
    })
}

fn calls(store: &dyn Backend, name: &str) -> Result<Vec<Call>> {
    let all = store.dedup_repo(&name.parse()?)?;
    let mut calls = vec![call!("list", [all], all.list(None, 100))];
    for id in IDS {
        calls.extend(records::of_records(store, name, id, "OP")?);
        calls.extend(records::of_leases(store, name, id, "OTHER")?);
    }
    Ok(calls)
}

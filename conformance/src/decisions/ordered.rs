//! Ordered values.

use std::sync::Arc;

use storagebox_core::{Key, OrderedOptions, OrderedStore, Payload, Stamp, WriterId};

use super::{Table, brief};
use crate::failure::{Failure, Verdict};
use crate::world::World;

/// The number of the write that is asked for.
const AT: i64 = 10;

pub(super) const TABLE: Table = Table {
    title: "A write of an ordered value",
    about: "The write has a sequence number and a writer.",
    calls: &["put", "delete"],
    rows: &[
        ("nothing was written", &["Applied", "Applied"]),
        ("an older value is there", &["Applied", "Applied"]),
        ("a newer value is there", &["Stale", "Stale"]),
        ("the same value with the same stamp is there", &["Duplicate", "Applied"]),
        ("another value with the same stamp is there", &["Mismatch", "Applied"]),
        ("another writer's value with the same number is there, whose name is smaller", &["Applied", "Applied"]),
        ("another writer's value with the same number is there, whose name is greater", &["Stale", "Stale"]),
        ("an older delete is there", &["Applied", "Applied"]),
        ("a newer delete is there", &["Stale", "Stale"]),
        ("a delete with the same stamp is there", &["Stale", "Duplicate"]),
    ],
};

/// What was written before, in the table's order: a value or a delete, its number and its writer.
const BEFORE: [Option<(Option<&str>, i64, &str)>; 10] = [
    None,
    Some((Some("value"), AT - 1, "m")),
    Some((Some("value"), AT + 1, "m")),
    Some((Some("value"), AT, "m")),
    Some((Some("other"), AT, "m")),
    Some((Some("value"), AT, "a")),
    Some((Some("value"), AT, "z")),
    Some((None, AT - 1, "m")),
    Some((None, AT + 1, "m")),
    Some((None, AT, "m")),
];

pub(crate) async fn a_write_is_answered_by_its_table(world: &World) -> Verdict {
    let values = world.ordered(OrderedOptions::sequence())?;
    for (state, call) in TABLE.asked() {
        let key = Key::new(format!("key-{state}-{call}"))?;
        if let Some((value, at, writer)) = BEFORE[state] {
            write(&values, &key, value, at, writer).await?;
        }
        let value = (TABLE.calls[call] == "put").then_some("value");
        TABLE.ensure((state, call), &write(&values, &key, value, AT, "m").await?)?;
    }
    Ok(())
}

/// A put of the value, or a delete without one.
async fn write(
    values: &Arc<dyn OrderedStore>,
    key: &Key,
    value: Option<&str>,
    at: i64,
    writer: &str,
) -> Result<String, Failure> {
    let stamp = Stamp::new(at, WriterId::new(writer)?);
    Ok(match value {
        Some(value) => brief(&values.put(key, &Payload::try_from(value)?, &stamp).await?),
        None => brief(&values.delete(key, &stamp).await?),
    })
}

//! The decision table of ordered values.

use std::collections::BTreeSet;
use std::sync::Arc;

use storagebox_core::{Key, OrderedOptions, OrderedStore, Payload, Stamp, WriterId};

use super::{Table, brief};
use crate::failure::{Failure, Verdict, ensure_eq};
use crate::world::World;

/// The sequence number of the write under test.
const AT: i64 = 10;

pub(super) const TABLE: Table = Table {
    title: "A write of an ordered value",
    about: "The write has a sequence number and a writer; `reset` names them.",
    calls: &["put", "delete", "reset"],
    rows: &[
        ("nothing was written", &["Applied", "Applied", "Absent"]),
        ("an older value is there", &["Applied", "Applied", "Stale"]),
        ("a newer value is there", &["Stale", "Stale", "Stale"]),
        ("the same value with the same stamp is there", &["Duplicate", "Applied", "Reset"]),
        ("another value with the same stamp is there", &["Mismatch", "Applied", "Reset"]),
        (
            "another writer's value with the same number is there, whose name is smaller",
            &["Applied", "Applied", "Stale"],
        ),
        ("another writer's value with the same number is there, whose name is greater", &["Stale", "Stale", "Stale"]),
        ("an older delete is there", &["Applied", "Applied", "Stale"]),
        ("a newer delete is there", &["Stale", "Stale", "Stale"]),
        ("a delete with the same stamp is there", &["Stale", "Duplicate", "Reset"]),
    ],
};

/// The write that leads to the state of each row: the value (`None` deletes), the number and the writer.
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
    let mut scenes = vec![];
    for (state, call) in TABLE.asked() {
        let key = Key::new(format!("key-{state}-{call}"))?;
        if let Some((value, at, writer)) = BEFORE[state] {
            write(&values, &key, value, at, writer).await?;
        }
        scenes.push(Scene { values: Arc::clone(&values), state, call, key });
    }
    for scene in &scenes {
        scene.ask().await?;
    }
    ensure_listed(&scenes).await
}

struct Scene {
    values: Arc<dyn OrderedStore>,
    state: usize,
    call: usize,
    key: Key,
}

impl Scene {
    async fn ask(&self) -> Verdict {
        let place = (self.state, self.call);
        let before = self.shown().await?;
        let answer = self.answer().await?;
        TABLE.ensure(place, &answer)?;
        let again = match answer.as_str() {
            "Applied" => "Duplicate",
            "Reset" => "Absent",
            settled => settled,
        };
        TABLE.ensure_after(place, "the same call", &self.answer().await?, again)?;
        let expected = match (TABLE.calls[self.call], answer.as_str()) {
            ("put", "Applied") => Some(("value".to_owned(), AT)),
            (_, "Applied" | "Reset") => None,
            _ => before,
        };
        TABLE.ensure_after(place, "the value", &format!("{:?}", self.shown().await?), &format!("{expected:?}"))
    }

    async fn answer(&self) -> Result<String, Failure> {
        match TABLE.calls[self.call] {
            "put" => write(&self.values, &self.key, Some("value"), AT, "m").await,
            "delete" => write(&self.values, &self.key, None, AT, "m").await,
            _ => Ok(brief(&self.values.reset(&self.key, &Stamp::new(AT, WriterId::new("m")?)).await?)),
        }
    }

    async fn shown(&self) -> Result<Option<(String, i64)>, Failure> {
        let found = self.values.get(&self.key).await?;
        Ok(found.map(|found| (String::from_utf8_lossy(found.value.as_bytes()).into_owned(), found.stamp.at)))
    }
}

/// Checks that a listing shows exactly the keys that have a value.
async fn ensure_listed(scenes: &[Scene]) -> Verdict {
    let mut expected = BTreeSet::new();
    for scene in scenes {
        if scene.shown().await?.is_some() {
            expected.insert(scene.key.clone());
        }
    }
    let Some(Scene { values, .. }) = scenes.first() else { return Ok(()) };
    let listed = values.list(None, None, 1_000).await?.entries.into_iter().map(|entry| entry.key);
    ensure_eq!(listed.collect::<BTreeSet<_>>(), expected, "the keys listed");
    Ok(())
}

/// Puts the value, or deletes the key if the value is `None`.
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

//! The rows of a ledger, all in one partition for each key.
//!
//! | `sk` | attributes |
//! |---|---|
//! | `op:` and the operation | `o` the time and the operation, `d` the delta (a fence has none), `c` the tag of the call that put it, and after a space the reason, if there is one |
//! | `sum` | `d` the sum of the compacted changes, `k` their number, `u` the time of the last, `n` how often the row was written, `m` how many entries the last compaction merged, `x` the merged entries whose rows are still to be deleted, with their tags |
//!
//! The tag and the reason of an entry are in `c`, because the index has that attribute.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use storagebox_core::{Change, LedgerEntry, OpId, Reason, Result};

use crate::client::{Tag, Write};
use crate::clock::Millis;
use crate::row::{Row, RowKey};

/// The beginning of the sort keys of entries, and of no other rows.
pub(super) const ENTRY: &str = "op:";

pub(super) fn change_key(partition: String, op: &OpId) -> RowKey {
    RowKey::new(partition, format!("{ENTRY}{op}"))
}

pub(super) fn sum_key(partition: String) -> RowKey {
    RowKey::new(partition, "sum")
}

/// Returns the write of a new entry. Without a `change`, the entry marks the operation as cancelled.
pub(super) fn entry(key: &RowKey, op: &OpId, at: Millis, change: Option<&Change>, tag: &Tag) -> Write {
    let reason = change.and_then(|change| change.reason.as_ref());
    let call = reason.map_or(tag.as_str().to_owned(), |reason| format!("{} {}", tag.as_str(), reason.as_str()));
    let row = Row::new(key).with("o", format!("{}:{op}", time(at))).with("c", call);
    let delta = change.map(|change| change.delta);
    Write::put(row.with_some("d", delta)).only_if("attribute_not_exists(pk)")
}

/// Returns a time as text that sorts by time.
pub(super) fn time(at: Millis) -> String {
    format!("{:020}", at.0.max(0))
}

pub(super) fn is_by(row: &Row, tag: &Tag) -> bool {
    tag_in(row) == Some(tag.as_str())
}

fn tag_in(row: &Row) -> Option<&str> {
    row.text("c").map(|call| call.split_once(' ').map_or(call, |(tag, _)| tag))
}

pub(super) fn reason_in(row: &Row) -> Result<Option<Reason>> {
    let reason = row.text("c").and_then(|call| call.split_once(' '));
    reason.map(|(_, reason)| row.needed("c", Reason::new(reason).ok())).transpose()
}

/// Returns the delta of an entry; `None` for a cancelled operation.
pub(super) fn delta_in(row: &Row) -> Result<Option<i64>> {
    match row.has("d") {
        true => row.needed("d", row.number("d")).map(Some),
        false => Ok(None),
    }
}

/// Returns the time of an entry, and its operation.
pub(super) fn place_in(row: &Row) -> Result<(i64, OpId)> {
    let place = row.text("o").and_then(read_place);
    row.needed("o", place)
}

pub(super) fn read_place(place: &str) -> Option<(i64, OpId)> {
    let (at, op) = place.split_once(':')?;
    (at.len() == 20).then_some(())?;
    Some((at.parse().ok()?, OpId::new(op).ok()?))
}

/// The sum of the compacted changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) delta: i64,
    pub(super) changes: u64,
    pub(super) until: i64,
    /// How often the row was written; 0 if the row does not exist.
    pub(super) writes: i64,
    /// How many entries the last compaction merged.
    pub(super) taken: u64,
    /// The sort keys and tags of the entries that are in the sum and may still have a row.
    pub(super) leaving: HashMap<String, String>,
    pub(super) tag: Option<String>,
}

impl Sum {
    pub(super) fn read(row: &Row) -> Result<Self> {
        let leaving = row.map("x").into_iter().flatten();
        let text = |value: &AttributeValue| row.needed("x", value.as_s().ok().cloned());
        Ok(Self {
            delta: row.needed("d", row.number("d"))?,
            changes: row.needed("k", row.count("k"))?.unsigned_abs(),
            until: row.needed("u", row.number("u"))?,
            writes: row.needed("n", row.times("n"))?,
            taken: row.needed("m", row.count("m"))?.unsigned_abs(),
            leaving: leaving.map(|(sort, tag)| Ok((sort.clone(), text(tag)?))).collect::<Result<_>>()?,
            tag: row.text("t").map(str::to_owned),
        })
    }

    /// Returns whether the sum names the entry of this row.
    pub(super) fn has(&self, row: &Row) -> bool {
        let tag = row.text("sk").and_then(|sort| self.leaving.get(sort));
        tag.is_some_and(|tag| tag_in(row) == Some(tag))
    }

    /// Returns the sum with the entry of this row added; `None` if the sum overflows.
    pub(super) fn with(mut self, row: &Row) -> Result<Option<Self>> {
        if let Some(delta) = delta_in(row)? {
            let Some(sum) = self.delta.checked_add(delta) else {
                return Ok(None);
            };
            (self.delta, self.changes) = (sum, self.changes + 1);
            self.until = self.until.max(place_in(row)?.0);
        }
        let tag = row.needed("c", tag_in(row))?;
        self.leaving.insert(row.sort()?.to_owned(), tag.to_owned());
        self.taken += 1;
        Ok(Some(self))
    }

    /// Returns the write that stores this sum if the stored sum has not changed since the read.
    pub(super) fn write(&self, key: &RowKey, tag: &Tag) -> Write {
        let text = |(sort, tag): (&String, &String)| (sort.clone(), AttributeValue::S(tag.clone()));
        let row = Row::new(key)
            .with("d", self.delta)
            .with("k", self.changes)
            .with("u", self.until)
            .with("n", self.writes)
            .with("m", self.taken)
            .with("x", AttributeValue::M(self.leaving.iter().map(text).collect()));
        let write = Write::put(row).tagged(tag);
        match self.writes - 1 {
            0 => write.only_if("attribute_not_exists(pk)"),
            seen => write.only_if("n = :seen").value(":seen", seen),
        }
    }

    /// Returns the log entry of the sum; `None` if the sum contains no changes.
    pub(super) fn log_entry(&self) -> Option<LedgerEntry> {
        let Self { delta, changes, until, .. } = *self;
        (changes > 0).then_some(LedgerEntry::Sum { delta, changes, until_millis: until })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::fuzz;

    #[test]
    fn fuzz_ledger_row_is_read_or_corrupt() {
        let leaving = AttributeValue::M(HashMap::from([("op:old".to_owned(), AttributeValue::S("tag".to_owned()))]));
        let sum = Row::new(&sum_key("log".to_owned())).with("d", 7_i64).with("k", 1_i64).with("u", 5_i64);
        let sum = sum.with("n", 1_i64).with("m", 1_i64).with("x", leaving);
        let op = OpId::new("op").unwrap();
        let entry = Row::new(&change_key("log".to_owned(), &op)).with("o", format!("{}:{op}", time(Millis(7))));
        let known = [sum, entry.with("c", "tag because").with("d", 7_i64)];
        fuzz(
            &known,
            &[
                |row| Sum::read(row)?.with(row).map(drop),
                |row| place_in(row).map(drop),
                |row| reason_in(row).map(drop),
                |row| delta_in(row).map(drop),
            ],
        );
    }
}

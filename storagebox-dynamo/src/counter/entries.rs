//! The operations that a set or a window stores in the counter's row: the map `d` has the time and the delta of each,
//! the map `w` has the value after it. The map `x` has the void calls of operations that were refused, if there are
//! any.
//!
//! There are two maps, because DynamoDB can store a value that it computes (`v + :delta`) only as a whole attribute of
//! a map.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use storagebox_core::{OpId, Result};

use super::values::hash;
use super::void_ops::VoidOp;
use crate::clock::Millis;
use crate::row::{Attributes, Row};

/// DynamoDB's limit for a row: 400 KB of 1,024 bytes.
const RECORD_BYTES: u32 = 409_600;
/// The length of the longest partition key.
const KEY_BYTES: u32 = 1_110;
/// The bytes of a row without its partition key and its operations: the value and the maps.
pub(crate) const OTHER_BYTES: u32 = 90;
/// The bytes of an operation in the two maps of a row. Each map holds its name and a byte of overhead. The value is 20
/// bytes in one map, and a number of up to 19 digits in the other map.
pub(crate) const ENTRY_BYTES: u32 = 2 * (NAME + 1) + 20 + 12;

/// The length of an operation's name in the maps: 128 bits in digits of 6 bits.
const NAME: u32 = 22;
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The most bytes of void calls that a counter's row holds: enough for about a hundred operations.
const VOID_BYTES: u32 = 4_096;
/// The bytes of the map of the void calls without its operations.
const VOID_MAP_BYTES: u32 = 4;

/// Returns how many bytes of void calls fit into a row that also holds a full set of operations.
pub(super) fn most_void_bytes(capacity: u32) -> usize {
    let others = KEY_BYTES + OTHER_BYTES + VOID_MAP_BYTES + ENTRY_BYTES * capacity;
    RECORD_BYTES.saturating_sub(others).min(VOID_BYTES) as usize
}

/// Returns how many operations a row with the longest partition key can hold.
pub(super) fn most_entries() -> u32 {
    (RECORD_BYTES - KEY_BYTES - OTHER_BYTES) / ENTRY_BYTES
}

/// Returns the name of an operation in the maps.
pub(super) fn name(op: &OpId) -> String {
    let mut rest = u128::from_be_bytes(hash(op));
    let mut digit = || {
        let digit = DIGITS[(rest % 64) as usize];
        rest /= 64;
        char::from(digit)
    };
    (0..NAME).map(|_| digit()).collect()
}

/// A stored operation. A cancelled operation has no delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) at: Millis,
    /// The mark of the call that added the operation: a short hash of the call's tag.
    pub(super) by: [u8; 6],
    pub(super) delta: Option<i64>,
}

impl Entry {
    pub(super) fn bytes(&self) -> Vec<u8> {
        // The first two bytes of a time are 0 for 9,000 years.
        let mut bytes = [&self.at.0.to_be_bytes()[2..], &self.by].concat();
        bytes.extend(self.delta.iter().flat_map(|delta| delta.to_be_bytes()));
        bytes
    }

    fn read(value: &AttributeValue) -> Option<Self> {
        let bytes = value.as_b().ok()?.as_ref();
        let (at, rest) = bytes.split_first_chunk::<6>()?;
        let (by, delta) = rest.split_first_chunk()?;
        let at = at.iter().fold(0, |at, byte| at << 8 | i64::from(*byte));
        let delta = match delta {
            [] => None,
            delta => Some(i64::from_be_bytes(delta.try_into().ok()?)),
        };
        Some(Self { at: Millis(at), by: *by, delta })
    }
}

#[derive(Debug)]
pub(super) struct Entries<'a> {
    row: &'a Row,
    done: &'a Attributes,
    values: &'a Attributes,
    void: Option<&'a Attributes>,
}

impl<'a> Entries<'a> {
    pub(super) fn of(row: &'a Row) -> Result<Self> {
        let map = |name| row.needed(name, row.map(name));
        Ok(Self { row, done: map("d")?, values: map("w")?, void: row.maybe("x", Row::map)? })
    }

    pub(super) fn len(&self) -> usize {
        self.done.len()
    }

    pub(super) fn find(&self, name: &str) -> Result<Option<Entry>> {
        let read = |value| self.row.needed("d", Entry::read(value));
        self.done.get(name).map(read).transpose()
    }

    pub(super) fn value_after(&self, name: &str) -> Result<Option<i64>> {
        let read = |value: &AttributeValue| self.row.needed("w", value.as_n().ok().and_then(|n| n.parse().ok()));
        self.values.get(name).map(read).transpose()
    }

    pub(super) fn void(&self) -> Option<&'a Attributes> {
        self.void
    }

    pub(super) fn void_op(&self, name: &str) -> Result<Option<VoidOp>> {
        let read = |value| self.row.needed("x", void_op(value));
        self.void.and_then(|void| void.get(name)).map(read).transpose()
    }

    /// Returns at most `most` of the operations for which `holds` is true, each with its name.
    pub(super) fn some(&self, most: usize, holds: impl Fn(&str, &Entry) -> bool) -> Vec<(String, Entry)> {
        let entries = self.done.iter().filter_map(|(name, value)| Some((name, Entry::read(value)?)));
        let entries = entries.filter(|(name, entry)| holds(name, entry));
        entries.map(|(name, entry)| (name.clone(), entry)).take(most).collect()
    }
}

pub(super) fn void_op(value: &AttributeValue) -> Option<VoidOp> {
    VoidOp::read(value.as_b().ok()?.as_ref())
}

pub(super) fn void_value(op: &VoidOp) -> AttributeValue {
    AttributeValue::B(Blob::new(op.bytes()))
}

pub(super) fn void_bytes(void: &Attributes) -> usize {
    let bytes = |value: &AttributeValue| value.as_b().map_or(0, |bytes| bytes.as_ref().len());
    void.iter().map(|(name, value)| name.len() + 1 + bytes(value)).sum()
}

/// Adds empty maps of operations to a counter's row.
pub(super) fn none(row: Row) -> Row {
    row.with("d", AttributeValue::M(HashMap::new())).with("w", AttributeValue::M(HashMap::new()))
}

/// Adds the maps with a counter's first operation to the counter's row.
pub(super) fn first(row: Row, name: &str, entry: &Entry) -> Row {
    let map = |value: Option<AttributeValue>| {
        AttributeValue::M(value.map(|value| (name.to_owned(), value)).into_iter().collect::<HashMap<_, _>>())
    };
    let value = entry.delta.map(|delta| AttributeValue::N(delta.to_string()));
    row.with("d", map(Some(AttributeValue::B(Blob::new(entry.bytes()))))).with("w", map(value))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use storagebox_core::Counted;

    use super::*;
    use crate::row::{RowKey, fuzz};

    #[test]
    fn fuzz_row_of_operations_is_read_or_corrupt() {
        let entry = Entry { at: Millis(1_700_000_000_000), by: [1, 2, 3, 4, 5, 6], delta: Some(-7) };
        let read = |row: &Row| {
            let entries = Entries::of(row)?;
            assert!(entries.some(1, |_, _| true).len() <= entries.len());
            entries.value_after("a")?;
            entries.void_op("a")?;
            entries.find("a").map(drop)
        };
        let row = first(Row::new(&RowKey::alone("p")), "a", &entry);
        let calls = [7].into_iter().collect();
        let void = void_value(&VoidOp { calls, refusal: Counted::Full, at: Millis(1_700_000_000_000) });
        let void = AttributeValue::M(HashMap::from([("a".to_owned(), void)]));
        fuzz(&[row.clone(), row.with("x", void)], &[read]);
    }

    #[test]
    fn operation_names_are_distinct_and_equally_long() {
        let name_of = |number: u32| name(&OpId::new(number.to_string()).unwrap());
        let names: HashSet<_> = (0..1_000).map(name_of).collect();
        assert_eq!(names.len(), 1_000);
        assert!(names.iter().all(|name| name.len() == NAME as usize));
    }

    /// Stored rows contain these names, so every version must compute the same name for an operation.
    #[test]
    fn the_stored_name_of_an_operation_never_changes() {
        assert_eq!(name(&OpId::new("op-1").unwrap()), "-g_3xywP2PUZI9dlx9OoxB");
    }

    #[test]
    fn entries_are_read_as_they_were_written() {
        for delta in [None, Some(i64::MIN), Some(0), Some(i64::MAX)] {
            let entry = Entry { at: Millis(1_700_000_000_000), by: [1, 2, 3, 4, 5, 6], delta };
            let row = first(Row::new(&RowKey::alone("p")), "a", &entry);
            let entries = Entries::of(&row).unwrap();
            assert_eq!(entries.find("a").unwrap(), Some(entry));
            assert_eq!(entries.value_after("a").unwrap(), delta);
            assert_eq!(entries.find("b").unwrap(), None);
        }
    }
}

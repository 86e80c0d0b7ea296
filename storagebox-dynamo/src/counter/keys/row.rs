//! The row of a counter that keeps of its operations their keys alone.
//!
//! | attribute | holds |
//! |---|---|
//! | `v` | the value |
//! | `q` | how many operations there are |
//! | `e`, `b` | the slot that is open, which is the newest, and the oldest that is kept |
//! | `k` and the slot | the keys of its operations, a set |
//! | `t` | the tag of the call that wrote the row last |

use std::collections::BTreeMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use storagebox_core::{OpId, Result};

use super::super::values::{short, value_in};
use crate::row::Row;

/// What a row takes beside its operations, at the most: a partition key of 1,110 bytes, a tag, and 33 slots' names.
pub(crate) const BESIDE_KEYS: u32 = 1_800;
/// What an operation takes: its key, and a byte more, because the documentation does not say what a set takes for each
/// of its members beside its bytes.
pub(crate) const KEY_BYTES: u32 = LENGTH as u32 + 1;

const LENGTH: usize = 12;
/// In the first byte of a fence.
const FENCE: u8 = 0x80;

/// What stands for an operation, applied or fenced: 95 bits of its hash, and which of the two it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpKey([u8; LENGTH]);

impl OpKey {
    pub(super) fn applied(op: &OpId) -> Self {
        let mut hash: [u8; LENGTH] = short(op.as_str());
        hash[0] &= !FENCE;
        Self(hash)
    }

    pub(super) fn fenced(op: &OpId) -> Self {
        let Self(mut hash) = Self::applied(op);
        hash[0] |= FENCE;
        Self(hash)
    }

    pub(super) fn value(self) -> AttributeValue {
        AttributeValue::B(self.blob())
    }

    /// The set that has this alone.
    pub(super) fn alone(self) -> AttributeValue {
        AttributeValue::Bs(vec![self.blob()])
    }

    fn blob(self) -> Blob {
        Blob::new(self.0)
    }
}

/// What a row keeps.
#[derive(Debug)]
pub(super) struct Kept<'a> {
    pub(super) value: i64,
    pub(super) newest: i64,
    pub(super) oldest: i64,
    pub(super) slots: BTreeMap<i64, &'a [Blob]>,
}

impl<'a> Kept<'a> {
    pub(super) fn of(row: &'a Row) -> Result<Self> {
        let names = row.attributes().keys();
        let is_slot = |slot: &i64| *slot >= 0;
        let slot_of = |name: &str| name.strip_prefix('k')?.parse().ok().filter(is_slot);
        let slots = names.filter_map(|name| Some((name, slot_of(name)?)));
        let set = |(name, slot): (&String, i64)| Ok((slot, row.needed(name, row.byte_set(name))?));
        let newest = row.needed("e", row.number("e").filter(is_slot))?;
        let kept = Self {
            value: value_in(row)?,
            newest,
            oldest: row.needed("b", row.number("b").filter(is_slot).filter(|oldest| *oldest <= newest))?,
            slots: slots.map(set).collect::<Result<_>>()?,
        };
        row.needed("q", row.number::<usize>("q").filter(|count| *count == kept.count()))?;
        Ok(kept)
    }

    pub(super) fn count(&self) -> usize {
        self.slots.values().map(|keys| keys.len()).sum()
    }

    /// Whether a slot from this one on has the key.
    pub(super) fn has(&self, key: OpKey, oldest: i64) -> bool {
        self.slots.range(oldest..).any(|(_, keys)| keys.iter().any(|kept| kept.as_ref() == key.0))
    }

    /// The slots before this one, and how many operations they have.
    pub(super) fn before(&self, slot: i64) -> Vec<(i64, usize)> {
        self.slots.range(..slot).map(|(slot, keys)| (*slot, keys.len())).collect()
    }
}

/// The attribute that has a slot's operations.
pub(super) fn name(slot: i64) -> String {
    format!("k{slot}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{RowKey, whatever};

    #[test]
    fn whatever_a_row_of_keys_holds() {
        let (one, other) = (OpKey::applied(&"op-1".parse().unwrap()), OpKey::fenced(&"op-2".parse().unwrap()));
        let row = Row::new(&RowKey::alone("p")).with("v", 7_i64).with("q", 2_i64).with("e", 5_i64).with("b", 4_i64);
        let row = row.with("k5", one.alone()).with("k4", other.alone());
        assert_eq!(Kept::of(&row).unwrap().before(5), [(4, 1)]);
        let read = |row: &Row| {
            let kept = Kept::of(row)?;
            let before: usize = kept.before(kept.newest).into_iter().map(|(_, keys)| keys).sum();
            assert!(before <= kept.count() && kept.oldest <= kept.newest);
            Ok(())
        };
        whatever(&[row], &[read]);
    }

    /// What stands in tables does not change.
    #[test]
    fn a_key_never_changes() {
        let op = OpId::new("op-1").unwrap();
        let (applied, fenced) = (OpKey::applied(&op).0, OpKey::fenced(&op).0);
        assert_eq!((applied[0] & FENCE, fenced[0] & FENCE), (0, FENCE));
        assert_eq!(applied[1..], fenced[1..]);
        assert_eq!(crate::client::hex(&applied), "71a0ef7195df486543f63f0c");
    }
}

//! How long the rows of a counter are, and how many units one takes to write.

use crate::counter::{ENTRY_BYTES, HISTORY_BYTES, OTHER_BYTES};

/// The longest partition key, which `OTHER_BYTES` allows for.
const LONGEST_KEY: u32 = 1_110;
const USUAL_KEY: u32 = 64;
/// A UUID has 36.
const USUAL_OP: u32 = 64;
/// The longest name of an operation, and the longest reason.
const LONGEST_ID: u32 = storagebox_core::MAX_ID_BYTES as u32;
/// A shard's row beside its key: a longer sort of partition, the tag of a call, and three numbers more.
const SHARD: u32 = 140;
/// A marker beside its key and its operation: the tag of a call, and three numbers.
const MARKER: u32 = 120;
/// An entry of a ledger beside its key, its operation and its reason: the tag of a call, a time and a number.
const ENTRY: u32 = 120;
const WRITE_UNIT: u64 = 1_024;

/// The rows of one key's counter, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    key: u32,
    op: u32,
    reason: u32,
}

impl Rows {
    pub(super) const USUAL: Self = Self { key: USUAL_KEY, op: USUAL_OP, reason: 0 };

    pub(super) fn with_key(self, bytes: u32) -> Self {
        Self { key: bytes.min(LONGEST_KEY), ..self }
    }

    pub(super) fn with_op(self, bytes: u32) -> Self {
        Self { op: bytes.min(LONGEST_ID), ..self }
    }

    pub(super) fn with_reason(self, bytes: u32) -> Self {
        Self { reason: bytes.min(LONGEST_ID), ..self }
    }

    /// The counter's row without any operation.
    pub(super) fn bare(self) -> u64 {
        (OTHER_BYTES - LONGEST_KEY + self.key).into()
    }

    /// The counter's row with so many operations in it.
    pub(super) fn with_entries(self, entries: u64) -> u64 {
        self.bare().saturating_add(entries.saturating_mul(ENTRY_BYTES.into()))
    }

    /// The counter's row with so many of its last writers.
    pub(super) fn with_writers(self, writers: u64) -> u64 {
        self.bare() + HISTORY_BYTES as u64 * writers
    }

    pub(super) fn shard(self) -> u64 {
        (SHARD + self.key).into()
    }

    /// The operation is in its partition key.
    pub(super) fn marker(self) -> u64 {
        (MARKER + self.key + self.op).into()
    }

    /// The operation is in its sort key and in its place in the index.
    pub(super) fn entry(self) -> u64 {
        (ENTRY + self.key + 2 * self.op + self.reason).into()
    }
}

/// How many units it takes to write a row.
pub(super) fn units(bytes: u64) -> u64 {
    bytes.div_ceil(WRITE_UNIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beyond it there is none, so that a plan of a longer one is the plan of the longest.
    #[test]
    fn no_row_is_longer_than_the_longest() {
        let most = Rows::USUAL.with_key(u32::MAX).with_op(u32::MAX).with_reason(u32::MAX);
        assert_eq!(most.bare(), u64::from(OTHER_BYTES));
        assert_eq!([most.bare(), most.shard(), most.marker(), most.entry()].map(units), [2, 2, 2, 3]);
    }
}

//! Checks that the work was done as promised. Every check compares a figure with what it must be.

use std::fmt;
use std::ops::RangeInclusive;

use storagebox::Counts;

use super::ledger::Summary;
use super::load::Loaded;

/// All figures of a run.
#[derive(Clone, Debug)]
pub(super) struct Audit {
    pub loaded: Loaded,
    pub summary: Summary,
    pub rejected: u64,
    /// Only if nobody else worked with the bank.
    pub change: Option<Change>,
    pub free_left: u64,
}

/// The bank before and after.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub before: Counts,
    pub after: Counts,
}

/// What must be true of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    NoSharedItem,
    SameItemEachLine,
    TakenOnce,
    EmptyStaysEmpty,
    EmptyMeansEmpty,
    BankGrewByAdded,
    TakenGrewByNew,
}

impl Check {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NoSharedItem => "items given to a second id",
            Self::SameItemEachLine => "lines with another item than the id had",
            Self::TakenOnce => "lines that took a second item for an id",
            Self::EmptyStaysEmpty => "ids that were given an item and met an empty bank",
            Self::EmptyMeansEmpty => "items free although the bank was said to be empty",
            Self::BankGrewByAdded => "growth of the bank",
            Self::TakenGrewByNew => "growth of the items held or spent",
        }
    }
}

/// A check that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    pub check: Check,
    pub expected: RangeInclusive<i128>,
    pub found: i128,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}", self.check.name(), self.expected.start())?;
        if self.expected.start() != self.expected.end() {
            write!(f, " to {}", self.expected.end())?;
        }
        write!(f, ", found {}", self.found)
    }
}

impl Audit {
    pub(super) fn mismatches(&self) -> Vec<Mismatch> {
        let mut mismatches = self.own_lines();
        mismatches.extend(self.change.iter().flat_map(|change| self.conservation(change)));
        mismatches.retain(|mismatch| !mismatch.expected.contains(&mismatch.found));
        mismatches
    }

    fn own_lines(&self) -> Vec<Mismatch> {
        let summary = &self.summary;
        vec![
            none(Check::NoSharedItem, summary.shared_items),
            none(Check::SameItemEachLine, summary.changed_items),
            none(Check::TakenOnce, summary.taken_twice),
        ]
    }

    /// A call whose reply was lost may have done more than it could be told, which widens what is expected.
    fn conservation(&self, change: &Change) -> Vec<Mismatch> {
        let Change { before, after } = change;
        let Loaded { added, perhaps_ours, .. } = self.loaded;
        let Summary { empty, new, perhaps_new, empty_and_given, .. } = self.summary;
        vec![
            // Nothing comes free while nobody else works with the bank.
            none(Check::EmptyStaysEmpty, empty_and_given),
            none(Check::EmptyMeansEmpty, if empty > 0 { after.free } else { 0 }),
            grown(Check::BankGrewByAdded, added, perhaps_ours, before.total(), after.total()),
            grown(Check::TakenGrewByNew, new, perhaps_new, taken(before), taken(after)),
        ]
    }
}

fn taken(counts: &Counts) -> u64 {
    counts.held + counts.spent
}

fn none(check: Check, found: u64) -> Mismatch {
    Mismatch { check, expected: 0..=0, found: found.into() }
}

fn grown(check: Check, surely: u64, perhaps: u64, before: u64, after: u64) -> Mismatch {
    let surely = i128::from(surely);
    Mismatch {
        check,
        expected: surely..=surely + i128::from(perhaps),
        found: i128::from(after) - i128::from(before),
    }
}

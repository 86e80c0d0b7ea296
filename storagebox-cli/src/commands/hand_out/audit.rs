//! Checks that the work was done as promised.

use storagebox::bank::Counts;

use super::ledger::Summary;
use crate::check::{Check, Comparison, Mismatch};
use crate::commands::load::Loaded;

/// All figures of a run.
#[derive(Clone, Debug)]
pub(crate) struct Audit {
    pub loaded: Loaded,
    pub summary: Summary,
    pub rejected: u64,
    /// Only if nobody else worked with the bank.
    pub change: Option<Change>,
    pub free_left: u64,
}

/// The bank before and after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub before: Counts,
    pub after: Counts,
}

impl Audit {
    pub(crate) fn mismatches(&self) -> Vec<Mismatch> {
        let mut compared = self.own_lines();
        compared.extend(self.change.iter().flat_map(|change| self.conservation(change)));
        compared.into_iter().filter_map(Comparison::mismatch).collect()
    }

    fn own_lines(&self) -> Vec<Comparison> {
        let summary = &self.summary;
        vec![
            Check::NoSharedItem.none(summary.shared_items),
            Check::SameItemEachLine.none(summary.changed_items),
            Check::TakenOnce.none(summary.taken_twice),
        ]
    }

    /// A call whose reply was lost may have done more than it could be told, which widens what is expected.
    fn conservation(&self, change: &Change) -> Vec<Comparison> {
        let Change { before, after } = change;
        let Loaded { added, perhaps_ours, .. } = self.loaded;
        let Summary { empty, new, perhaps_new, empty_and_given, .. } = self.summary;
        vec![
            // Nothing comes free while nobody else works with the bank.
            Check::EmptyStaysEmpty.none(empty_and_given),
            Check::EmptyMeansEmpty.none(if empty > 0 { after.free } else { 0 }),
            grown(Check::BankGrewByAdded, added, perhaps_ours, before.total(), after.total()),
            grown(Check::TakenGrewByNew, new, perhaps_new, taken(before), taken(after)),
        ]
    }
}

fn taken(counts: &Counts) -> u64 {
    counts.held + counts.spent
}

fn grown(check: Check, surely: u64, perhaps: u64, before: u64, after: u64) -> Comparison {
    let surely = i128::from(surely);
    check.within(surely..=surely + i128::from(perhaps), i128::from(after) - i128::from(before))
}

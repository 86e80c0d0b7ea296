//! Checks the result of a run.

use storagebox::bank::Counts;

use super::ledger::Summary;
use crate::check::{Check, Mismatch};
use crate::commands::load::Loaded;

#[derive(Clone, Debug)]
pub(crate) struct Audit {
    pub loaded: Loaded,
    pub summary: Summary,
    pub rejected: u64,
    /// `None` if other programs may use the bank.
    pub change: Option<Change>,
    pub free_left: u64,
}

/// The counts of the bank before and after the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub before: Counts,
    pub after: Counts,
}

impl Audit {
    pub(crate) fn mismatches(&self) -> Vec<Mismatch> {
        let mut compared = self.own_lines();
        compared.extend(self.change.iter().flat_map(|change| self.conservation(change)));
        compared.into_iter().flatten().collect()
    }

    fn own_lines(&self) -> Vec<Option<Mismatch>> {
        let summary = &self.summary;
        vec![
            Check::NO_SHARED_ITEM.none(summary.shared_items),
            Check::SAME_ITEM_EACH_LINE.none(summary.changed_items),
            Check::TAKEN_ONCE.none(summary.taken_twice),
        ]
    }

    /// Checks that no item appeared or vanished.
    fn conservation(&self, change: &Change) -> Vec<Option<Mismatch>> {
        let Change { before, after } = change;
        // A backend repeats a call whose reply was lost, and the answer does not tell the effect of the lost call from
        // what was there before the run.
        let Loaded { added, already_there } = self.loaded;
        let Summary { empty, new, perhaps_new, empty_and_given, .. } = self.summary;
        vec![
            // No item becomes free while no other program uses the bank.
            Check::EMPTY_STAYS_EMPTY.none(empty_and_given),
            Check::EMPTY_MEANS_EMPTY.none(if empty > 0 { after.free } else { 0 }),
            grown(Check::BANK_GREW_BY_ADDED, added, already_there, before.total(), after.total()),
            grown(Check::TAKEN_GREW_BY_NEW, new, perhaps_new, taken(before), taken(after)),
        ]
    }
}

fn taken(counts: &Counts) -> u64 {
    counts.held + counts.spent
}

fn grown(check: Check, surely: u64, perhaps: u64, before: u64, after: u64) -> Option<Mismatch> {
    let surely = i128::from(surely);
    check.within(surely..=surely + i128::from(perhaps), i128::from(after) - i128::from(before))
}

//! What the audits check. Every check compares a figure with its expected range.

use std::fmt;
use std::ops::RangeInclusive;

use serde_json::Value;

/// A check of an audit, with the name of a figure that must be within an expected range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Check(&'static str);

impl Check {
    pub(crate) const NO_SHARED_ITEM: Self = Self("items given to a second id");
    pub(crate) const SAME_ITEM_EACH_LINE: Self = Self("lines with another item than the id had");
    pub(crate) const TAKEN_ONCE: Self = Self("lines that took a second item for an id");
    pub(crate) const EMPTY_STAYS_EMPTY: Self = Self("ids that have an item and met an empty bank");
    pub(crate) const EMPTY_MEANS_EMPTY: Self = Self("items free after the bank was reported as empty");
    pub(crate) const BANK_GREW_BY_ADDED: Self = Self("growth of the bank");
    pub(crate) const TAKEN_GREW_BY_NEW: Self = Self("growth of the items held or spent");
    pub(crate) const LISTED_ONCE: Self = Self("items listed a second time");
    pub(crate) const LISTED_IN_A_STATE: Self = Self("items listed without a state");
    pub(crate) const CLAIM_SHOWS_ITEM: Self = Self("items that their claim does not show");
    pub(crate) const FREE_AS_COUNTED: Self = Self("free items listed");
    pub(crate) const HELD_AS_COUNTED: Self = Self("held items listed");
    pub(crate) const SPENT_AS_COUNTED: Self = Self("spent items listed");
    pub(crate) const WITHDRAWN_AS_COUNTED: Self = Self("withdrawn items listed");
    pub(crate) const IDS_AS_IMPORTED: Self = Self("ids without their item of the other bank");
    pub(crate) const FREE_AS_IMPORTED: Self = Self("items free in the other bank and not in this one");
    pub(crate) const NOTHING_ELSE: Self = Self("items that the other bank lacks or has given to another id");
    pub(crate) const NONE_ENDED: Self = Self("ids to import whose claims have ended in this bank or hold another item");
    pub(crate) const GIVEN_ONCE_THERE: Self = Self("items of the other bank with two ids, or free and with an id");
    pub(crate) const ALL_CARRIED: Self = Self("timed, spent or withdrawn items of the other bank, not copied");
    pub(crate) const NO_CHANGE_THERE: Self = Self("items of the other bank that changed during the import");

    /// Returns a mismatch if `found` is not 0.
    pub(crate) fn none(self, found: u64) -> Option<Mismatch> {
        self.exactly(0, found)
    }

    pub(crate) fn exactly(self, expected: u64, found: u64) -> Option<Mismatch> {
        let expected = i128::from(expected);
        self.within(expected..=expected, found.into())
    }

    pub(crate) fn within(self, expected: RangeInclusive<i128>, found: i128) -> Option<Mismatch> {
        (!expected.contains(&found)).then_some(Mismatch { check: self, expected, found })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    pub check: Check,
    pub expected: RangeInclusive<i128>,
    pub found: i128,
}

impl Mismatch {
    pub(crate) fn json(&self) -> Value {
        let about = [
            ("check", self.check.0.into()),
            ("expected_min", figure(*self.expected.start())),
            ("expected_max", figure(*self.expected.end())),
            ("found", figure(self.found)),
        ];
        about.into_iter().collect()
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}", self.check.0, self.expected.start())?;
        if self.expected.start() != self.expected.end() {
            write!(f, " to {}", self.expected.end())?;
        }
        write!(f, ", found {}", self.found)
    }
}

/// Returns the figure as a JSON number.
fn figure(figure: i128) -> Value {
    // A figure is a count or a difference of two counts, so it fits into 64 bits.
    i64::try_from(figure).ok().into()
}

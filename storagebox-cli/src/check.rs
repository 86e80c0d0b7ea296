//! What the audits check. Every check compares a figure with its expected range.

use std::fmt;
use std::ops::RangeInclusive;

use serde_json::Value;

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Check(&'static str);

impl Check {
    pub(crate) const NO_SHARED_ITEM: Self = Self("items given to a second id");
    pub(crate) const SAME_ITEM_EACH_LINE: Self = Self("lines with another item than the id had");
    pub(crate) const TAKEN_ONCE: Self = Self("lines that took a second item for an id");
    pub(crate) const EMPTY_STAYS_EMPTY: Self = Self("ids that were given an item and met an empty bank");
    pub(crate) const EMPTY_MEANS_EMPTY: Self = Self("items free although the bank was said to be empty");
    pub(crate) const BANK_GREW_BY_ADDED: Self = Self("growth of the bank");
    pub(crate) const TAKEN_GREW_BY_NEW: Self = Self("growth of the items held or spent");
    pub(crate) const LISTED_ONCE: Self = Self("items listed a second time");
    pub(crate) const LISTED_IN_A_STATE: Self = Self("items listed without a state");
    pub(crate) const CLAIM_SHOWS_ITEM: Self = Self("items that their claim does not show");
    pub(crate) const FREE_AS_COUNTED: Self = Self("free items listed");
    pub(crate) const HELD_AS_COUNTED: Self = Self("held items listed");
    pub(crate) const SPENT_AS_COUNTED: Self = Self("spent items listed");
    pub(crate) const WITHDRAWN_AS_COUNTED: Self = Self("withdrawn items listed");
    pub(crate) const IDS_AS_IMPORTED: Self = Self("ids without the item that they have there");
    pub(crate) const FREE_AS_IMPORTED: Self = Self("items free there and not here");
    pub(crate) const NOTHING_ELSE: Self = Self("items here that are not there, or in another's hands");
    pub(crate) const NONE_ENDED: Self = Self("ids to be imported whose claims have ended here, or hold another item");
    pub(crate) const GIVEN_ONCE_THERE: Self = Self("items there of two ids, or free and of an id");
    pub(crate) const ALL_CARRIED: Self = Self("items there held for a while, spent or withdrawn, which are left out");
    pub(crate) const NO_CHANGE_THERE: Self = Self("items that changed there meanwhile");

    /// Returns the mismatch if the figure is not 0.
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

/// A check that does not hold.
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

/// Every figure is a count or a difference of two counts, so it fits.
fn figure(figure: i128) -> Value {
    i64::try_from(figure).ok().into()
}

//! What the audits check. Every check compares a figure with what it must be.

use std::fmt;
use std::ops::RangeInclusive;

use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    NoSharedItem,
    SameItemEachLine,
    TakenOnce,
    EmptyStaysEmpty,
    EmptyMeansEmpty,
    BankGrewByAdded,
    TakenGrewByNew,
    ListedOnce,
    ListedInAState,
    ClaimShowsItem,
    FreeAsCounted,
    HeldAsCounted,
    SpentAsCounted,
    WithdrawnAsCounted,
    IdsAsImported,
    FreeAsImported,
    NothingElse,
    NoneEnded,
    GivenOnceThere,
    AllCarried,
    NoChangeThere,
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
            Self::ListedOnce => "items listed a second time",
            Self::ListedInAState => "items listed without a state",
            Self::ClaimShowsItem => "items that their claim does not show",
            Self::FreeAsCounted => "free items listed",
            Self::HeldAsCounted => "held items listed",
            Self::SpentAsCounted => "spent items listed",
            Self::WithdrawnAsCounted => "withdrawn items listed",
            Self::IdsAsImported => "ids without the item that they have there",
            Self::FreeAsImported => "items free there and not here",
            Self::NothingElse => "items here that are not there, or in another's hands",
            Self::NoneEnded => "ids to be imported whose claims have ended here, or hold another item",
            Self::GivenOnceThere => "items there of two ids, or free and of an id",
            Self::AllCarried => "items there held for a while, spent or withdrawn, which are left out",
            Self::NoChangeThere => "items that changed there meanwhile",
        }
    }

    /// This figure must be 0.
    pub(crate) fn none(self, found: u64) -> Comparison {
        self.exactly(0, found)
    }

    pub(crate) fn exactly(self, expected: u64, found: u64) -> Comparison {
        let expected = i128::from(expected);
        self.within(expected..=expected, found.into())
    }

    pub(crate) fn within(self, expected: RangeInclusive<i128>, found: i128) -> Comparison {
        Comparison(Mismatch { check: self, expected, found })
    }
}

/// A figure beside what it must be.
#[derive(Debug)]
pub(crate) struct Comparison(Mismatch);

impl Comparison {
    pub(crate) fn mismatch(self) -> Option<Mismatch> {
        let Self(compared) = self;
        (!compared.expected.contains(&compared.found)).then_some(compared)
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
            ("check", self.check.name().into()),
            ("expected_min", figure(*self.expected.start())),
            ("expected_max", figure(*self.expected.end())),
            ("found", figure(self.found)),
        ];
        about.into_iter().collect()
    }
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

/// Every figure is a count, or a difference of two, so it fits.
fn figure(figure: i128) -> Value {
    i64::try_from(figure).ok().into()
}

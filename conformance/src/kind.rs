//! The counter strategies, after which the cases of counters are named.

use crate::part::Family;

/// A counter strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Atomic,
    Marker,
    Window,
    Sharded,
    Optimistic,
    History,
    Token,
    Ledger,
    Set,
}

impl Kind {
    /// Returns the prefix of the names of the strategy's cases.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Atomic => "atomic",
            Self::Marker => "marker",
            Self::Window => "window",
            Self::Sharded => "sharded",
            Self::Optimistic => "optimistic",
            Self::History => "history",
            Self::Token => "token",
            Self::Ledger => "ledger",
            Self::Set => "set",
        }
    }

    /// Returns whether a change that is repeated after a lost answer may count twice in a case of this family.
    pub(crate) fn counts_again(self, family: Family) -> bool {
        match self {
            Self::Atomic => true,
            Self::Optimistic => family == Family::Concurrent,
            _ => false,
        }
    }
}

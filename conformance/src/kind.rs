//! The counter strategies, by which the cases of counters are named.

use crate::part::Family;

/// The strategies: first those that every backend has.
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
    /// How the names of its cases begin.
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

    /// Whether a change that is made again after a lost answer may count again in a case of this family.
    pub(crate) fn counts_again(self, family: Family) -> bool {
        match self {
            Self::Atomic => true,
            Self::Optimistic => family == Family::Concurrent,
            _ => false,
        }
    }
}

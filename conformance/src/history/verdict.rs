//! The limits and the result of a check.

use std::fmt;

use super::violation::Violation;

/// The limits of a check, beyond which it ends without a verdict on the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of attempts that are pending at once, including those of unknown outcome. More than 64 counts as 64.
    pub pending: usize,
    /// The number of invocations and responses.
    pub events: usize,
    /// The number of configurations considered in the whole check, which limits both its time and its memory.
    pub configurations: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { pending: 64, events: 1_000, configurations: 1_000_000 }
    }
}

/// The limit that a check would have exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// [`Limits::pending`].
    Pending,
    /// [`Limits::events`].
    Events,
    /// [`Limits::configurations`].
    Configurations,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a violation that nobody looks at is no test"]
pub enum Verdict {
    /// Some order of the attempts explains every reply.
    Linearizable,
    /// No order explains every reply.
    Violation(Violation),
    /// The history is undecided, because it is too expensive to check. Do not count an undecided history as a pass.
    OverBudget(Exceeded),
}

impl Verdict {
    /// Returns whether the history was proven linearizable.
    pub fn is_linearizable(&self) -> bool {
        matches!(self, Self::Linearizable)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linearizable => write!(f, "linearizable"),
            Self::Violation(violation) => violation.fmt(f),
            Self::OverBudget(exceeded) => write!(f, "undecided: too many {exceeded}"),
        }
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "attempts are pending at once",
            Self::Events => "events",
            Self::Configurations => "configurations",
        })
    }
}

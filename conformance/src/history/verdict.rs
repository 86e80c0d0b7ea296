//! What a check may cost and what it can find.

use std::fmt;

use super::violation::Violation;

/// How much a check may cost before it gives up without a verdict on the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Attempts that are pending at once, those of unknown outcome included; more than 64 count as 64.
    pub pending: usize,
    /// Invocations and responses.
    pub events: usize,
    /// Configurations considered in the whole check, which bounds both its time and its memory.
    pub configurations: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { pending: 64, events: 1_000, configurations: 1_000_000 }
    }
}

/// The limit that a check would have had to exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// [`Limits::pending`].
    Pending,
    /// [`Limits::events`].
    Events,
    /// [`Limits::configurations`].
    Configurations,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a violation that nobody looks at is no test"]
pub enum Verdict {
    /// Some order of the attempts explains every reply.
    Linearizable,
    /// No order does.
    Violation(Violation),
    /// Undecided: the history is too expensive to check. Never count this as a pass.
    OverBudget(Exceeded),
}

impl Verdict {
    /// Whether the history was proven linearizable.
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

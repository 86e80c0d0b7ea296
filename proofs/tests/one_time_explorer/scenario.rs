//! The workers on the token.

/// One set-up, of which the orders of steps are explored.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) workers: &'static [Work],
}

/// The work of a worker, repeated until it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Begins for this caller and commits.
    Use(&'static str),
    /// Begins for this caller and aborts the lease.
    GiveBack(&'static str),
    /// Peeks at the token.
    Peek,
    /// Finishes the commits that others have left.
    Recover,
}

use Work::{GiveBack, Peek, Recover, Use};

pub(crate) const SCENARIOS: [Scenario; 5] = [
    Scenario { name: "two callers", workers: &[Use("ada"), Use("bob")] },
    Scenario { name: "one caller twice", workers: &[Use("ada"), Use("ada")] },
    Scenario { name: "one who gives back", workers: &[Use("ada"), GiveBack("bob")] },
    Scenario { name: "one who looks", workers: &[Use("ada"), Peek] },
    Scenario { name: "a sweeper", workers: &[Use("ada"), Recover] },
];

/// All callers, with or without a worker.
pub(crate) const CALLERS: [&str; 3] = ["ada", "bob", "cyd"];

//! The workers on the token.

#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) workers: &'static [Work],
}

/// The work of a worker, which repeats each call until the call is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Begins a use of the token for this caller, and commits it.
    Use(&'static str),
    /// Begins a use of the token for this caller, and aborts it.
    GiveBack(&'static str),
    Peek,
    /// Finishes the commits that other workers left unfinished.
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

/// All callers. Some callers have no worker, and only use the token at the end of a run.
pub(crate) const CALLERS: [&str; 3] = ["ada", "bob", "cyd"];

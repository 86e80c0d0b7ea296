//! Who is at work on the token.

/// One set-up, explored in its orders of steps.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) workers: &'static [Work],
}

/// What a worker does, over and over until it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Begins for this caller, and commits.
    Use(&'static str),
    /// Begins for this caller, and gives the token back.
    GiveBack(&'static str),
    /// Looks at the token.
    Peek,
    /// Finishes what others have left.
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

/// All who may come, at work or not.
pub(crate) const CALLERS: [&str; 3] = ["ada", "bob", "cyd"];

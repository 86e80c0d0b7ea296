//! The plan of which request gets which fault.

use std::collections::VecDeque;

use fastrand::Rng;

use super::fault::Fault;

pub(super) enum Plan {
    /// A list of faults, each for the next request or for the next request of the named operation. Later requests get
    /// no fault.
    Script(VecDeque<(Option<String>, Fault)>),
    /// This percentage of the requests gets one of these faults.
    Random(Rng, u8, Vec<Fault>),
}

impl Default for Plan {
    fn default() -> Self {
        Self::Script(VecDeque::new())
    }
}

impl Plan {
    pub(super) fn random(seed: u64, percent: u8, faults: &[Fault]) -> Self {
        Self::Random(Rng::with_seed(seed), percent, faults.to_vec())
    }

    /// Adds faults to a script. A script replaces a random plan.
    pub(super) fn script(&mut self, operation: Option<&str>, faults: impl IntoIterator<Item = Fault>) {
        let added = faults.into_iter().map(|fault| (operation.map(str::to_owned), fault));
        match self {
            Self::Script(script) => script.extend(added),
            Self::Random(..) => *self = Self::Script(added.collect()),
        }
    }

    /// Returns the planned fault of the next request, which is a request for `operation`.
    pub(super) fn next(&mut self, operation: &str) -> Option<Fault> {
        match self {
            Self::Script(script) => {
                let is_for = |(only, _): &(Option<String>, Fault)| only.as_deref().is_none_or(|only| only == operation);
                let first = script.iter().position(is_for)?;
                script.remove(first).map(|(_, fault)| fault)
            }
            Self::Random(rng, percent, faults) => {
                let is_hit = rng.u8(0..100) < *percent && !faults.is_empty();
                is_hit.then(|| faults[rng.usize(0..faults.len())])
            }
        }
    }
}

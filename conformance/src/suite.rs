//! All cases of the suite, and the selection for a run.

use std::collections::BTreeSet;

use crate::case::{Case, Row};

/// The cases that a test program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All cases.
    Everything,
    /// The first case of each part and of each family. Meant for the other set-ups of a backend, if one set-up runs all
    /// cases.
    Smoke,
}

impl Selection {
    /// Returns the selected cases, in the order of the clauses' parts.
    pub fn cases(self) -> Vec<Case> {
        let mut cases = cases();
        if self == Self::Smoke {
            let (mut parts, mut families) = (BTreeSet::new(), BTreeSet::new());
            cases.retain(|case| parts.insert(case.part()) | families.insert(case.family()));
        }
        cases
    }
}

/// Returns every case, in the order of the clauses' parts.
pub fn cases() -> Vec<Case> {
    [
        crate::values::CASES,
        crate::errors::CASES,
        crate::store::CASES,
        crate::item_bank::CASES,
        crate::deduplicator::CASES,
        crate::dedup::CASES,
        crate::tokens::CASES,
        crate::entities::CASES,
        crate::entities::joint::CASES,
        crate::counter::CASES,
        crate::counter::STRATEGY_CASES,
        crate::ordered::CASES,
        crate::transactions::CASES,
    ]
    .into_iter()
    .flatten()
    .copied()
    .flatten()
    .flat_map(Row::cases)
    .collect()
}

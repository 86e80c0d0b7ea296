//! Every case of the suite.

use crate::case::Case;

/// Every case, in the order of the clauses' parts.
pub fn cases() -> Vec<Case> {
    [
        crate::values::CASES,
        crate::errors::CASES,
        crate::store::CASES,
        crate::item_bank::CASES,
        crate::deduplicator::CASES,
        crate::dedup::CASES,
        crate::tokens::CASES,
        crate::counter::CASES,
        crate::ordered::CASES,
    ]
    .concat()
}

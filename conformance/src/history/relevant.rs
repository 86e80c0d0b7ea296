//! Reduces a history that is not linearizable to the calls that prove it.

use std::collections::BTreeSet;

use super::attempt::History;
use super::checker::{Found, explain};
use super::specification::Specification;
use super::verdict::Limits;
use super::violation::Misplaced;

/// The limit on the configurations of one check, low enough for many checks within seconds.
const CONFIGURATIONS: usize = 2_000;

/// Finds the calls whose replies are not needed to prove that no order explains the history.
pub(super) fn narrowed<S: Specification>(
    spec: &S,
    history: &History<S::Op, S::Reply>,
    limits: Limits,
    whole: Misplaced<S::State>,
) -> (BTreeSet<usize>, Misplaced<S::State>) {
    let limits = Limits { configurations: limits.configurations.min(CONFIGURATIONS), ..limits };
    let count = history.attempts().len();
    let (mut left_out, mut found, mut size) = (BTreeSet::new(), whole, count.next_power_of_two());
    // A call without a reply may take effect at any time or never. So if the other replies have no order, the whole
    // history has none.
    // Many calls are left out at once, then fewer, and in the end single calls.
    while size > 0 {
        for start in (0..count).step_by(size) {
            let more: BTreeSet<_> = left_out.iter().copied().chain(start..count.min(start + size)).collect();
            if more.len() == left_out.len() {
                continue;
            }
            if let Found::Misplaced(misplaced) = explain(spec, history, &more, limits) {
                (left_out, found) = (more, misplaced);
            }
        }
        size /= 2;
    }
    (left_out, found)
}

//! The calls of an operation that are void (ER-5).

use std::collections::HashMap;

use storagebox_core::backend::rules::VoidCalls;
use storagebox_core::{Attempt, Counted, OpId, Result};

/// The operations of a counter that have void calls. These operations do not count against the capacity of the
/// counter.
#[derive(Clone, Debug)]
pub(super) struct VoidOps<T>(HashMap<OpId, VoidOp<T>>);

#[derive(Clone, Debug)]
struct VoidOp<T> {
    calls: VoidCalls,
    refusal: Counted,
    /// When the operation's last call became void.
    since: T,
}

impl<T> Default for VoidOps<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Copy> VoidOps<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn find(&self, op: &OpId, attempt: Attempt, is_past: impl Fn(T) -> bool) -> Option<Counted> {
        let known = self.0.get(op).filter(|known| known.calls.contain(attempt) && !is_past(known.since));
        known.map(|known| known.refusal)
    }

    /// Makes the call void if the refused attempt repeats an earlier attempt of the call. Returns `refusal`.
    pub(super) fn refuse(
        &mut self,
        op: &OpId,
        attempt: Attempt,
        refusal: Counted,
        now: T,
        is_past: impl Fn(T) -> bool,
    ) -> Result<Counted> {
        if attempt.is_repeated() {
            let empty = || VoidOp { calls: VoidCalls::default(), refusal, since: now };
            let known = self.0.entry(op.clone()).or_insert_with(empty);
            if is_past(known.since) {
                *known = empty();
            }
            if known.calls.refuse(attempt)? {
                (known.refusal, known.since) = (refusal, now);
            }
        }
        Ok(refusal)
    }

    pub(super) fn forget(&mut self, op: &OpId) {
        self.0.remove(op);
    }

    pub(super) fn forget_up_to(&mut self, most: usize, is_past: impl Fn(T) -> bool) -> usize {
        let mut forgotten = 0;
        self.0.retain(|_, known| {
            let is_over = forgotten < most && is_past(known.since);
            forgotten += usize::from(is_over);
            !is_over
        });
        forgotten
    }
}

//! The calls of a claim that are void (ER-5).

use std::collections::HashMap;

use storagebox_core::backend::rules::VoidCalls;
use storagebox_core::{Attempt, ClaimId, Result};

use crate::clock::Time;
use crate::config::Settings;

#[derive(Debug, Default)]
pub(super) struct VoidClaims(HashMap<ClaimId, VoidClaim>);

#[derive(Clone, Debug)]
pub(super) struct VoidClaim {
    calls: VoidCalls,
    /// When the claim's last call became void.
    since: Time,
}

impl VoidClaims {
    pub(super) fn contain(&self, claim: &ClaimId, attempt: Attempt, settings: &Settings) -> bool {
        let known = self.0.get(claim).filter(|known| !settings.is_forgotten(known.since, settings.now()));
        known.is_some_and(|known| known.calls.contain(attempt))
    }

    /// Makes the call void if the refused attempt repeats an earlier attempt of the call. Returns `refusal`.
    pub(super) fn refuse<T>(
        &mut self,
        claim: &ClaimId,
        attempt: Attempt,
        settings: &Settings,
        refusal: T,
    ) -> Result<T> {
        if attempt.is_repeated() {
            let now = settings.now();
            let empty = || VoidClaim { calls: VoidCalls::default(), since: now };
            let known = self.0.entry(claim.clone()).or_insert_with(empty);
            if settings.is_forgotten(known.since, now) {
                *known = empty();
            }
            if known.calls.refuse(attempt)? {
                known.since = now;
            }
        }
        Ok(refusal)
    }

    pub(super) fn forget(&mut self, claim: &ClaimId) {
        self.0.remove(claim);
    }

    pub(super) fn of(&self, claim: &ClaimId) -> Option<VoidClaim> {
        self.0.get(claim).cloned()
    }

    /// Restores the void calls of a claim to `before`, which [`of`](Self::of) returned before a transaction.
    pub(super) fn put_back(&mut self, claim: ClaimId, before: Option<VoidClaim>) {
        match before {
            Some(before) => self.0.insert(claim, before),
            None => self.0.remove(&claim),
        };
    }

    pub(super) fn maintain(&mut self, budget: usize, settings: &Settings) -> usize {
        let (now, mut used) = (settings.now(), 0);
        self.0.retain(|_, known| {
            let is_over = used < budget && settings.is_forgotten(known.since, now);
            used += usize::from(is_over);
            !is_over
        });
        used
    }
}

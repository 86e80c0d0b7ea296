//! One stripe of a bank's claims.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use storagebox_core::{ClaimId, End, Result};

use super::void_claims::{VoidClaim, VoidClaims};
use crate::clock::Time;
use crate::config::Settings;
use crate::transaction::{End as Outcome, Ending, Open, Pending, Touched};

#[derive(Debug, Default)]
pub(super) struct Claims {
    table: HashTable<Claim>,
    pub(super) void: VoidClaims,
    pending: Pending<ClaimId, Before>,
}

#[derive(Debug)]
struct Claim {
    id: ClaimId,
    /// The hash of the id, which the hash table needs when the table grows.
    hash: u64,
    state: State,
}

impl Claim {
    fn is(&self, id: &ClaimId, hash: u64) -> bool {
        self.hash == hash && self.id == *id
    }
}

/// The state of a claim. A hold is also stored in the slot of its item, and each call that changes a hold changes both.
/// A take may free the slot of a lapsed hold and leaves the claim as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Holds { at: Slot, until: Option<Time> },
    Confirmed { at: Slot },
    Ended { why: End, since: Time },
}

/// The location of an item in its bank, which never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) stripe: u8,
    pub(super) index: u32,
}

#[derive(Debug)]
struct Before {
    hash: u64,
    state: Option<State>,
    void: Option<VoidClaim>,
}

impl Claims {
    /// Reserves the claim for a change. Returns `Contention` if another transaction has changed the claim.
    pub(super) fn own(
        &mut self,
        (claim, hash): (&ClaimId, u64),
        by: Option<&Open>,
        touched: impl FnOnce() -> Touched,
    ) -> Result<()> {
        if by.is_none() && self.pending.is_empty() {
            return Ok(());
        }
        let (state, void) = (self.find(claim, hash), &self.void);
        self.pending.own(claim, by, touched, || Before { hash, state, void: void.of(claim) })
    }

    pub(super) fn find(&self, claim: &ClaimId, hash: u64) -> Option<State> {
        self.table.find(hash, |known| known.is(claim, hash)).map(|known| known.state)
    }

    /// Returns the claim's state without the changes of other open transactions.
    pub(super) fn seen_by(&self, by: Option<&Open>, claim: &ClaimId, hash: u64) -> Option<State> {
        match self.pending.of_another(claim, by) {
            Some((_, before)) => before.state,
            None => self.find(claim, hash),
        }
    }

    pub(super) fn set(&mut self, claim: &ClaimId, hash: u64, state: State) {
        match self.table.entry(hash, |known| known.is(claim, hash), |known| known.hash) {
            Entry::Occupied(mut entry) => entry.get_mut().state = state,
            Entry::Vacant(entry) => {
                entry.insert(Claim { id: claim.clone(), hash, state });
            }
        }
    }

    pub(super) fn remove(&mut self, claim: &ClaimId, hash: u64) {
        if let Ok(entry) = self.table.find_entry(hash, |known| known.is(claim, hash)) {
            entry.remove();
        }
    }

    /// Forgets at most `budget` entries: ended claims, and the void calls of a claim. Returns the number of forgotten
    /// entries.
    pub(super) fn maintain(
        &mut self,
        budget: usize,
        settings: &Settings,
        is_forgotten: impl Fn(State) -> bool,
    ) -> usize {
        // The state of a claim that an open transaction has changed is not final.
        if !self.pending.is_empty() {
            return 0;
        }
        let mut used = 0;
        self.table.retain(|claim| {
            let forget = used < budget && is_forgotten(claim.state);
            used += usize::from(forget);
            !forget
        });
        used + self.void.maintain(budget - used, settings)
    }
}

impl Ending for Claims {
    const RANK: u8 = 0;

    fn end(&mut self, transaction: &Open, how: Outcome) {
        for (claim, before) in self.pending.end(transaction) {
            if how == Outcome::Commit {
                continue;
            }
            match before.state {
                Some(state) => self.set(&claim, before.hash, state),
                None => self.remove(&claim, before.hash),
            }
            self.void.put_back(claim, before.void);
        }
    }
}

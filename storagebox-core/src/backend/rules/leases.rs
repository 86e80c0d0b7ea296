//! The decisions of a [`LeaseRepo`](crate::LeaseRepo).

use super::{IdLease, IdState, StoredTime};
use crate::contract::lease_repo::{Aborted, Begun, Completed, Fence, Lease};
use crate::values::value::{DedupId, Fingerprint, OpId};

impl<T> IdState<T> {
    /// D-6: returns the fingerprint of the id.
    pub fn fingerprint(&self) -> Option<&Fingerprint> {
        match self {
            Self::Vacant(fingerprint) => fingerprint.as_ref(),
            Self::Leased(leased) => leased.fingerprint.as_ref(),
            Self::Done(done) => done.fingerprint.as_ref(),
        }
    }

    /// D-6: returns the fingerprint of the next lease, which is that of the id if it has one, and whether the lease
    /// inherits it.
    pub fn next_fingerprint<'a>(&'a self, asked: Option<&'a Fingerprint>) -> (Option<&'a Fingerprint>, bool) {
        let inherited = self.fingerprint();
        (inherited.or(asked), inherited.is_some())
    }

    /// D-5, D-6: returns the lease that begins in this state, if [`begin`](IdState::begin) lets it. Its fence must be
    /// greater than any before.
    pub fn next_lease(&self, op: &OpId, fence: Fence, until: T, asked: Option<&Fingerprint>) -> IdLease<T> {
        let (fingerprint, is_inherited) = self.next_fingerprint(asked);
        IdLease { op: op.clone(), fence, until, fingerprint: fingerprint.cloned(), is_inherited }
    }

    /// Returns whether the id has this lease, alive or lapsed (D-5).
    pub fn holds(&self, lease: &Lease) -> bool {
        matches!(self, Self::Leased(leased) if leased.is(lease))
    }

    /// D-3, D-5: decides `complete`. `None`: records the result with the number and the fingerprint of the lease.
    pub fn complete(&self, lease: &Lease) -> Option<Completed> {
        match self {
            Self::Done(done) if done.fence == Some(lease.fence) => Some(Completed::Again(done.entry.clone())),
            _ if self.holds(lease) => None,
            _ => Some(Completed::Fenced),
        }
    }

    /// D-6, D-7: decides `abort`. `None`: ends the operation and leaves the id vacant, with the fingerprint if the
    /// lease inherited it.
    pub fn abort(&self, lease: &Lease, has_ended: bool) -> Option<Aborted> {
        match has_ended {
            _ if self.holds(lease) => None,
            true => Some(Aborted::Aborted),
            false => Some(Aborted::Fenced),
        }
    }
}

impl<T: StoredTime> IdState<T> {
    /// D-5, D-6, D-7: decides `begin`. `None`: begins the [next lease](IdState::next_lease).
    pub fn begin(
        &self,
        (id, op): (&DedupId, &OpId),
        fingerprint: Option<&Fingerprint>,
        has_ended: bool,
        now: T,
    ) -> Option<Begun> {
        let is_of_another = self.fingerprint().zip(fingerprint).is_some_and(|(known, asked)| known != asked);
        match self {
            _ if has_ended => Some(Begun::Fenced),
            _ if is_of_another => Some(Begun::Mismatch),
            Self::Leased(leased) if leased.until <= now => None,
            Self::Leased(leased) if leased.op == *op => Some(started(id, op, leased.fence)),
            Self::Leased(leased) => Some(Begun::InFlight { remaining: now.until(leased.until) }),
            Self::Done(done) => Some(Begun::Done(done.entry.clone())),
            Self::Vacant(_) => None,
        }
    }
}

/// Returns the answer to the operation that has this lease.
pub fn started(id: &DedupId, op: &OpId, fence: Fence) -> Begun {
    Begun::Started(Lease { id: id.clone(), op: op.clone(), fence })
}

//! What is known of one id.

use storagebox_core::{Entry, Fence, Fingerprint, Lease, OpId, Version};

use super::ended::Ended;
use super::log::Log;
use crate::clock::Millis;

/// An id's state, if it has one, and what is known of the operations on it that are over.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) state: Option<State>,
    /// The one that had the id last, if it is over and remembered.
    pub(super) ended: Option<Ended>,
    /// The fingerprint of lapsed leases that a vacant id keeps, because their work may have had an effect (D-6).
    pub(super) unsettled: Option<Fingerprint>,
    /// When the last one before it ended, if that is remembered.
    pub(super) others: Option<Millis>,
    /// The operation that was asked for, if it is one of those.
    pub(super) asked: Option<OpId>,
    /// The last number that was given on the id, as a version or a fence.
    pub(crate) last: u64,
    pub(super) log: Log,
}

#[derive(Debug)]
pub(crate) enum State {
    Leased(Leased),
    Done(Done),
}

#[derive(Debug)]
pub(crate) struct Leased {
    pub(crate) op: OpId,
    pub(crate) fence: Fence,
    pub(crate) until: Millis,
    pub(crate) fingerprint: Option<Fingerprint>,
    /// The fingerprint of the lapsed lease whose place this one took: an abort leaves it (D-6).
    pub(crate) inherited: Option<Fingerprint>,
}

#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) entry: Entry,
    /// The operation that recorded the first value.
    pub(crate) op: OpId,
    /// The lease that completed, if there was one.
    pub(crate) fence: Option<Fence>,
    pub(crate) fingerprint: Option<Fingerprint>,
    /// The operation that put the present value in place of the one at this version.
    pub(crate) replaced_by: Option<(OpId, Version)>,
    /// The end of its retention, if it has one.
    pub(crate) until: Option<Millis>,
}

impl State {
    pub(super) fn number(&self) -> u64 {
        match self {
            Self::Leased(leased) => leased.fence.number(),
            Self::Done(done) => done.entry.version.number(),
        }
    }

    pub(super) fn until(&self) -> Option<Millis> {
        match self {
            Self::Leased(leased) => Some(leased.until),
            Self::Done(done) => done.until,
        }
    }

    pub(super) fn op(&self) -> &OpId {
        match self {
            Self::Leased(leased) => &leased.op,
            Self::Done(done) => &done.op,
        }
    }

    pub(super) fn inherited(&self) -> Option<&Fingerprint> {
        match self {
            Self::Leased(leased) => leased.inherited.as_ref(),
            Self::Done(_) => None,
        }
    }

    pub(super) fn fingerprint(&self) -> Option<&Fingerprint> {
        match self {
            Self::Leased(leased) => leased.inherited.as_ref().or(leased.fingerprint.as_ref()),
            Self::Done(done) => done.fingerprint.as_ref(),
        }
    }
}

impl Record {
    /// Ends a record whose retention was over by then; its operation is fenced from there on (D-4).
    pub(super) fn expire(&mut self, past: Millis) {
        if let Some(State::Done(Done { op, until: Some(until), .. })) = &self.state
            && *until <= past
        {
            self.ended = Some(Ended { op: op.clone(), since: *until });
            self.state = None;
        }
    }

    pub(crate) fn has_ended(&self, op: &OpId) -> bool {
        self.asked.as_ref() == Some(op) || self.ended.as_ref().is_some_and(|ended| ended.op == *op)
    }

    /// Whether the id has, or had last, this operation.
    pub(super) fn is_of(&self, op: &OpId) -> bool {
        self.has_ended(op) || self.state.as_ref().is_some_and(|state| state.op() == op)
    }

    /// Whether operations that ended before may be remembered.
    pub(super) fn has_others(&self) -> bool {
        self.others.is_some()
    }

    /// When the last operation ended that will not be in the row any more, once another follows.
    pub(super) fn last_ended(&self) -> Option<Millis> {
        self.ended.as_ref().map(|ended| ended.since).max(self.others)
    }

    pub(crate) fn done(&self) -> Option<&Done> {
        match &self.state {
            Some(State::Done(done)) => Some(done),
            _ => None,
        }
    }

    pub(crate) fn entry(&self) -> Option<&Entry> {
        self.done().map(|done| &done.entry)
    }

    /// What the lease still has, unless another has begun, or it completed or aborted.
    pub(crate) fn leased(&self, lease: &Lease) -> Option<&Leased> {
        match &self.state {
            Some(State::Leased(leased)) if leased.fence == lease.fence && leased.op == lease.op => Some(leased),
            _ => None,
        }
    }

    /// The fingerprint of the id.
    pub(crate) fn fingerprint(&self) -> Option<&Fingerprint> {
        self.state.as_ref().map_or(self.unsettled.as_ref(), State::fingerprint)
    }

    pub(crate) fn is_of_another(&self, fingerprint: Option<&Fingerprint>) -> bool {
        self.fingerprint().zip(fingerprint).is_some_and(|(known, asked)| known != asked)
    }
}

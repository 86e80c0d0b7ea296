//! What is known of one id.

use storagebox_core::OpId;
use storagebox_core::backend::rules::{IdRecord, IdState};

use super::ended::Ended;
use super::log::Log;
use crate::clock::Millis;

/// An id's state, and what is known of the operations on it that are over.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) state: IdState<Millis>,
    /// The one that had the id last, if it is over and remembered.
    pub(super) ended: Option<Ended>,
    /// When the last one before it ended, if that is remembered.
    pub(super) others: Option<Millis>,
    /// The operation that was asked for, if it is one of those.
    pub(super) asked: Option<OpId>,
    /// The last number that was given on the id, as a version or a fence.
    pub(crate) last: u64,
    pub(super) log: Log,
}

impl Record {
    /// Ends a record whose retention was over by then; its operation is fenced from there on (D-4).
    pub(super) fn expire(&mut self, past: Millis) {
        if let IdState::Done(IdRecord { op, until: Some(until), .. }) = &self.state
            && *until <= past
        {
            self.ended = Some(Ended { op: op.clone(), since: *until });
            self.state = IdState::default();
        }
    }

    pub(crate) fn has_ended(&self, op: &OpId) -> bool {
        self.asked.as_ref() == Some(op) || self.ended.as_ref().is_some_and(|ended| ended.op == *op)
    }

    /// Whether the id has, or had last, this operation.
    pub(super) fn is_of(&self, op: &OpId) -> bool {
        self.has_ended(op) || self.state.op() == Some(op)
    }

    /// Whether operations that ended before may be remembered.
    pub(super) fn has_others(&self) -> bool {
        self.others.is_some()
    }

    /// When the last operation ended that will not be in the row any more, once another follows.
    pub(super) fn last_ended(&self) -> Option<Millis> {
        self.ended.as_ref().map(|ended| ended.since).max(self.others)
    }
}

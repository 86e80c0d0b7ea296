//! The state of one id.

use storagebox_core::OpId;
use storagebox_core::backend::rules::{IdRecord, IdState};

use super::ended::Ended;
use crate::client::Tag;
use crate::clock::Millis;

/// The state of an id, and the ended operations that are known.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) state: IdState<Millis>,
    /// The last operation, if it has ended and is still remembered.
    pub(super) ended: Option<Ended>,
    /// When the latest operation with a separate row ended, if that operation is still remembered.
    pub(super) others: Option<Millis>,
    /// The operation of the call, if it has ended and has a separate row.
    pub(super) asked: Option<OpId>,
    /// The last version or fence of the id.
    pub(crate) last: u64,
    /// The tag of the row; `None` without a row. The tag of a row of an earlier version is empty.
    pub(super) tag: Option<String>,
    /// Whether the call itself wrote the row, in an earlier attempt whose reply was lost.
    pub(crate) is_own: bool,
}

impl Record {
    /// Notes whether the call with this tag wrote the row.
    pub(super) fn seen_by(self, tag: &Tag) -> Self {
        let is_own = self.tag.as_ref().is_some_and(|found| tag.wrote(found));
        Self { is_own, ..self }
    }

    /// Ends a record whose retention is over. The operation ended when the retention ended (D-4).
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

    /// Returns whether the row names this operation.
    pub(super) fn is_of(&self, op: &OpId) -> bool {
        self.has_ended(op) || self.state.op() == Some(op)
    }

    /// Returns whether earlier operations with separate rows may be remembered.
    pub(super) fn has_others(&self) -> bool {
        self.others.is_some()
    }

    /// Returns when the latest ended operation of the id ended.
    pub(super) fn last_ended(&self) -> Option<Millis> {
        self.ended.as_ref().map(|ended| ended.since).max(self.others)
    }
}

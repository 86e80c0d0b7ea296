//! The ended operations of an id, which are remembered so that their late copies change nothing (D-7).
//!
//! The id's row stores the operation that ended last. When another operation follows, the same step writes a separate
//! row for the ended one, so the id's row does not grow. The key of a separate row has the id and the operation, and
//! its `y` says when the operation ended. The attribute `e` of the id's row says when the latest operation with a
//! separate row ended. Separate rows are read only as long as that operation is remembered.

use storagebox_core::{DedupId, OpId, Result};

use super::Records;
use super::record::Record;
use crate::client::{OpenNamespace, Write};
use crate::clock::Millis;
use crate::row::{Row, RowKey};

/// The text in the partition keys of the rows of ended operations.
const OVER: &str = "over";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) op: OpId,
    pub(super) since: Millis,
}

/// Returns whether an operation that ended at `since` is still remembered.
pub(super) fn is_remembered(open: &OpenNamespace, since: Millis, past: Millis) -> bool {
    open.forgotten_after(since).is_none_or(|forgotten| past < forgotten)
}

impl Records {
    fn over_key(&self, id: &DedupId, op: &OpId) -> RowKey {
        let id = id.as_str();
        RowKey::new(self.open.key(format_args!("{OVER}:{}:{id}", id.len())), op.as_str())
    }

    pub(super) fn fence(&self, id: &DedupId, ended: &Ended) -> Write {
        let row = Row::new(&self.over_key(id, &ended.op)).with("y", ended.since.0);
        Write::put(row.expiring(self.open.expiry_after(Some(ended.since))))
    }

    /// Adds to the record whether this operation has ended. The id's row must be read before this call: if the separate
    /// row is missing, the operation had not ended when the id's row was read.
    pub(super) async fn with_ended(
        &self,
        record: Record,
        id: &DedupId,
        op: Option<&OpId>,
        past: Millis,
    ) -> Result<Record> {
        let Some(op) = op.filter(|op| record.has_others() && !record.is_of(op)) else { return Ok(record) };
        let row = self.client().get(&self.over_key(id, op)).await?;
        let since = row.map(|row| row.needed("y", row.number("y"))).transpose()?.map(Millis);
        let is_over = since.is_some_and(|since| is_remembered(&self.open, since, past));
        Ok(Record { asked: Some(op.clone()).filter(|_| is_over), ..record })
    }
}

//! The operations on an id that are over, remembered so that their late copies change nothing (D-7).
//!
//! The last one stands in the id's own row. When another follows it there, it gets a row of its own in the same step,
//! so that an id costs the same however often it was used: `y` says when it ended, and it is found by id and operation.
//! The id's row says in `e` when the last of those ended: as long as that is remembered, somebody may have such a row.

use storagebox_core::{DedupId, OpId, Result};

use super::Records;
use super::record::Record;
use crate::client::{OpenNamespace, Write};
use crate::clock::Millis;
use crate::row::{EXPIRES, Row, RowKey};

/// The partitions of an id's operations that are over.
const OVER: &str = "over";

/// An operation that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) op: OpId,
    pub(super) since: Millis,
}

/// Whether what ended then is still remembered.
pub(super) fn is_remembered(open: &OpenNamespace, since: Millis, past: Millis) -> bool {
    open.forgotten_after(since).is_none_or(|forgotten| past < forgotten)
}

impl Records {
    fn over_key(&self, id: &DedupId, op: &OpId) -> RowKey {
        let id = id.as_str();
        RowKey::new(self.open.key(format_args!("{OVER}:{}:{id}", id.len())), op.as_str())
    }

    /// The row of its own that an operation gets when another follows it.
    pub(super) fn fence(&self, id: &DedupId, ended: &Ended) -> Write {
        let forgotten = self.open.forgotten_after(ended.since);
        let row = Row::new(&self.over_key(id, &ended.op)).with("y", ended.since.0);
        let row = row.with_some("g", forgotten.map(|forgotten| forgotten.0));
        Write::put(row.with_some(EXPIRES, forgotten.map(|forgotten| self.client().deletable(forgotten))))
    }

    /// The record with what is known of this operation, where the id's row cannot tell. It is looked for after the row
    /// was read: an operation that is not over by then was not when the row was as it is.
    pub(super) async fn knowing(
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

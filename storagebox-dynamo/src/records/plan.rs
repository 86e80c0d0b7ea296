//! A call that may be the first of its id, planned for a transaction of the caller.

use std::sync::Arc;

use storagebox_core::{DedupId, OpId, Result};

use super::record::Record;
use super::{Records, Step};
use crate::client::{Tag, Write};
use crate::clock::Millis;
use crate::error::contention;
use crate::parts::Planned;
use crate::row::Row;

impl Records {
    /// Plans the step of a call. `known` returns an outcome that the record decides. Otherwise, `first` returns the
    /// step.
    pub(crate) async fn plan<T: Send + 'static>(
        self: &Arc<Self>,
        (id, op): (&DedupId, &OpId),
        tag: &Tag,
        known: impl Fn(&Record, Millis) -> Option<T> + Send + Sync + 'static,
        first: impl Fn(&Record) -> Step<T> + Send + Sync,
    ) -> Result<Planned<T>> {
        let (key, past) = (self.key(id).await?, self.client().surely_past());
        let row = self.client().get(&key).await?;
        let record = self.with_ended(self.read(row.as_ref(), past)?, id, Some(op), past).await?;
        let step = known(&record, past).map_or_else(|| first(&record), Step::Answer);
        let (state, answer) = match step {
            Step::Answer(answer) => return Ok(Planned::answer(answer)),
            Step::Write(state, answer) => (state, answer),
        };
        let put = Write::put(record.becoming(&state, &key, &self.open)).tagged(&tag.of_attempt());
        let (records, op) = (Arc::clone(self), op.clone());
        let shown = move |row: Option<Row>| {
            let past = records.client().surely_past();
            let record = records.shown(row.as_ref(), &op, past)?;
            known(&record, past).ok_or_else(contention)
        };
        Ok(Planned::by_first(answer, self.replacing(id, &record, put), shown))
    }

    /// Reads the record that refused a write. Returns `Contention` if the record does not show whether the operation
    /// has ended.
    fn shown(&self, row: Option<&Row>, op: &OpId, past: Millis) -> Result<Record> {
        let record = self.read(row, past)?;
        if record.has_others() && !record.is_of(op) { Err(contention()) } else { Ok(record) }
    }
}

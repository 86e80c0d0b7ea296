//! The deduplication records: the first value for an id wins.

use std::sync::Arc;

use storagebox_core::backend::rules::IdState;
use storagebox_core::{
    Cursor, DedupId, DedupRepo, Entry, Forgotten, ListedRecord, OpId, Page, Payload, Recorded, Replaced, Result,
    Retention, Version, async_trait,
};
use tracing::instrument;

use crate::records::Records;

#[derive(Debug)]
pub(crate) struct MemoryDedupRepo(pub(crate) Arc<Records>);

#[async_trait]
impl DedupRepo for MemoryDedupRepo {
    #[instrument(level = "trace", skip_all)]
    async fn record(&self, id: &DedupId, value: &Payload, op: &OpId, retention: Retention) -> Result<Recorded> {
        let retention = retention.checked()?;
        self.0.change(id, |record, now| {
            record.state.record(op, record.has_ended(op), now).unwrap_or_else(|| {
                let done = self.0.done(value, op, now, retention);
                let version = done.entry.version;
                record.state = IdState::Done(done);
                Recorded::New(version)
            })
        })
    }

    #[instrument(level = "trace", skip_all)]
    async fn get(&self, id: &DedupId) -> Result<Option<Entry>> {
        Ok(self.0.read(id, |record| record.state.entry().cloned()))
    }

    #[instrument(level = "trace", skip_all)]
    async fn replace(&self, id: &DedupId, version: Version, value: &Payload, op: &OpId) -> Result<Replaced> {
        self.0.change(id, |record, _| match (record.state.replace(version, op), &mut record.state) {
            (None, IdState::Done(done)) => {
                done.entry = self.0.next_entry(value);
                done.replaced_by = Some((op.clone(), version));
                Replaced::Replaced(done.entry.version)
            }
            (answer, _) => answer.unwrap_or(Replaced::Stale(None)),
        })
    }

    #[instrument(level = "trace", skip_all)]
    async fn forget(&self, id: &DedupId, version: Version) -> Result<Forgotten> {
        self.0.change(id, |record, now| {
            record.state.forget(version).unwrap_or_else(|| {
                record.end(now);
                Forgotten::Forgotten
            })
        })
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>> {
        let now = self.0.settings.now();
        self.0.by_id.page(cursor, limit, |id, record| {
            let entry = record.state.entry().filter(|_| !record.state.is_expired(now))?;
            Some(ListedRecord { id: id.clone(), entry: entry.clone() })
        })
    }
}

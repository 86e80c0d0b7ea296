//! The deduplication records: the first value for an id wins.

use std::sync::Arc;

use storagebox_core::{
    Cursor, DedupId, DedupRepo, Entry, Forgotten, ListedRecord, OpId, Page, Payload, Recorded, Replaced, Result,
    Retention, Version, async_trait,
};
use tracing::instrument;

use crate::records::{Records, State};

#[derive(Debug)]
pub(crate) struct MemoryDedupRepo(pub(crate) Arc<Records>);

#[async_trait]
impl DedupRepo for MemoryDedupRepo {
    #[instrument(level = "trace", skip_all)]
    async fn record(&self, id: &DedupId, value: &Payload, op: &OpId, retention: Retention) -> Result<Recorded> {
        let retention = retention.checked()?;
        Ok(self.0.step(id, |record, now| match &record.state {
            _ if record.has_ended(op) => Recorded::Fenced,
            State::Done(done) if done.op == *op => Recorded::Again(done.entry.clone()),
            State::Done(done) => Recorded::Existing(done.entry.clone()),
            State::Leased(leased) if now < leased.until => Recorded::InFlight { remaining: now.until(leased.until) },
            State::Leased(_) | State::Unsettled(_) | State::Vacant => {
                let done = self.0.done(value, op, now, retention);
                let version = done.entry.version;
                record.state = State::Done(done);
                Recorded::New(version)
            }
        }))
    }

    #[instrument(level = "trace", skip_all)]
    async fn get(&self, id: &DedupId) -> Result<Option<Entry>> {
        Ok(self.0.step(id, |record, _| record.done().map(|done| done.entry.clone())))
    }

    #[instrument(level = "trace", skip_all)]
    async fn replace(&self, id: &DedupId, version: Version, value: &Payload, op: &OpId) -> Result<Replaced> {
        Ok(self.0.step(id, |record, _| {
            let Some(done) = record.done() else {
                return Replaced::Stale(None);
            };
            if done.replaced_by.as_ref() == Some(&(op.clone(), version)) {
                return Replaced::Again(done.entry.version);
            }
            if done.entry.version != version {
                return Replaced::Stale(Some(done.entry.clone()));
            }
            let next = Version::new(self.0.next_number());
            done.entry = Entry { value: value.clone(), version: next };
            done.replaced_by = Some((op.clone(), version));
            Replaced::Replaced(next)
        }))
    }

    #[instrument(level = "trace", skip_all)]
    async fn forget(&self, id: &DedupId, version: Version) -> Result<Forgotten> {
        Ok(self.0.step(id, |record, now| match record.done() {
            None => Forgotten::Absent,
            Some(done) if done.entry.version != version => Forgotten::Stale(done.entry.clone()),
            Some(_) => {
                record.end(now);
                Forgotten::Forgotten
            }
        }))
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>> {
        let now = self.0.settings.now();
        self.0.by_id.page(cursor, limit, |id, record| {
            record.shown(now).map(|entry| ListedRecord { id: id.clone(), entry: entry.clone() })
        })
    }
}

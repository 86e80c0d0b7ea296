//! The deduplication records: the first value for an id wins.

use std::ops::Bound;

use storagebox_core::backend::PageRequest;
use storagebox_core::{
    Cursor, DedupId, DedupRepo, Entry, Forgotten, ListedRecord, OpId, Page, Payload, Recorded, Replaced, Result,
    Retention, Version, async_trait,
};

use crate::client::{BACKEND, Look, Step};
use crate::error::Stepped;
use crate::records::{Outcome, RECORDS, Record, Slot};
use crate::space::Space;
use crate::time::remaining;

#[derive(Debug)]
pub(crate) struct RedbDedupRepo(pub(crate) Space);

impl Slot<'_> {
    fn record(&self, value: &Payload, op: &OpId, retention: Retention, now: i64) -> Stepped<Recorded> {
        if self.has_ended(op)? {
            return Ok(Recorded::Fenced);
        }
        Ok(match &self.record {
            Some(Record { result: Some(known), op: first, .. }) if first == op.as_str() => {
                Recorded::Again(known.entry.clone())
            }
            Some(Record { result: Some(known), .. }) => Recorded::Existing(known.entry.clone()),
            Some(lease) if now < lease.until => Recorded::InFlight { remaining: remaining(now, lease.until) },
            // The record replaces a lapsed lease.
            Some(_) | None => Recorded::New(self.finish(op, None, value, retention)?.version),
        })
    }

    fn replace(&mut self, version: Version, value: &Payload, op: &OpId) -> Stepped<Replaced> {
        let Some(mut record) = self.record.take() else { return Ok(Replaced::Stale(None)) };
        let Some(known) = record.result.take() else { return Ok(Replaced::Stale(None)) };
        let this = Some((op.as_str().to_owned(), version));
        if known.replaced == this {
            return Ok(Replaced::Again(known.entry.version));
        }
        if known.entry.version != version {
            return Ok(Replaced::Stale(Some(known.entry)));
        }
        let next = self.next_version()?;
        let entry = Entry { value: value.clone(), version: next };
        self.put(&Record { result: Some(Outcome { entry, replaced: this }), ..record })?;
        Ok(Replaced::Replaced(next))
    }

    fn forget(&mut self, version: Version, now: i64) -> Stepped<Forgotten> {
        match self.record.as_ref().and_then(Record::entry) {
            None => Ok(Forgotten::Absent),
            Some(entry) if entry.version != version => Ok(Forgotten::Stale(entry.clone())),
            Some(_) => self.end(now).map(|()| Forgotten::Forgotten),
        }
    }
}

fn get(look: &Look, name: &str, id: &DedupId) -> Stepped<Option<Entry>> {
    let row = look.table(RECORDS)?.get((name, id.as_str()))?;
    let record = row.map(|row| Record::of_row(row.value())).transpose()?;
    Ok(record.filter(|record| !record.is_expired(look.now)).and_then(|record| record.result).map(|known| known.entry))
}

fn list(look: &Look, name: &str, listing: &PageRequest) -> Stepped<Vec<ListedRecord>> {
    let rows = look.rows(RECORDS, name, Bound::Excluded(listing.after()))?.map(|row| {
        let (id, row) = row?;
        let record = Record::of_row(row.value())?;
        let entry = record.entry().filter(|_| !record.is_expired(look.now)).cloned();
        entry.map(|entry| Ok(ListedRecord { id: DedupId::new(id)?, entry })).transpose()
    });
    rows.filter_map(Stepped::transpose).take(listing.limit() as usize).collect()
}

#[async_trait]
impl DedupRepo for RedbDedupRepo {
    async fn record(&self, id: &DedupId, value: &Payload, op: &OpId, retention: Retention) -> Result<Recorded> {
        let retention = retention.checked()?;
        let (id, value, op) = (id.clone(), value.clone(), op.clone());
        let step = move |step: &Step, name: &str| Slot::of(step, name, &id)?.record(&value, &op, retention, step.now);
        self.0.write("record", step).await
    }

    async fn get(&self, id: &DedupId) -> Result<Option<Entry>> {
        let id = id.clone();
        self.0.read("get", move |look, name| get(look, name, &id)).await
    }

    async fn replace(&self, id: &DedupId, version: Version, value: &Payload, op: &OpId) -> Result<Replaced> {
        let (id, value, op) = (id.clone(), value.clone(), op.clone());
        self.0.write("replace", move |step, name| Slot::of(step, name, &id)?.replace(version, &value, &op)).await
    }

    async fn forget(&self, id: &DedupId, version: Version) -> Result<Forgotten> {
        let id = id.clone();
        self.0.write("forget", move |step, name| Slot::of(step, name, &id)?.forget(version, step.now)).await
    }

    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>> {
        let listing = PageRequest::of::<DedupId>(BACKEND, cursor, limit)?;
        let asked = listing.clone();
        let entries = self.0.read("list", move |look, name| list(look, name, &asked)).await?;
        Ok(listing.page(entries, |last: &ListedRecord| last.id.as_str()))
    }
}

//! Records and leases, which share one table. The rules of `storagebox_core` return the outcome of a call that changes
//! nothing. This file keeps the state of each id, and makes the change if the rules return no outcome.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use storagebox_core::backend::PageRequest;
use storagebox_core::backend::rules::{IdRecord, IdState, started};
use storagebox_core::{
    Aborted, Begun, Clock, Completed, Cursor, DedupId, DedupRepo, Entry, Fence, Fingerprint, Forgotten, Lease,
    LeaseExtended, LeaseRepo, ListedRecord, OpId, Page, Payload, Recorded, Replaced, Result, Retention, Version,
    async_trait, checked_duration,
};

use crate::{end, is_forgotten};

#[derive(Debug)]
pub(crate) struct Records {
    clock: Arc<dyn Clock>,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    rows: BTreeMap<DedupId, Row>,
    last: LastNumber,
}

/// The last number that was used as a version or a fence. A new version or fence is always higher, even after the
/// record of the last one was deleted (D-5, D-7).
#[derive(Debug, Default)]
struct LastNumber(u64);

/// The state of an id, and its ended operations. Repeated calls of ended operations change nothing (D-7).
#[derive(Debug, Default)]
struct Row {
    state: IdState<Duration>,
    ended: Vec<(OpId, Duration)>,
}

impl LastNumber {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }

    fn next_entry(&mut self, value: &Payload) -> Entry {
        Entry { value: value.clone(), version: Version::new(self.next()) }
    }
}

impl Records {
    pub(crate) fn new(clock: &Arc<dyn Clock>) -> Self {
        Self { clock: Arc::clone(clock), table: Mutex::default() }
    }

    /// Locks the table, reads the clock, and runs one atomic step on an id.
    fn step<T>(&self, id: &DedupId, step: impl FnOnce(&mut Row, &mut LastNumber, Duration) -> T) -> T {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        let mut row = table.rows.remove(id).unwrap_or_default();
        row.catch_up(now);
        let outcome = step(&mut row, &mut table.last, now);
        if !row.is_empty() {
            table.rows.insert(id.clone(), row);
        }
        outcome
    }

    /// Deletes at most `most` rows that no promise needs. Returns the number of deleted rows.
    pub(crate) fn maintain(&self, most: usize) -> usize {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        let mut deleted = 0;
        table.rows.retain(|_, row| {
            row.catch_up(now);
            let delete = deleted < most && row.is_empty();
            deleted += usize::from(delete);
            !delete
        });
        deleted
    }
}

impl Row {
    /// Ends a record whose retention is over. Forgets ended operations and lapsed leases that no promise needs.
    fn catch_up(&mut self, now: Duration) {
        if self.state.is_expired(now) {
            self.end(now);
        }
        self.ended.retain(|(_, ended)| !is_forgotten(*ended, now));
        let forget = match &self.state {
            IdState::Vacant(_) => self.ended.is_empty(),
            IdState::Leased(leased) => is_forgotten(leased.until, now),
            IdState::Done(_) => false,
        };
        if forget {
            self.state = IdState::default();
        }
    }

    /// Ends the operation of the id, and removes the lease or the record.
    fn end(&mut self, now: Duration) {
        self.ended.extend(self.state.op().map(|op| (op.clone(), now)));
        self.state = match std::mem::take(&mut self.state) {
            // An earlier lease with this fingerprint lapsed, and its work may have had an effect (D-6).
            IdState::Leased(leased) if leased.is_inherited => IdState::Vacant(leased.fingerprint),
            _ => IdState::default(),
        };
    }

    fn is_empty(&self) -> bool {
        self.state == IdState::default() && self.ended.is_empty()
    }

    fn has_ended(&self, op: &OpId) -> bool {
        self.ended.iter().any(|(ended, _)| ended == op)
    }
}

#[async_trait]
impl DedupRepo for Records {
    async fn record(&self, id: &DedupId, value: &Payload, op: &OpId, retention: Retention) -> Result<Recorded> {
        let retention = retention.checked()?;
        Ok(self.step(id, |row, last, now| {
            row.state.record(op, row.has_ended(op), now).unwrap_or_else(|| {
                let entry = last.next_entry(value);
                let version = entry.version;
                row.state = IdState::Done(IdRecord::new(entry, op.clone(), end(now, retention)));
                Recorded::New(version)
            })
        }))
    }

    async fn get(&self, id: &DedupId) -> Result<Option<Entry>> {
        Ok(self.step(id, |row, _, _| row.state.entry().cloned()))
    }

    async fn replace(&self, id: &DedupId, version: Version, value: &Payload, op: &OpId) -> Result<Replaced> {
        Ok(self.step(id, |row, last, _| match (row.state.replace(version, op), &mut row.state) {
            (None, IdState::Done(record)) => {
                record.entry = last.next_entry(value);
                record.replaced_by = Some((op.clone(), version));
                Replaced::Replaced(record.entry.version)
            }
            (answer, _) => answer.unwrap_or(Replaced::Stale(None)),
        }))
    }

    async fn forget(&self, id: &DedupId, version: Version) -> Result<Forgotten> {
        Ok(self.step(id, |row, _, now| {
            row.state.forget(version).unwrap_or_else(|| {
                row.end(now);
                Forgotten::Forgotten
            })
        }))
    }

    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>> {
        let listing = PageRequest::of::<DedupId>("consumer", cursor, limit)?;
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        let listed = table.rows.iter().filter(|(id, _)| id.as_str() > listing.after()).filter_map(|(id, row)| {
            let entry = row.state.entry().filter(|_| !row.state.is_expired(now))?;
            Some(ListedRecord { id: id.clone(), entry: entry.clone() })
        });
        let entries = listed.take(listing.limit() as usize).collect();
        Ok(listing.page(entries, |record: &ListedRecord| record.id.as_str()))
    }
}

#[async_trait]
impl LeaseRepo for Records {
    async fn begin(&self, id: &DedupId, op: &OpId, term: Duration, fingerprint: Option<&Fingerprint>) -> Result<Begun> {
        let term = checked_duration("lease", term)?;
        Ok(self.step(id, |row, last, now| {
            row.state.begin((id, op), fingerprint, row.has_ended(op), now).unwrap_or_else(|| {
                let fence = Fence::new(last.next());
                row.state = IdState::Leased(row.state.next_lease(op, fence, now + term, fingerprint));
                started(id, op, fence)
            })
        }))
    }

    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed> {
        let retention = retention.checked()?;
        Ok(self.step(&lease.id, |row, last, now| {
            row.state.complete(lease).unwrap_or_else(|| {
                let entry = last.next_entry(result);
                row.state = IdState::Done(IdRecord {
                    fence: Some(lease.fence),
                    fingerprint: row.state.fingerprint().cloned(),
                    ..IdRecord::new(entry.clone(), lease.op.clone(), end(now, retention))
                });
                Completed::Completed(entry)
            })
        }))
    }

    async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        Ok(self.step(&lease.id, |row, _, now| {
            row.state.abort(lease, row.has_ended(&lease.op)).unwrap_or_else(|| {
                row.end(now);
                Aborted::Aborted
            })
        }))
    }

    async fn extend(&self, lease: &Lease, term: Duration) -> Result<LeaseExtended> {
        let term = checked_duration("lease", term)?;
        Ok(self.step(&lease.id, |row, _, now| match &mut row.state {
            IdState::Leased(held) if held.is(lease) => {
                held.until = held.until.max(now + term);
                LeaseExtended::Extended
            }
            _ => LeaseExtended::Fenced,
        }))
    }
}

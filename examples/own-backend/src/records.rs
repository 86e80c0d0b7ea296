//! Records and the leases over them. Both are views of one table.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use storagebox_core::backend::PageRequest;
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
    /// The last version or fence. None repeats, whatever is forgotten (D-5, D-7).
    last: u64,
}

/// What is known of an id.
#[derive(Debug, Default)]
struct Row {
    lease: Option<Leased>,
    record: Option<Record>,
    /// The fingerprint of lapsed leases, and when the last lease of the id ended: their work may have had an effect,
    /// so another request may not begin for as long as operations are remembered (D-6).
    unsettled: Option<(Fingerprint, Duration)>,
    /// Operations that have ended. Their late copies change nothing (D-7).
    ended: Vec<(OpId, Duration)>,
}

#[derive(Debug)]
struct Leased {
    op: OpId,
    fence: Fence,
    until: Duration,
    fingerprint: Option<Fingerprint>,
}

#[derive(Debug)]
struct Record {
    entry: Entry,
    op: OpId,
    until: Option<Duration>,
    /// The lease that it is the result of.
    lease: Option<(Fence, Option<Fingerprint>)>,
    /// The operation that put the present value in the place of this version.
    replaced: Option<(OpId, Version)>,
}

impl Records {
    pub(crate) fn new(clock: &Arc<dyn Clock>) -> Self {
        Self { clock: Arc::clone(clock), table: Mutex::default() }
    }

    /// One atomic step on an id, by the time at which it begins.
    fn step<T>(&self, id: &DedupId, step: impl FnOnce(&mut Row, &mut u64, Duration) -> T) -> T {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        let mut row = table.rows.remove(id).unwrap_or_default();
        row.age(now);
        let outcome = step(&mut row, &mut table.last, now);
        if !row.is_empty() {
            table.rows.insert(id.clone(), row);
        }
        outcome
    }

    /// Deletes what nothing needs; returns how many rows.
    pub(crate) fn maintain(&self, most: usize) -> usize {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        let before = table.rows.len();
        let mut left = most;
        table.rows.retain(|_, row| {
            row.age(now);
            if row.lease.as_ref().is_some_and(|lease| is_forgotten(lease.until, now)) && left > 0 {
                row.lease = None;
            }
            let stays = left == 0 || !row.is_empty();
            left -= usize::from(!stays);
            stays
        });
        before - table.rows.len()
    }
}

impl Row {
    /// Ends what has expired by now, and forgets what ended long ago.
    fn age(&mut self, now: Duration) {
        if self.record.as_ref().is_some_and(|record| record.until.is_some_and(|until| until <= now)) {
            self.end_record(now);
        }
        self.ended.retain(|(_, ended)| !is_forgotten(*ended, now));
        let last = self.lease.as_ref().map(|lease| lease.until);
        self.unsettled.take_if(|(_, ended)| is_forgotten(last.unwrap_or(*ended), now));
    }

    fn end_record(&mut self, now: Duration) {
        self.ended.extend(self.record.take().map(|record| (record.op, now)));
    }

    fn is_empty(&self) -> bool {
        self.lease.is_none() && self.record.is_none() && self.unsettled.is_none() && self.ended.is_empty()
    }

    fn has_ended(&self, op: &OpId) -> bool {
        self.ended.iter().any(|(ended, _)| ended == op)
    }

    /// The fingerprint of the id. That of a lease that lapsed stays for as long as operations are remembered.
    fn fingerprint(&self, now: Duration) -> Option<&Fingerprint> {
        let lease = self.lease.as_ref().filter(|lease| !is_forgotten(lease.until, now));
        let of_lease = lease.and_then(|lease| lease.fingerprint.as_ref());
        let of_record = self.record.as_ref().and_then(|record| record.lease.as_ref()?.1.as_ref());
        let of_lapsed = self.unsettled.as_ref().map(|(fingerprint, _)| fingerprint);
        of_lapsed.or(of_lease).or(of_record)
    }

    /// Whether a request of another fingerprint was first.
    fn is_of_another(&self, asked: Option<&Fingerprint>, now: Duration) -> bool {
        self.fingerprint(now).zip(asked).is_some_and(|(known, asked)| known != asked)
    }

    fn holds(&mut self, lease: &Lease) -> Option<&mut Leased> {
        self.lease.as_mut().filter(|held| held.fence == lease.fence && held.op == lease.op)
    }

    fn write(&mut self, value: &Payload, op: &OpId, last: &mut u64, until: Option<Duration>) -> Entry {
        let entry = Entry { value: value.clone(), version: Version::new(next(last)) };
        let record = Record { entry: entry.clone(), op: op.clone(), until, lease: None, replaced: None };
        self.record = Some(record);
        entry
    }

    /// A new lease. It has the fingerprint of the lapsed one whose place it takes, if that had any.
    fn begin(&mut self, lease: Lease, (now, term): (Duration, Duration), of: Option<&Fingerprint>) -> Begun {
        self.unsettled = self.fingerprint(now).cloned().map(|fingerprint| (fingerprint, now));
        let Lease { op, fence, .. } = lease.clone();
        self.lease = Some(Leased { op, fence, until: now + term, fingerprint: of.cloned() });
        Begun::Started(lease)
    }
}

fn next(last: &mut u64) -> u64 {
    *last += 1;
    *last
}

#[async_trait]
impl DedupRepo for Records {
    async fn record(&self, id: &DedupId, value: &Payload, op: &OpId, retention: Retention) -> Result<Recorded> {
        let retention = retention.checked()?;
        Ok(self.step(id, |row, last, now| match (&row.record, &row.lease) {
            _ if row.has_ended(op) => Recorded::Fenced,
            (Some(record), _) if record.op == *op => Recorded::Again(record.entry.clone()),
            (Some(record), _) => Recorded::Existing(record.entry.clone()),
            (None, Some(lease)) if now < lease.until => Recorded::InFlight { remaining: lease.until - now },
            (None, _) => {
                row.lease = None;
                row.unsettled = None;
                Recorded::New(row.write(value, op, last, end(now, retention)).version)
            }
        }))
    }

    async fn get(&self, id: &DedupId) -> Result<Option<Entry>> {
        Ok(self.step(id, |row, _, _| row.record.as_ref().map(|record| record.entry.clone())))
    }

    async fn replace(&self, id: &DedupId, version: Version, value: &Payload, op: &OpId) -> Result<Replaced> {
        Ok(self.step(id, |row, last, _| {
            let Some(record) = &mut row.record else { return Replaced::Stale(None) };
            let this = (op.clone(), version);
            if record.replaced.as_ref() == Some(&this) {
                return Replaced::Again(record.entry.version);
            }
            if record.entry.version != version {
                return Replaced::Stale(Some(record.entry.clone()));
            }
            record.entry = Entry { value: value.clone(), version: Version::new(next(last)) };
            record.replaced = Some(this);
            Replaced::Replaced(record.entry.version)
        }))
    }

    async fn forget(&self, id: &DedupId, version: Version) -> Result<Forgotten> {
        Ok(self.step(id, |row, _, now| match &row.record {
            None => Forgotten::Absent,
            Some(record) if record.entry.version != version => Forgotten::Stale(record.entry.clone()),
            Some(_) => {
                row.end_record(now);
                Forgotten::Forgotten
            }
        }))
    }

    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>> {
        let listing = PageRequest::of::<DedupId>("consumer", cursor, limit)?;
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        let shown = table.rows.iter().filter(|(id, _)| id.as_str() > listing.after()).filter_map(|(id, row)| {
            let record = row.record.as_ref().filter(|record| record.until.is_none_or(|until| now < until))?;
            Some(ListedRecord { id: id.clone(), entry: record.entry.clone() })
        });
        let entries = shown.take(listing.limit() as usize).collect();
        Ok(listing.page(entries, |record: &ListedRecord| record.id.as_str()))
    }
}

#[async_trait]
impl LeaseRepo for Records {
    async fn begin(&self, id: &DedupId, op: &OpId, term: Duration, fingerprint: Option<&Fingerprint>) -> Result<Begun> {
        let term = checked_duration("lease", term)?;
        let of_fence = |fence| Lease { id: id.clone(), op: op.clone(), fence };
        Ok(self.step(id, |row, last, now| {
            let live = row.lease.as_ref().filter(|lease| now < lease.until);
            match (&row.record, live) {
                _ if row.has_ended(op) => Begun::Fenced,
                _ if row.is_of_another(fingerprint, now) => Begun::Mismatch,
                (Some(record), _) => Begun::Done(record.entry.clone()),
                (None, Some(lease)) if lease.op == *op => Begun::Started(of_fence(lease.fence)),
                (None, Some(lease)) => Begun::InFlight { remaining: lease.until - now },
                (None, None) => row.begin(of_fence(Fence::new(next(last))), (now, term), fingerprint),
            }
        }))
    }

    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed> {
        let retention = retention.checked()?;
        Ok(self.step(&lease.id, |row, last, now| {
            let is_of_lease = |record: &&Record| record.lease.as_ref().is_some_and(|(fence, _)| *fence == lease.fence);
            if let Some(record) = row.record.as_ref().filter(is_of_lease) {
                return Completed::Again(record.entry.clone());
            }
            let Some(held) = row.holds(lease) else { return Completed::Fenced };
            let of_lease = held.fingerprint.take();
            let fingerprint = row.unsettled.take().map(|(fingerprint, _)| fingerprint).or(of_lease);
            row.lease = None;
            let entry = row.write(result, &lease.op, last, end(now, retention));
            if let Some(record) = &mut row.record {
                record.lease = Some((lease.fence, fingerprint));
            }
            Completed::Completed(entry)
        }))
    }

    async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        Ok(self.step(&lease.id, |row, _, now| {
            if row.holds(lease).is_some() {
                row.lease = None;
                row.ended.push((lease.op.clone(), now));
                // The abort speaks for this lease alone: an earlier one that lapsed may have had an effect.
                if let Some((_, since)) = &mut row.unsettled {
                    *since = now;
                }
            }
            if row.has_ended(&lease.op) { Aborted::Aborted } else { Aborted::Fenced }
        }))
    }

    async fn extend(&self, lease: &Lease, term: Duration) -> Result<LeaseExtended> {
        let term = checked_duration("lease", term)?;
        Ok(self.step(&lease.id, |row, _, now| match row.holds(lease) {
            Some(held) => {
                held.until = held.until.max(now + term);
                LeaseExtended::Extended
            }
            None => LeaseExtended::Fenced,
        }))
    }
}

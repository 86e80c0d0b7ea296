//! Deduplication records of one name, for its `DedupRepo` and `LeaseRepo`. Each step locks the id's stripe.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use storagebox_core::backend::rules::{IdRecord, IdState};
use storagebox_core::{DedupId, Entry, OpId, Payload, Result, Retention, Version};

use crate::clock::Time;
use crate::config::Settings;
use crate::transaction::{Entry as Locked, Keyed, Open};

#[derive(Debug)]
pub(crate) struct Records {
    pub(crate) settings: Settings,
    pub(crate) by_id: Keyed<DedupId, Record>,
    /// The last number that became a version or a fence of any id. All ids share the number, so that no number repeats
    /// after a record is forgotten.
    last_number: Arc<AtomicU64>,
}

/// The state of one id, and the ended operations of this id. A repetition of an ended operation changes nothing (D-7).
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) state: IdState<Time>,
    ended: Vec<(OpId, Time)>,
}

impl Record {
    /// Ends the record if it has expired. Forgets ended operations and fingerprints whose retention is over.
    fn catch_up(&mut self, settings: &Settings, now: Time) {
        if self.state.is_expired(now) {
            self.end(now);
        }
        self.ended.retain(|(_, since)| !settings.is_forgotten(*since, now));
        if self.ended.is_empty()
            && let IdState::Vacant(fingerprint) = &mut self.state
        {
            *fingerprint = None;
        }
    }

    /// Makes the id vacant, and remembers the operation as ended. Keeps a fingerprint from an earlier lease (D-6).
    pub(crate) fn end(&mut self, now: Time) {
        match std::mem::take(&mut self.state) {
            IdState::Vacant(_) => {}
            IdState::Done(done) => self.ended.push((done.op, now)),
            IdState::Leased(leased) => {
                self.state = IdState::Vacant(leased.fingerprint.filter(|_| leased.is_inherited));
                self.ended.push((leased.op, now));
            }
        }
    }

    pub(crate) fn has_ended(&self, op: &OpId) -> bool {
        self.ended.iter().any(|(ended, _)| ended == op)
    }

    fn is_empty(&self) -> bool {
        matches!(self.state, IdState::Vacant(_)) && self.ended.is_empty()
    }

    fn is_idle(&self, settings: &Settings, now: Time) -> bool {
        let lapsed = match &self.state {
            IdState::Vacant(_) => true,
            IdState::Leased(leased) => settings.is_forgotten(leased.until, now),
            IdState::Done(_) => false,
        };
        lapsed && self.ended.is_empty()
    }
}

impl Records {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, by_id: Keyed::default(), last_number: Arc::default() }
    }

    pub(crate) fn joined(&self, by: &Open) -> Self {
        let (settings, last_number) = (self.settings.clone(), Arc::clone(&self.last_number));
        Self { settings, by_id: self.by_id.joined(by), last_number }
    }

    pub(crate) fn next_number(&self) -> u64 {
        self.last_number.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn next_entry(&self, value: &Payload) -> Entry {
        Entry { value: value.clone(), version: Version::new(self.next_number()) }
    }

    pub(crate) fn done(&self, value: &Payload, op: &OpId, now: Time, retention: Retention) -> IdRecord<Time> {
        IdRecord::new(self.next_entry(value), op.clone(), now.after_retention(retention))
    }

    pub(crate) fn change<T>(&self, id: &DedupId, step: impl FnOnce(&mut Record, Time) -> T) -> Result<T> {
        Ok(self.step(id, self.by_id.to_change(id)?, step))
    }

    pub(crate) fn read<T>(&self, id: &DedupId, read: impl FnOnce(&Record) -> T) -> T {
        self.step(id, self.by_id.to_read(id), |record, _| read(record))
    }

    /// Applies expiry and retention to the record of the id, and then calls `step`. Deletes the record if `step` leaves
    /// it empty.
    fn step<T>(
        &self,
        id: &DedupId,
        mut stripe: Locked<'_, DedupId, Record>,
        step: impl FnOnce(&mut Record, Time) -> T,
    ) -> T {
        let now = self.settings.now();
        let record = stripe.entry(id.clone()).or_default();
        record.catch_up(&self.settings, now);
        let outcome = step(record, now);
        if record.is_empty() {
            stripe.remove(id);
        }
        outcome
    }

    /// Deletes at most `budget` vacant or lapsed records without remembered operations, and returns how many.
    pub(crate) fn maintain(&self, budget: usize) -> usize {
        let now = self.settings.now();
        self.by_id.spend(budget, |records, budget| {
            let mut used = 0;
            records.retain(|_, record| {
                record.catch_up(&self.settings, now);
                let delete = used < budget && record.is_idle(&self.settings, now);
                used += usize::from(delete);
                !delete
            });
            used
        })
    }
}

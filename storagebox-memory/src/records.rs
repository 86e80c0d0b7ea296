//! Deduplication records, shared by the two repositories of one name. Each step happens under its id's stripe lock.

use std::collections::BTreeMap;
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicU64, Ordering};

use storagebox_core::{DedupId, Entry, Fence, Fingerprint, OpId, Payload, Retention, Version};

use crate::clock::Time;
use crate::config::{Settings, is_past};
use crate::striped::Striped;

/// The records of one name.
#[derive(Debug)]
pub(crate) struct Records {
    pub(crate) settings: Settings,
    pub(crate) by_id: Striped<BTreeMap<DedupId, Record>>,
    /// Versions and fences of all ids, so that none repeats, whatever is forgotten.
    last_number: AtomicU64,
}

pub(crate) type Stripe<'a> = MutexGuard<'a, BTreeMap<DedupId, Record>>;

/// What is known of one id.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) state: State,
    /// Operations that are over, remembered so that their late copies change nothing (D-7).
    ended: Vec<(OpId, Time)>,
}

#[derive(Debug, Default)]
pub(crate) enum State {
    #[default]
    Vacant,
    /// No operation has the id, but an earlier lease lapsed, so its work may have had an effect.
    Unsettled(Unsettled),
    Leased(Leased),
    Done(Done),
}

/// The fingerprint that the id keeps after the lease that took over a lapsed one was aborted (D-6).
#[derive(Debug)]
pub(crate) struct Unsettled {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) since: Time,
}

#[derive(Debug)]
pub(crate) struct Leased {
    pub(crate) op: OpId,
    pub(crate) fence: Fence,
    pub(crate) until: Time,
    /// The fingerprint of the id.
    pub(crate) fingerprint: Option<Fingerprint>,
    /// Whether an earlier lease lapsed with this fingerprint, so that an abort of this one leaves it (D-6).
    pub(crate) is_inherited: bool,
}

#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) entry: Entry,
    /// The operation that recorded the first value.
    pub(crate) op: OpId,
    /// The lease that completed, if there was one.
    pub(crate) fence: Option<Fence>,
    pub(crate) fingerprint: Option<Fingerprint>,
    /// The operation that put the present value in place of the one at this version.
    pub(crate) replaced_by: Option<(OpId, Version)>,
    pub(crate) since: Time,
    pub(crate) retention: Retention,
}

impl Done {
    fn is_expired(&self, now: Time) -> bool {
        is_past(self.since, self.retention, now)
    }
}

impl Record {
    /// Ends the record if its retention is over, as of now; its operation is fenced from here on (D-4).
    pub(crate) fn expire(&mut self, now: Time) {
        if matches!(&self.state, State::Done(done) if done.is_expired(now)) {
            self.end(now);
        }
    }

    /// Leaves the id vacant and fences the operation that had it.
    pub(crate) fn end(&mut self, now: Time) {
        match std::mem::take(&mut self.state) {
            State::Vacant | State::Unsettled(_) => {}
            State::Leased(leased) => self.ended.push((leased.op, now)),
            State::Done(done) => self.ended.push((done.op, now)),
        }
    }

    pub(crate) fn has_ended(&self, op: &OpId) -> bool {
        self.ended.iter().any(|(ended, _)| ended == op)
    }

    pub(crate) fn done(&mut self) -> Option<&mut Done> {
        match &mut self.state {
            State::Done(done) => Some(done),
            State::Vacant | State::Unsettled(_) | State::Leased(_) => None,
        }
    }

    /// The record for a listing, which changes nothing.
    pub(crate) fn shown(&self, now: Time) -> Option<&Entry> {
        match &self.state {
            State::Done(done) if !done.is_expired(now) => Some(&done.entry),
            _ => None,
        }
    }

    fn forget_ended(&mut self, settings: &Settings, now: Time) {
        self.ended.retain(|(_, since)| !settings.is_forgotten(*since, now));
    }

    fn is_idle(&self, settings: &Settings, now: Time) -> bool {
        let lapsed = match &self.state {
            State::Vacant => true,
            State::Unsettled(unsettled) => settings.is_forgotten(unsettled.since, now),
            State::Leased(leased) => settings.is_forgotten(leased.until, now),
            State::Done(_) => false,
        };
        lapsed && self.ended.is_empty()
    }
}

impl Records {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, by_id: Striped::default(), last_number: AtomicU64::new(0) }
    }

    pub(crate) fn next_number(&self) -> u64 {
        self.last_number.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Runs one step on the id's record, as it is by the clock.
    pub(crate) fn step<T>(&self, id: &DedupId, step: impl FnOnce(&mut Record, Time) -> T) -> T {
        let mut stripe = self.by_id.lock_for(id);
        let now = self.settings.now();
        let record = entry(&mut stripe, id);
        record.expire(now);
        record.forget_ended(&self.settings, now);
        let outcome = step(record, now);
        drop_if_empty(&mut stripe, id);
        outcome
    }

    pub(crate) fn done(&self, value: &Payload, op: &OpId, since: Time, retention: Retention) -> Done {
        let entry = Entry { value: value.clone(), version: Version::new(self.next_number()) };
        Done { entry, op: op.clone(), fence: None, fingerprint: None, replaced_by: None, since, retention }
    }

    /// Deletes records that no promise needs, at most `budget` of them.
    pub(crate) fn maintain(&self, budget: usize) -> usize {
        let now = self.settings.now();
        self.by_id.spend(budget, |records, budget| {
            let mut used = 0;
            records.retain(|_, record| {
                record.expire(now);
                record.forget_ended(&self.settings, now);
                let delete = used < budget && record.is_idle(&self.settings, now);
                used += usize::from(delete);
                !delete
            });
            used
        })
    }
}

fn entry<'a>(stripe: &'a mut Stripe<'_>, id: &DedupId) -> &'a mut Record {
    stripe.entry(id.clone()).or_default()
}

/// A look at an id that nobody used leaves nothing behind.
fn drop_if_empty(stripe: &mut Stripe<'_>, id: &DedupId) {
    if stripe.get(id).is_some_and(|record| matches!(record.state, State::Vacant) && record.ended.is_empty()) {
        stripe.remove(id);
    }
}

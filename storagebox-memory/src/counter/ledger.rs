//! Ledgers: one entry per change, in the order of time.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::time::Duration;

use storagebox_core::{
    Attempt, Bounds, Cancelled, Change, Counted, Counter, CounterPromise, Cursor, Error, Key, Ledger, LedgerEntry,
    Maintained, OpId, Page, Reason, Remember, Result, async_trait,
};
use tracing::instrument;

use super::unsupported;
use super::void_ops::VoidOps;
use crate::config::Settings;
use crate::striped::not_ours;
use crate::transaction::{Keyed, Open};

#[derive(Debug)]
pub(crate) struct MemoryLedger {
    settings: Settings,
    cells: Keyed<Key, Entries>,
}

#[derive(Clone, Debug, Default)]
struct Entries {
    /// The sum of `compacted` and all entries.
    value: i64,
    compacted: Option<Compacted>,
    by_time: BTreeMap<Place, Entry>,
    by_op: HashMap<OpId, Place>,
    void: VoidOps<i64>,
}

/// The position of an entry in the log: its time in milliseconds since 1970, and its operation.
type Place = (i64, OpId);

#[derive(Clone, Debug)]
enum Entry {
    Change(i64, Option<Reason>),
    Fence,
}

#[derive(Clone, Copy, Debug, Default)]
struct Compacted {
    delta: i64,
    changes: u64,
    until: i64,
}

impl Entries {
    fn find(&self, op: &OpId) -> Option<&Entry> {
        self.by_time.get(self.by_op.get(op)?)
    }

    fn insert(&mut self, op: &OpId, entry: Entry, now: i64) {
        self.void.forget(op);
        self.by_op.insert(op.clone(), (now, op.clone()));
        self.by_time.insert((now, op.clone()), entry);
    }

    fn apply(&mut self, attempt: Attempt, change: &Change, now: i64) -> Result<Counted> {
        match (self.find(&change.op), self.value.checked_add(change.delta)) {
            (Some(Entry::Fence), _) => Ok(Counted::Fenced),
            (Some(Entry::Change(delta, _)), _) if *delta != change.delta => Ok(Counted::Mismatch),
            (Some(Entry::Change(..)), _) => Ok(Counted::AlreadyApplied { value: None }),
            (None, None) => self.void.refuse(&change.op, attempt, Counted::Overflow, now, |_| false),
            (None, Some(_)) if self.void.find(&change.op, attempt, |_| false).is_some() => Ok(Counted::Overflow),
            (None, Some(value)) => {
                self.value = value;
                self.insert(&change.op, Entry::Change(change.delta, change.reason.clone()), now);
                Ok(Counted::Applied { value: None })
            }
        }
    }

    fn cancel(&mut self, op: &OpId, now: i64) -> Cancelled {
        match self.find(op) {
            Some(Entry::Change(..)) => Cancelled::AlreadyApplied { value: None },
            Some(Entry::Fence) => Cancelled::Cancelled,
            None => {
                self.insert(op, Entry::Fence, now);
                Cancelled::Cancelled
            }
        }
    }

    fn page(&self, after: &After, limit: usize) -> Page<LedgerEntry> {
        let beyond = match after {
            After::Start | After::Sum => Bound::Unbounded,
            After::Change(place) => Bound::Excluded(place),
        };
        let sum = self.compacted.filter(|_| matches!(after, After::Start)).map(Compacted::shown);
        let changes = self.by_time.range((beyond, Bound::Unbounded)).filter_map(shown);
        let mut entries: Vec<_> = sum.into_iter().chain(changes).take(limit.saturating_add(1)).collect();
        let is_last = entries.len() <= limit;
        entries.truncate(limit);
        Page { next: entries.last().filter(|_| !is_last).map(cursor_after), entries }
    }

    /// Merges at most `limit` entries that are not later than `horizon`, the oldest first. Returns the number of merged
    /// entries.
    fn compact(&mut self, horizon: i64, limit: usize) -> usize {
        self.void.forget_up_to(usize::MAX, |since| since <= horizon);
        let mut merged = 0;
        while merged < limit && self.merge_first(horizon) {
            merged += 1;
        }
        merged
    }

    /// Merges the oldest entry into the sum. Returns false if the entry is later than `horizon` or the sum would
    /// overflow.
    fn merge_first(&mut self, horizon: i64) -> bool {
        let Some(first) = self.by_time.first_entry().filter(|entry| entry.key().0 <= horizon) else {
            return false;
        };
        if let Entry::Change(delta, _) = *first.get() {
            // The changes that bring the sum back may be younger than the horizon.
            let Some(grown) = self.compacted.unwrap_or_default().grown(delta, first.key().0) else {
                return false;
            };
            self.compacted = Some(grown);
        }
        self.by_op.remove(&first.remove_entry().0.1);
        true
    }

    fn has_up_to(&self, horizon: i64) -> bool {
        self.by_time.first_key_value().is_some_and(|((at, _), _)| *at <= horizon)
    }

    fn is_new(&self) -> bool {
        self.by_time.is_empty() && self.void.is_empty() && self.compacted.is_none()
    }
}

impl Compacted {
    fn grown(self, delta: i64, at: i64) -> Option<Self> {
        let delta = self.delta.checked_add(delta)?;
        Some(Self { delta, changes: self.changes + 1, until: at })
    }

    fn shown(self) -> LedgerEntry {
        LedgerEntry::Sum { delta: self.delta, changes: self.changes, until_millis: self.until }
    }
}

fn shown(((at, op), entry): (&Place, &Entry)) -> Option<LedgerEntry> {
    match entry {
        Entry::Change(delta, reason) => {
            Some(LedgerEntry::Change { op: op.clone(), delta: *delta, at_millis: *at, reason: reason.clone() })
        }
        Entry::Fence => None,
    }
}

/// The last entry on the previous page of a listing.
enum After {
    Start,
    Sum,
    Change(Place),
}

impl After {
    fn read(cursor: Option<&Cursor>) -> Result<Self> {
        match cursor.map(Cursor::as_str) {
            None => Ok(Self::Start),
            Some("sum") => Ok(Self::Sum),
            Some(place) => {
                let (at, op) = place.split_once(':').ok_or_else(not_ours)?;
                let at = at.parse().map_err(|_| not_ours())?;
                Ok(Self::Change((at, OpId::new(op).map_err(|_| not_ours())?)))
            }
        }
    }
}

fn cursor_after(entry: &LedgerEntry) -> Cursor {
    match entry {
        LedgerEntry::Sum { .. } => Cursor::new("sum"),
        LedgerEntry::Change { op, at_millis, .. } => Cursor::new(format!("{at_millis}:{op}")),
    }
}

impl MemoryLedger {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, cells: Keyed::default() }
    }

    pub(crate) fn joined(&self, by: &Open) -> Self {
        Self { settings: self.settings.clone(), cells: self.cells.joined(by) }
    }

    /// Calls `step` with the key's entries and the current time in milliseconds since 1970.
    fn step<T>(&self, key: &Key, step: impl FnOnce(&mut Entries, i64) -> T) -> Result<T> {
        let mut cells = self.cells.to_change(key)?;
        let now = self.settings.now().millis();
        let entries = cells.entry(key.clone()).or_default();
        let outcome = step(entries, now);
        if entries.is_new() {
            cells.remove(key);
        }
        Ok(outcome)
    }
}

#[async_trait]
impl Counter for MemoryLedger {
    #[instrument(level = "trace", skip_all)]
    async fn attempt_apply(&self, attempt: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        if change.bounds != Bounds::NONE {
            return Err(unsupported("a ledger with bounds", "the counter strategy Marker"));
        }
        self.step(key, |entries, now| entries.apply(attempt, change, now))?
    }

    #[instrument(level = "trace", skip_all)]
    async fn cancel(&self, key: &Key, op: &OpId) -> Result<Cancelled> {
        self.step(key, |entries, now| entries.cancel(op, now))
    }

    #[instrument(level = "trace", skip_all)]
    async fn value(&self, key: &Key) -> Result<i64> {
        Ok(self.cells.to_read(key).get(key).map_or(0, |entries| entries.value))
    }

    fn promise(&self) -> CounterPromise {
        CounterPromise {
            remember: Remember::Forever,
            bounds_per_change: false,
            answers_value: false,
            tells_mismatch: true,
            snapshot: true,
            capacity: None,
        }
    }
}

#[async_trait]
impl Ledger for MemoryLedger {
    #[instrument(level = "trace", skip_all)]
    async fn log(&self, key: &Key, cursor: Option<&Cursor>, limit: usize) -> Result<Page<LedgerEntry>> {
        if limit == 0 {
            return Err(Error::invalid("limit", "must be at least 1").on("memory"));
        }
        let after = After::read(cursor)?;
        let (cells, none) = (self.cells.to_read(key), Entries::default());
        Ok(cells.get(key).unwrap_or(&none).page(&after, limit))
    }

    #[instrument(level = "trace", skip_all)]
    async fn compact(&self, key: &Key, older_than: Duration, limit: usize) -> Result<Maintained> {
        self.step(key, |entries, now| {
            let horizon = now.saturating_sub(whole_millis(older_than));
            let merged = entries.compact(horizon, limit);
            Maintained { deleted: merged as u64, more: merged == limit && entries.has_up_to(horizon) }
        })
    }

    /// Returns the current value and ignores the maximum age, because an older value would not be cheaper to read.
    async fn value_within(&self, key: &Key, _max_age: Duration) -> Result<i64> {
        self.value(key).await
    }
}

/// Returns the duration in milliseconds, rounded up.
fn whole_millis(duration: Duration) -> i64 {
    // No entry may count as older than it is.
    i64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}

//! Broken ledgers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use storagebox_core::{
    Attempt, Bounds, Cancelled, Change, Clock, Counted, Counter, CounterPromise, Cursor, Key, Ledger, LedgerEntry,
    Maintained, ManualClock, OpId, Page, Result, async_trait,
};

use crate::steps::{OwnIds, Shown, between_steps, lock};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LedgerMistake {
    KeyedByTime,
    TestsBoundsOnARead,
    LosesTheLastMerged,
    KeepsTheLastMerged,
    MergesInTwoSteps,
    ASumEachTime,
    MergesTheYoung,
    MergesWithoutBound,
    LogByName,
    LogSkipsOne,
    LogShowsFences,
    LogShowsNoReasons,
    ReasonIsOfTheOperation,
    CachesForEver,
}

use LedgerMistake as Mistake;

#[derive(Default)]
pub(crate) struct LedgerState {
    own: OwnIds,
    /// The key whose merge is between its two steps, and the amount that the key's sum lacks until the second step.
    moving: Mutex<Option<(Key, i64)>>,
    cached: Mutex<HashMap<Key, i64>>,
    fences: Mutex<HashMap<Key, Vec<OpId>>>,
}

pub(crate) struct BrokenLedger {
    pub(crate) inner: Arc<dyn Ledger>,
    pub(crate) mistake: Option<Mistake>,
    pub(crate) state: Arc<LedgerState>,
    pub(crate) clock: ManualClock,
}

const BEHIND_THE_TIME: &str = " at ";

impl BrokenLedger {
    fn is(&self, mistake: Mistake) -> bool {
        self.mistake == Some(mistake)
    }

    fn op_below(&self, op: &OpId) -> Result<OpId> {
        match self.mistake {
            Some(Mistake::KeyedByTime) => OpId::new(format!("{op}{BEHIND_THE_TIME}{}", self.clock.now().as_millis())),
            _ => Ok(op.clone()),
        }
    }

    async fn test_then_add(&self, key: &Key, change: &Change) -> Result<Counted> {
        let value = self.inner.value(key).await?.saturating_add(change.delta);
        if !change.bounds.contains(value) {
            return Ok(Counted::OutOfBounds);
        }
        self.inner.apply(key, &Change { bounds: Bounds::NONE, ..change.clone() }).await
    }

    /// Returns the amount of the newest change that the next merge of `limit` entries includes.
    async fn last_merged(&self, key: &Key, limit: usize) -> Result<i64> {
        let log = self.inner.log(key, None, usize::MAX).await?.entries;
        Ok(log.iter().filter_map(delta_of).take(limit).last().unwrap_or(0))
    }

    /// Merges the entries, and then adds the last merged change again, multiplied by `sign`.
    async fn merge_wrongly(&self, key: &Key, older_than: Duration, limit: usize, sign: i64) -> Result<Maintained> {
        let last = self.last_merged(key, limit).await?;
        let merged = self.inner.compact(key, older_than, limit).await?;
        if merged.deleted > 0 {
            let op = OpId::new(self.state.own.fresh())?;
            let _ = self.inner.apply(key, &Change::new(op, sign * last)).await?;
        }
        Ok(merged)
    }

    /// Deletes the entries, and writes their sum in a separate step.
    async fn merge_in_two_steps(&self, key: &Key, older_than: Duration, limit: usize) -> Result<Maintained> {
        let last = self.last_merged(key, limit).await?;
        let _on_its_way = Shown::to_others(&self.state.moving, (key.clone(), last));
        between_steps().await;
        self.inner.compact(key, older_than, limit).await
    }

    fn missing(&self, key: &Key) -> i64 {
        let moving = lock(&self.state.moving);
        moving.as_ref().filter(|(moved, _)| moved == key).map_or(0, |(_, delta)| *delta)
    }

    fn spoil(&self, key: &Key, page: &mut Page<LedgerEntry>) {
        let entries = &mut page.entries;
        match (self.mistake, entries.first().cloned()) {
            (Some(Mistake::KeyedByTime), _) => entries.iter_mut().for_each(cut_the_time),
            (Some(Mistake::LogByName), _) => entries.sort_by_key(|entry| format!("{entry:?}")),
            (Some(Mistake::LogSkipsOne), _) if page.next.is_some() => drop(entries.pop()),
            (Some(Mistake::ASumEachTime), Some(LedgerEntry::Sum { delta, changes: 2.., until_millis })) => {
                entries[0] = LedgerEntry::Sum { delta, changes: 1, until_millis };
                entries.insert(1, LedgerEntry::Sum { delta: 0, changes: 1, until_millis });
            }
            (Some(Mistake::LogShowsFences), _) if page.next.is_none() => {
                let fences = lock(&self.state.fences).get(key).cloned().unwrap_or_default();
                let at_millis = i64::try_from(self.clock.now().as_millis()).unwrap_or(i64::MAX);
                let shown = |op| LedgerEntry::Change { op, delta: 0, at_millis, reason: None };
                entries.extend(fences.into_iter().map(shown));
            }
            (Some(Mistake::LogShowsNoReasons), _) => entries.iter_mut().for_each(cut_the_reason),
            _ => {}
        }
    }
}

fn cut_the_reason(entry: &mut LedgerEntry) {
    if let LedgerEntry::Change { reason, .. } = entry {
        *reason = None;
    }
}

fn delta_of(entry: &LedgerEntry) -> Option<i64> {
    match entry {
        LedgerEntry::Change { delta, .. } => Some(*delta),
        LedgerEntry::Sum { .. } => None,
    }
}

fn cut_the_time(entry: &mut LedgerEntry) {
    if let LedgerEntry::Change { op, .. } = entry
        && let Some((asked, _)) = op.as_str().split_once(BEHIND_THE_TIME)
        && let Ok(asked) = OpId::new(asked)
    {
        *op = asked;
    }
}

#[async_trait]
impl Counter for BrokenLedger {
    async fn attempt_apply(&self, attempt: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        if self.is(Mistake::TestsBoundsOnARead) {
            return self.test_then_add(key, change).await;
        }
        let op = self.op_below(&change.op)?;
        let counted = self.inner.attempt_apply(attempt, key, &Change { op, ..change.clone() }).await?;
        Ok(match (self.mistake, counted) {
            (Some(Mistake::ReasonIsOfTheOperation), Counted::AlreadyApplied { .. }) if change.reason.is_some() => {
                Counted::Mismatch
            }
            (_, counted) => counted,
        })
    }

    async fn cancel(&self, key: &Key, op: &OpId) -> Result<Cancelled> {
        let cancelled = self.inner.cancel(key, &self.op_below(op)?).await?;
        if cancelled == Cancelled::Cancelled {
            lock(&self.state.fences).entry(key.clone()).or_default().push(op.clone());
        }
        Ok(cancelled)
    }

    async fn value(&self, key: &Key) -> Result<i64> {
        Ok(self.inner.value(key).await? - self.missing(key))
    }

    fn promise(&self) -> CounterPromise {
        self.inner.promise()
    }
}

#[async_trait]
impl Ledger for BrokenLedger {
    async fn log(&self, key: &Key, cursor: Option<&Cursor>, limit: usize) -> Result<Page<LedgerEntry>> {
        let mut page = self.inner.log(key, cursor, limit).await?;
        self.spoil(key, &mut page);
        Ok(page)
    }

    async fn compact(&self, key: &Key, older_than: Duration, limit: usize) -> Result<Maintained> {
        match self.mistake {
            Some(Mistake::LosesTheLastMerged) => self.merge_wrongly(key, older_than, limit, -1).await,
            Some(Mistake::KeepsTheLastMerged) => self.merge_wrongly(key, older_than, limit, 1).await,
            Some(Mistake::MergesInTwoSteps) => self.merge_in_two_steps(key, older_than, limit).await,
            Some(Mistake::MergesTheYoung) => self.inner.compact(key, Duration::ZERO, limit).await,
            Some(Mistake::MergesWithoutBound) => self.inner.compact(key, older_than, usize::MAX).await,
            _ => self.inner.compact(key, older_than, limit).await,
        }
    }

    async fn value_within(&self, key: &Key, max_age: Duration) -> Result<i64> {
        if !self.is(Mistake::CachesForEver) {
            return self.inner.value_within(key, max_age).await;
        }
        let value = self.inner.value(key).await?;
        Ok(*lock(&self.state.cached).entry(key.clone()).or_insert(value))
    }
}

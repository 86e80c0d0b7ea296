//! Broken counters.

mod shards;
mod steps;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use storagebox_core::{
    Attempt, Bounds, Cancelled, Change, Counted, Counter, CounterPromise, Key, MAX_DURATION, MIN_DURATION, OpId,
    Remember, Result, Retention, Strategy, async_trait,
};

use crate::steps::{OwnIds, lock};
use crate::void::{VoidMistake, VoidState};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CounterMistake {
    NoIdempotency,
    ReadsModifiesWrites,
    ThresholdRace,
    RemembersTwo,
    Wraps,
    Saturates,
    MismatchAccepted,
    Floats,
    OpsSpanKeys,
    RejectionRemembered,
    IdBeforeTheAdd,
    OpsOfOneClient,
    RepeatTellsThePresent,
    ShardsBoundedAlone,
    SharesAreDoubles,
    SumMissesAShard,
    WindowDropsTheOldest,
    WindowForgetsEarly,
    MarkerForgetsEarly,
    TagNamesNobody,
    HistoryForgetsEarly,
    TokenIsNotSent,
    SetDropsTheOldest,
    CancelDoesNotFence,
    RefusalVoidsNothing,
    VoidHasNoNumber,
    VoidNeverEnds,
    CachesValues,
    FloorIsExclusive,
    DropsReasons,
    ForgetsASecondEarly,
    CountsPlacesOfOthers,
    ForeverIsFiftyYears,
}

use CounterMistake as Mistake;

#[derive(Default)]
pub(crate) struct CounterState {
    own: OwnIds,
    /// The last operations of each key: the caller's operation id, and the operation id in the inner counter.
    recent: Mutex<HashMap<Key, VecDeque<(OpId, OpId)>>>,
    op_keys: Mutex<HashMap<OpId, Key>>,
    rejected: Mutex<HashSet<(Key, OpId)>>,
    recorded: Mutex<HashSet<(Key, OpId)>>,
    applied: Mutex<HashSet<(Key, OpId)>>,
    shards: Mutex<HashMap<(Key, u64), i64>>,
    cached: Mutex<HashMap<Key, i64>>,
    places: Mutex<HashMap<Key, usize>>,
    /// The keys that answer `Full` to every new operation.
    stuck: Mutex<HashSet<Key>>,
    void: VoidState,
}

pub(crate) struct BrokenCounter {
    pub(crate) inner: Arc<dyn Counter>,
    pub(crate) mistake: Option<Mistake>,
    pub(crate) state: Arc<CounterState>,
    /// The strategy that the caller asked for.
    pub(crate) strategy: Strategy,
    pub(crate) client: u64,
}

/// Returns the strategy with which the inner store opens the namespace.
pub(crate) fn strategy_below(mistake: Option<Mistake>, strategy: Strategy) -> Strategy {
    match (mistake, strategy) {
        (Some(Mistake::WindowForgetsEarly), Strategy::Window { lifetime, capacity }) => {
            Strategy::Window { lifetime: lifetime / 2, capacity }
        }
        (Some(Mistake::MarkerForgetsEarly), Strategy::Marker { retention }) => Strategy::Marker {
            retention: match retention {
                Retention::For(duration) => Retention::For(duration / 2),
                forever @ Retention::Forever => forever,
            },
        },
        (Some(Mistake::WindowDropsTheOldest), Strategy::Window { lifetime, .. }) => {
            Strategy::Window { lifetime, capacity: 100_000 }
        }
        (Some(Mistake::ForgetsASecondEarly), Strategy::Marker { retention: Retention::For(duration) }) => {
            Strategy::Marker { retention: Retention::For(less_a_second(duration)) }
        }
        (Some(Mistake::ForeverIsFiftyYears), Strategy::Marker { retention: Retention::Forever }) => {
            Strategy::Marker { retention: Retention::For(MAX_DURATION / 2) }
        }
        (Some(Mistake::HistoryForgetsEarly), Strategy::OptimisticHistory { len }) => {
            Strategy::OptimisticHistory { len: len.div_ceil(2) }
        }
        (Some(Mistake::SetDropsTheOldest), Strategy::TokenSet { .. }) => Strategy::TokenSet { max: 10_000 },
        (Some(Mistake::ShardsBoundedAlone), Strategy::Sharded { shards, retention, .. }) => {
            Strategy::Sharded { shards, retention, bounds: Bounds::NONE }
        }
        (Some(Mistake::SharesAreDoubles), Strategy::Sharded { shards, retention, bounds }) => {
            Strategy::Sharded { shards, retention, bounds: rounded(bounds) }
        }
        (_, strategy) => strategy,
    }
}

fn less_a_second(duration: Duration) -> Duration {
    duration.checked_sub(Duration::from_secs(1)).filter(|less| *less >= MIN_DURATION).unwrap_or(duration)
}

fn rounded(bounds: Bounds) -> Bounds {
    match (bounds.floor().map(as_float), bounds.ceiling().map(as_float)) {
        (Some(floor), Some(ceiling)) => Bounds::between(floor, ceiling).unwrap_or(bounds),
        _ => bounds,
    }
}

impl BrokenCounter {
    fn own_op(&self) -> Result<OpId> {
        OpId::new(self.state.own.fresh())
    }

    fn op_below(&self, op: &OpId) -> Result<OpId> {
        match self.mistake {
            Some(Mistake::OpsOfOneClient) => OpId::new(format!("{}/{op}", self.client)),
            _ => Ok(op.clone()),
        }
    }

    /// Sets the counter to `target` with up to three changes.
    async fn set(&self, key: &Key, target: i64) -> Result<()> {
        for _ in 0..3 {
            let delta = target.saturating_sub(self.inner.value(key).await?);
            if delta == 0 {
                break;
            }
            // A counter whose window is full refuses the change.
            let _ = self.inner.apply(key, &Change::new(self.own_op()?, delta)).await?;
        }
        Ok(())
    }

    async fn apply_below(&self, attempt: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        match (self.mistake, self.strategy) {
            (Some(Mistake::NoIdempotency), _)
            | (Some(Mistake::TagNamesNobody), Strategy::Optimistic)
            | (Some(Mistake::TokenIsNotSent), Strategy::TransactionToken) => {
                let op = self.own_op()?;
                self.inner.apply(key, &Change { op, ..change.clone() }).await
            }
            (Some(Mistake::ReadsModifiesWrites), _) => self.read_modify_write(key, change).await,
            (Some(Mistake::ThresholdRace), _) => self.test_then_add(key, change).await,
            (Some(Mistake::RemembersTwo), _) => self.apply_remembering(2, key, change).await,
            (Some(Mistake::WindowDropsTheOldest), Strategy::Window { capacity, .. }) => {
                self.apply_remembering(capacity as usize, key, change).await
            }
            (Some(Mistake::CountsPlacesOfOthers), Strategy::Window { capacity, .. }) => {
                self.apply_counting_places(capacity as usize, key, change).await
            }
            (Some(Mistake::SetDropsTheOldest), Strategy::TokenSet { max }) => {
                self.apply_remembering(max as usize, key, change).await
            }
            (Some(Mistake::OpsSpanKeys), _) => self.apply_for_all_keys(key, change).await,
            (Some(Mistake::RejectionRemembered), _) => self.apply_unless_rejected(key, change).await,
            (Some(Mistake::IdBeforeTheAdd), _) => self.record_then_add(key, change).await,
            (Some(Mistake::ShardsBoundedAlone), _) => self.apply_to_a_shard(key, change).await,
            (Some(Mistake::SumMissesAShard), Strategy::Sharded { .. }) => self.apply_and_count_shard(key, change).await,
            (Some(Mistake::CancelDoesNotFence), _) => self.apply_and_note(key, change).await,
            (Some(Mistake::CachesValues), _) => {
                lock(&self.state.cached).remove(key);
                self.inner.attempt_apply(attempt, key, change).await
            }
            (Some(Mistake::DropsReasons), _) => {
                self.inner.attempt_apply(attempt, key, &Change { reason: None, ..change.clone() }).await
            }
            _ => {
                self.inner
                    .attempt_apply(
                        self.state.void.spoilt(self.mistake.and_then(VoidMistake::of_counter), attempt)?,
                        key,
                        change,
                    )
                    .await
            }
        }
    }

    async fn spoil(&self, key: &Key, change: &Change, counted: Counted) -> Result<Counted> {
        let present = self.inner.value(key).await?;
        match (self.mistake, counted) {
            (Some(Mistake::Wraps), Counted::Overflow) => {
                self.apply_the_overflow(key, change, present.wrapping_add(change.delta)).await
            }
            (Some(Mistake::Saturates), Counted::Overflow) => {
                self.apply_the_overflow(key, change, present.saturating_add(change.delta)).await
            }
            (Some(Mistake::MismatchAccepted), Counted::Mismatch) => self.told_before(key, change).await,
            (Some(Mistake::RepeatTellsThePresent), Counted::AlreadyApplied { value: Some(_) }) => {
                Ok(Counted::AlreadyApplied { value: Some(present) })
            }
            (Some(Mistake::Floats), Counted::Applied { value }) => Ok(Counted::Applied { value: value.map(as_float) }),
            (Some(Mistake::FloorIsExclusive), Counted::Applied { value: Some(value) })
                if change.bounds.floor() == Some(value) =>
            {
                let _ = self.inner.apply(key, &Change::new(self.own_op()?, -change.delta)).await?;
                Ok(Counted::OutOfBounds)
            }
            (_, counted) => Ok(counted),
        }
    }

    /// Returns the answer for an operation that was applied before.
    async fn told_before(&self, key: &Key, change: &Change) -> Result<Counted> {
        Ok(match self.inner.cancel(key, &change.op).await? {
            Cancelled::AlreadyApplied { value } => Counted::AlreadyApplied { value },
            Cancelled::Cancelled | Cancelled::Full => Counted::Mismatch,
        })
    }
}

/// Rounds large numbers, as a conversion to a double and back does.
fn as_float(value: i64) -> i64 {
    (value as f64) as i64
}

#[async_trait]
impl Counter for BrokenCounter {
    async fn attempt_apply(&self, attempt: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        let change = &Change { op: self.op_below(&change.op)?, ..change.clone() };
        let counted = self.apply_below(attempt, key, change).await?;
        self.spoil(key, change, counted).await
    }

    async fn cancel(&self, key: &Key, op: &OpId) -> Result<Cancelled> {
        let op = &self.op_below(op)?;
        let applied = lock(&self.state.applied).contains(&(key.clone(), op.clone()));
        if self.mistake == Some(Mistake::CancelDoesNotFence) && !applied {
            // There is nothing to undo, so the mutant writes nothing.
            return Ok(Cancelled::Cancelled);
        }
        self.inner.cancel(key, op).await
    }

    async fn value(&self, key: &Key) -> Result<i64> {
        let cached = lock(&self.state.cached).get(key).copied();
        if let Some(cached) = cached {
            return Ok(cached);
        }
        let value = self.inner.value(key).await?;
        Ok(match self.mistake {
            Some(Mistake::CachesValues) => *lock(&self.state.cached).entry(key.clone()).or_insert(value),
            Some(Mistake::Floats) => as_float(value),
            Some(Mistake::SumMissesAShard) => {
                let first = lock(&self.state.shards).get(&(key.clone(), 0)).copied();
                value - first.unwrap_or(0)
            }
            _ => value,
        })
    }

    /// Returns the promise of the strategy that the caller asked for, even if the inner store uses another strategy.
    fn promise(&self) -> CounterPromise {
        let promise = self.inner.promise();
        match self.strategy {
            Strategy::Marker { retention } | Strategy::Sharded { retention, .. } => {
                CounterPromise { remember: retention.into(), ..promise }
            }
            Strategy::Window { lifetime, capacity } => {
                CounterPromise { remember: Remember::For(lifetime), capacity: Some(capacity), ..promise }
            }
            Strategy::OptimisticHistory { len } => CounterPromise { remember: Remember::Writers(len), ..promise },
            Strategy::TokenSet { max } => CounterPromise { capacity: Some(max), ..promise },
            _ => promise,
        }
    }
}

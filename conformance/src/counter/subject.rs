//! A counter under test: one key of one namespace, opened with one strategy.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Attempt, Backend, Bounds, Cancelled, Change, Counted, Counter, CounterPromise, Error, ErrorKind, Key, OpId, Result,
    Retention, Retry, Strategy,
};

use crate::errors::Counting;
use crate::failure::Failure;
use crate::kind::Kind;
use crate::link::Link;
use crate::race::repeated;
use crate::world::World;

/// How long operations are remembered by default.
pub(super) const HOUR: Duration = Duration::from_secs(3_600);

/// The default number of operations that a `Window` or a `TokenSet` holds.
pub(super) const CAPACITY: u32 = 1_000;

pub(super) const SHARDS: u16 = 5;

/// The default number of writers that an `OptimisticHistory` remembers: more than any case has on one key.
pub(super) const HISTORY: u16 = 200;

impl Kind {
    /// Returns the strategy of this kind, with `memory` as its retention.
    pub(super) fn strategy(self, bounds: Bounds, memory: Duration) -> Strategy {
        let retention = Retention::For(memory);
        match self {
            Self::Atomic => Strategy::Atomic,
            Self::Marker => Strategy::Marker { retention },
            Self::Window => Strategy::Window { lifetime: memory, capacity: CAPACITY },
            Self::Sharded => Strategy::Sharded { shards: SHARDS, bounds, retention },
            Self::Optimistic => Strategy::Optimistic,
            Self::History => Strategy::OptimisticHistory { len: HISTORY },
            Self::Token => Strategy::TransactionToken,
            Self::Ledger => Strategy::Ledger,
            Self::Set => Strategy::TokenSet { max: CAPACITY },
        }
    }

    /// Returns the bounds, or no bounds for a strategy that cannot test any.
    pub(super) fn bounds(self, bounds: Bounds) -> Bounds {
        if self == Self::Ledger { Bounds::NONE } else { bounds }
    }

    /// Returns whether the strategy may forget a change at once or after other changes.
    pub(super) fn forgets(self) -> bool {
        matches!(self, Self::Atomic | Self::Optimistic | Self::History)
    }

    pub(super) fn fences(self) -> bool {
        !matches!(self, Self::Atomic | Self::Optimistic | Self::History | Self::Token)
    }
}

/// One key of a counter, and the bounds of its changes or of its namespace.
#[derive(Clone)]
pub(super) struct Subject {
    pub(super) counter: Arc<dyn Counter>,
    pub(super) key: Key,
    bounds: Bounds,
    /// Whether the strategy answers a repetition with `AlreadyApplied` instead of `Applied`.
    tells_repeats: bool,
}

impl Subject {
    pub(super) fn new(world: &World, kind: Kind) -> Result<Self> {
        Self::within(world, kind, Bounds::NONE)
    }

    pub(super) fn within(world: &World, kind: Kind, bounds: Bounds) -> Result<Self> {
        Self::open(world.store(), kind.strategy(bounds, HOUR), bounds)
    }

    /// Opens the namespace `counters` with this strategy.
    pub(super) fn open(store: &Arc<dyn Backend>, strategy: Strategy, bounds: Bounds) -> Result<Self> {
        Self::named(store, "counters", strategy, bounds)
    }

    pub(super) fn named(store: &Arc<dyn Backend>, name: &str, strategy: Strategy, bounds: Bounds) -> Result<Self> {
        let tells_repeats = strategy != Strategy::TransactionToken;
        Ok(Self { bounds, tells_repeats, ..Self::of(store.counter(&name.parse()?, strategy)?)? })
    }

    /// Returns a subject without bounds for an open counter.
    pub(super) fn of(counter: Arc<dyn Counter>) -> Result<Self> {
        Ok(Self { counter, key: Key::new("key")?, bounds: Bounds::NONE, tells_repeats: true })
    }

    pub(super) fn at(&self, key: impl Into<Arc<str>>) -> Result<Self> {
        Ok(Self { key: Key::new(key)?, ..self.clone() })
    }

    /// Returns the counter with other bounds for each change.
    pub(super) fn bounded(&self, bounds: Bounds) -> Self {
        Self { bounds, ..self.clone() }
    }

    pub(super) fn behind(&self, link: &Arc<Link>) -> Self {
        Self { counter: link.before(&self.counter), ..self.clone() }
    }

    pub(super) fn promise(&self) -> CounterPromise {
        self.counter.promise()
    }

    /// Returns the value that an answer contains, or `None` if the counter does not promise values in its answers.
    fn told(&self, value: i64) -> Option<i64> {
        self.promise().answers_value.then_some(value)
    }

    pub(super) fn applied(&self, value: i64) -> Counted {
        Counted::Applied { value: self.told(value) }
    }

    /// Returns the expected answer to a repetition whose first answer contained this value.
    pub(super) fn already(&self, value: i64) -> Counted {
        self.as_told(Counted::AlreadyApplied { value: self.told(value) })
    }

    pub(super) fn tells_repeats(&self) -> bool {
        self.tells_repeats
    }

    /// Replaces `AlreadyApplied` by `Applied` if the strategy does not report repetitions.
    fn as_told(&self, counted: Counted) -> Counted {
        match counted {
            Counted::AlreadyApplied { value } if !self.tells_repeats => Counted::Applied { value },
            counted => counted,
        }
    }

    pub(super) fn cancelled_too_late(&self, value: i64) -> Cancelled {
        Cancelled::AlreadyApplied { value: self.told(value) }
    }

    /// Returns the change, with bounds if the counter supports bounds per change.
    pub(super) fn change(&self, op: &str, delta: i64) -> Result<Change> {
        let change = Change::new(OpId::new(op)?, delta);
        Ok(if self.promise().bounds_per_change { change.within(self.bounds) } else { change })
    }

    pub(super) async fn attempt(&self, op: &str, delta: i64) -> Result<Counted> {
        self.attempt_as(Attempt::first(), op, delta).await
    }

    pub(super) async fn attempt_as(&self, attempt: Attempt, op: &str, delta: i64) -> Result<Counted> {
        let counted = self.counter.attempt_apply(attempt, &self.key, &self.change(op, delta)?).await?;
        Ok(self.as_told(counted))
    }

    /// Makes a change with the default retry policy.
    pub(super) async fn retried(&self, op: &str, delta: i64) -> Result<Counted> {
        Retry::default().call(&Counting::default(), |attempt| self.attempt_as(attempt, op, delta)).await
    }

    pub(super) async fn attempt_cancel(&self, op: &str) -> Result<Cancelled> {
        self.counter.cancel(&self.key, &OpId::new(op)?).await
    }

    pub(super) async fn apply(&self, op: &str, delta: i64) -> Result<Counted, Failure> {
        repeated(|| self.attempt(op, delta), is_refusal).await
    }

    pub(super) async fn cancel(&self, op: &str) -> Result<Cancelled, Failure> {
        repeated(|| self.attempt_cancel(op), is_refusal).await
    }

    pub(super) async fn value(&self) -> Result<i64, Failure> {
        repeated(|| self.counter.value(&self.key), is_refusal).await
    }

    /// Repeats the change until the counter answers. A repetition counts once only if the counter remembers operations,
    /// or at least as many last writers as the case has.
    pub(super) async fn apply_until_answered(&self, op: &str, delta: i64) -> Result<Counted, Failure> {
        repeated(|| self.attempt(op, delta), |error| error.is_retryable() || is_doubt(error)).await
    }

    pub(super) async fn cancel_until_answered(&self, op: &str) -> Result<Cancelled, Failure> {
        repeated(|| self.attempt_cancel(op), Error::is_retryable).await
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").field("key", &self.key).field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

fn is_doubt(error: &Error) -> bool {
    error.kind() == ErrorKind::OutcomeUnknown
}

/// Returns whether the call changed nothing and may be repeated.
fn is_refusal(error: &Error) -> bool {
    error.is_retryable() && error.certainty() == storagebox_core::Certainty::NotApplied
}

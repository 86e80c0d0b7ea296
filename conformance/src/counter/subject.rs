//! A counter under test: one key of one namespace, opened with one strategy.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, Bounds, Cancelled, Change, Counted, Counter, CounterPromise, Error, ErrorKind, Key, OpId, Result,
    Retention, Strategy,
};

use crate::failure::Failure;
use crate::kind::Kind;
use crate::link::Link;
use crate::race::repeated;
use crate::world::World;

/// How long operations are remembered where a case does not say otherwise.
pub(super) const HOUR: Duration = Duration::from_secs(3_600);

/// How many operations a window or a set holds where a case does not say otherwise.
pub(super) const CAPACITY: u32 = 1_000;

/// Over how many shards a counter is split where a case does not say otherwise.
pub(super) const SHARDS: u16 = 5;

/// How many writers a history remembers: more than any case has on one key, where it does not say otherwise.
pub(super) const HISTORY: u16 = 200;

impl Kind {
    /// The strategy, which remembers operations for this long; only shards have bounds of their own.
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

    /// The bounds, where it can test any.
    pub(super) fn bounds(self, bounds: Bounds) -> Bounds {
        if self == Self::Ledger { Bounds::NONE } else { bounds }
    }

    /// Whether a change may not be known again, because others came between or at all.
    pub(super) fn forgets(self) -> bool {
        matches!(self, Self::Atomic | Self::Optimistic | Self::History)
    }

    /// Whether it fences operations.
    pub(super) fn fences(self) -> bool {
        !matches!(self, Self::Atomic | Self::Optimistic | Self::History | Self::Token)
    }
}

/// One key of a counter, and the bounds that each of its changes has, or its namespace.
#[derive(Clone)]
pub(super) struct Subject {
    pub(super) counter: Arc<dyn Counter>,
    pub(super) key: Key,
    bounds: Bounds,
    /// A store's own request token answers a repeat as it answered the first time.
    tells_repeats: bool,
}

impl Subject {
    /// A counter without bounds.
    pub(super) fn new(world: &World, kind: Kind) -> Result<Self> {
        Self::within(world, kind, Bounds::NONE)
    }

    /// A counter whose results must stay within the bounds.
    pub(super) fn within(world: &World, kind: Kind, bounds: Bounds) -> Result<Self> {
        Self::open(world.store(), kind.strategy(bounds, HOUR), bounds)
    }

    /// A counter that may be opened more than once.
    pub(super) fn open(store: &Arc<dyn Backend>, strategy: Strategy, bounds: Bounds) -> Result<Self> {
        Self::named(store, "counters", strategy, bounds)
    }

    /// A counter of one namespace among several.
    pub(super) fn named(store: &Arc<dyn Backend>, name: &str, strategy: Strategy, bounds: Bounds) -> Result<Self> {
        let tells_repeats = strategy != Strategy::TransactionToken;
        Ok(Self { bounds, tells_repeats, ..Self::of(store.counter(&name.parse()?, strategy)?)? })
    }

    /// A counter that is open already, without bounds.
    pub(super) fn of(counter: Arc<dyn Counter>) -> Result<Self> {
        Ok(Self { counter, key: Key::new("key")?, bounds: Bounds::NONE, tells_repeats: true })
    }

    /// Another key of the same namespace.
    pub(super) fn at(&self, key: impl Into<Arc<str>>) -> Result<Self> {
        Ok(Self { key: Key::new(key)?, ..self.clone() })
    }

    /// The same key, with other bounds on each change.
    pub(super) fn bounded(&self, bounds: Bounds) -> Self {
        Self { bounds, ..self.clone() }
    }

    /// The same key, behind a link.
    pub(super) fn behind(&self, link: &Arc<Link>) -> Self {
        Self { counter: link.before(&self.counter), ..self.clone() }
    }

    pub(super) fn promise(&self) -> CounterPromise {
        self.counter.promise()
    }

    /// What is answered for this value, where the counter promises to answer it.
    fn told(&self, value: i64) -> Option<i64> {
        self.promise().answers_value.then_some(value)
    }

    pub(super) fn applied(&self, value: i64) -> Counted {
        Counted::Applied { value: self.told(value) }
    }

    /// What a repeat is answered, with the value of the first time.
    pub(super) fn already(&self, value: i64) -> Counted {
        self.as_told(Counted::AlreadyApplied { value: self.told(value) })
    }

    /// Whether a repeat is told apart from the first time.
    pub(super) fn tells_repeats(&self) -> bool {
        self.tells_repeats
    }

    /// The answer, without what the strategy need not tell.
    fn as_told(&self, counted: Counted) -> Counted {
        match counted {
            Counted::AlreadyApplied { value } if !self.tells_repeats => Counted::Applied { value },
            counted => counted,
        }
    }

    pub(super) fn cancelled_too_late(&self, value: i64) -> Cancelled {
        Cancelled::AlreadyApplied { value: self.told(value) }
    }

    /// The change, with its bounds where a change may have them.
    pub(super) fn change(&self, op: &str, delta: i64) -> Result<Change> {
        let change = Change::new(OpId::new(op)?, delta);
        Ok(if self.promise().bounds_per_change { change.within(self.bounds) } else { change })
    }

    /// One attempt, with whatever became of it.
    pub(super) async fn attempt(&self, op: &str, delta: i64) -> Result<Counted> {
        let counted = self.counter.apply(&self.key, &self.change(op, delta)?).await?;
        Ok(self.as_told(counted))
    }

    /// One attempt to fence the operation, with whatever became of it.
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

    /// Applies until there is an answer, which only a counter allows that remembers operations, or the last writers if
    /// the case has no more of them.
    pub(super) async fn apply_until_answered(&self, op: &str, delta: i64) -> Result<Counted, Failure> {
        repeated(|| self.attempt(op, delta), |error| error.is_retryable() || is_doubt(error)).await
    }

    /// Cancels until there is an answer.
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

/// Whether nothing was done and the same call may be made again.
fn is_refusal(error: &Error) -> bool {
    error.is_retryable() && error.certainty() == storagebox_core::Certainty::NotApplied
}

//! Counters that apply each change once (articles 3 and 5).

use async_trait::async_trait;

use crate::contract::strategy::CounterPromise;
use crate::values::attempt::Attempt;
use crate::values::error::{Error, Result};
use crate::values::value::{Key, OpId, Reason};

/// A namespace of `i64` counters; a counter that does not exist is 0.
///
/// # Guarantees
///
/// - C-1 each operation is applied once under retries, crashes and lost replies, within the limits that
///   [`promise`](Counter::promise) states.
/// - C-2 the value never leaves the bounds, not even for a moment, because the same step checks the result.
/// - C-6 the next read sees every acknowledged change.
/// - C-7 the value is the sum of the applied deltas, over all shards.
///
/// # Cancel safety
///
/// Every method is one atomic step, never half of one. A call whose future was dropped is done, is not done, or is
/// still in progress and done later. Repeat the call with the same operation to find out, as after `OutcomeUnknown`;
/// with [`Strategy::Atomic`](crate::Strategy::Atomic) the repeat may apply the operation twice.
///
/// # Errors
///
/// `Contention`, `Throttled` and `Unavailable` mean that nothing changed. After `OutcomeUnknown`, make the same call
/// again, unless the strategy would not recognise it: then the error is not [retryable](crate::Error::is_retryable),
/// and nothing retries it. `Misconfigured` if the namespace was created with another strategy; the error names both.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use storagebox_core::{Backend, Bounds, Change, Counted, Counter, Key, OpId, Strategy};
/// use storagebox_memory::MemoryStore;
///
/// let stock = MemoryStore::new().counter(&"stock".parse()?, Strategy::default())?;
/// let key = Key::new("red-shoes")?;
/// let fill = Change::new(OpId::new("delivery-1")?, 1);
/// let sell = |order: &str| -> storagebox_core::Result<Change> {
///     Ok(Change::new(OpId::new(order)?, -1).within(Bounds::at_least(0)))
/// };
///
/// assert_eq!(stock.apply(&key, &fill).await?, Counted::Applied { value: Some(1) });
/// assert_eq!(stock.apply(&key, &sell("order-1")?).await?, Counted::Applied { value: Some(0) });
/// assert_eq!(stock.apply(&key, &sell("order-1")?).await?, Counted::AlreadyApplied { value: Some(0) });
/// assert_eq!(stock.apply(&key, &sell("order-2")?).await?, Counted::OutOfBounds);
/// # Ok(()) }
/// ```
#[async_trait]
pub trait Counter: Send + Sync {
    /// Adds the delta to the counter if the result is within the bounds.
    ///
    /// # Guarantees
    ///
    /// - C-1, C-2 above.
    /// - C-3 `AlreadyApplied` has the value that was stored with the operation, never a later value.
    /// - C-4 an overflow changes nothing and returns `Overflow`.
    /// - C-5 the same operation with another delta returns `Mismatch`, if [`promise`](Counter::promise) says so.
    /// - C-8 a rejection is not remembered: the same operation may succeed later, by another call.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the strategy fixes the bounds for the namespace and the change names others; `Unsupported` for
    /// bounds if the strategy cannot check bounds, such as [`Strategy::Ledger`](crate::Strategy::Ledger); `Unsupported`
    /// for a reason if the strategy keeps no log, such as every strategy but the ledger.
    ///
    /// # Backend notes
    ///
    /// `value` is `None` if the strategy cannot know it in its one step; `promise()` says so.
    async fn apply(&self, key: &Key, change: &Change) -> Result<Counted> {
        self.attempt_apply(Attempt::first(), key, change).await
    }

    /// Makes one attempt of [`apply`](Self::apply).
    ///
    /// # Guarantees
    ///
    /// - ER-5: if a repeated attempt returns `OutOfBounds`, `Overflow` or `Full`, the earlier attempts of the call
    ///   become void for as long as the operation would be remembered. They are not applied later.
    ///
    /// # Cancel safety
    ///
    /// As for `apply`: make [one more attempt](Attempt::again) of the call.
    ///
    /// # Errors
    ///
    /// Those of `apply`. `OutcomeUnknown` if [too many](Attempt::MAX_VOID) calls of the operation are void already, or
    /// if the strategy has no durable place for void calls. Such a strategy does not support [`cancel`](Self::cancel).
    async fn attempt_apply(&self, attempt: Attempt, key: &Key, change: &Change) -> Result<Counted>;

    /// Fences the operation, so that an attempt that is still in progress changes nothing when it arrives.
    ///
    /// # Guarantees
    ///
    /// - C-8: afterwards the operation either is applied, and the outcome says so, or never will be.
    ///
    /// # Errors
    ///
    /// `Unsupported` for strategies that remember no operation, remember only the last writers, or rely on the store's
    /// request tokens: they have no durable place for a fence. `Unsupported` also for a ledger in several regions.
    async fn cancel(&self, key: &Key, op: &OpId) -> Result<Cancelled>;

    /// Returns the counter's value.
    ///
    /// # Guarantees
    ///
    /// - C-6, C-7: a strong read. The value of a sharded counter is a sum of strong reads, and is a snapshot only if
    ///   `promise()` says so.
    async fn value(&self, key: &Key) -> Result<i64>;

    /// Returns what the chosen strategy guarantees on this backend.
    fn promise(&self) -> CounterPromise;
}

/// A change of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The id of the operation, created before the first attempt and the same for every retry.
    pub op: OpId,
    /// The amount to add; a change of 0 is recorded too.
    pub delta: i64,
    /// The bounds for the result.
    pub bounds: Bounds,
    /// The reason, for the log of a [`Ledger`](crate::Ledger). It is not part of the operation: a retry with another
    /// reason is the same operation, and the first reason stays.
    pub reason: Option<Reason>,
}

impl Change {
    /// Creates a change without bounds and without a reason.
    pub fn new(op: OpId, delta: i64) -> Self {
        Self { op, delta, bounds: Bounds::NONE, reason: None }
    }

    /// Sets the reason, which the log shows.
    #[must_use]
    pub fn because(mut self, reason: Reason) -> Self {
        self.reason = Some(reason);
        self
    }

    /// Sets the bounds for the result.
    #[must_use]
    pub fn within(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }
}

/// The least and the greatest value that a result may have, both inclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bounds {
    floor: Option<i64>,
    ceiling: Option<i64>,
}

impl Bounds {
    /// No bound except the range of `i64`.
    pub const NONE: Self = Self { floor: None, ceiling: None };

    /// Creates bounds from `floor` up.
    pub fn at_least(floor: i64) -> Self {
        Self { floor: Some(floor), ceiling: None }
    }

    /// Creates bounds up to `ceiling`.
    pub fn at_most(ceiling: i64) -> Self {
        Self { floor: None, ceiling: Some(ceiling) }
    }

    /// Creates bounds from `floor` to `ceiling`.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the floor is above the ceiling.
    pub fn between(floor: i64, ceiling: i64) -> Result<Self> {
        if floor > ceiling {
            return Err(Error::invalid("bounds", format_args!("have floor {floor} above ceiling {ceiling}")));
        }
        Ok(Self { floor: Some(floor), ceiling: Some(ceiling) })
    }

    /// Returns the least value, if there is one.
    pub fn floor(&self) -> Option<i64> {
        self.floor
    }

    /// Returns the greatest value, if there is one.
    pub fn ceiling(&self) -> Option<i64> {
        self.ceiling
    }

    /// Returns whether the value is within the bounds.
    pub fn contains(&self, value: i64) -> bool {
        self.floor.is_none_or(|floor| floor <= value) && self.ceiling.is_none_or(|ceiling| value <= ceiling)
    }
}

/// The outcome of `apply` on a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the change may have been refused"]
pub enum Counted {
    /// This call applied the change.
    Applied {
        /// The value just after the change, if the strategy knows it.
        value: Option<i64>,
    },
    /// The operation was applied before.
    AlreadyApplied {
        /// The value just after the operation was applied, if the strategy knows it.
        value: Option<i64>,
    },
    /// The result would be out of bounds; nothing changed.
    OutOfBounds,
    /// The result would leave the range of `i64`; nothing changed.
    Overflow,
    /// The operation was applied with another delta; nothing changed.
    Mismatch,
    /// No more operations can be remembered for now; nothing changed.
    Full,
    /// The operation was cancelled and can no longer change anything.
    Fenced,
}

/// The outcome of `cancel` on a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the operation may have been applied before"]
pub enum Cancelled {
    /// The operation was not applied and never will be.
    Cancelled,
    /// The operation was applied before.
    AlreadyApplied {
        /// The value just after the operation was applied, if the strategy knows it.
        value: Option<i64>,
    },
    /// No more operations can be remembered for now; nothing changed.
    Full,
}

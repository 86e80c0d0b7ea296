//! Counters whose changes are applied once each (articles 3 and 5).

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::strategy::CounterPromise;
use crate::value::{Key, OpId, Reason};

/// A box of `i64` counters; an absent one is 0.
///
/// # Guarantees
///
/// - C-1 each operation is applied once, within what [`promise`](Counter::promise) says, under retries, crashes
///   and lost replies.
/// - C-2 a bound is never crossed, not even for a moment, because it is tested on the result in the same step.
/// - C-6 what was acknowledged is seen by the next read.
/// - C-7 the value is the sum of the applied deltas, over all shards.
///
/// # Cancel safety
///
/// Every method is one atomic step, so a dropped future leaves it wholly done or wholly not done. Call again with
/// the same operation; with [`Strategy::Atomic`](crate::Strategy::Atomic) that may apply it twice.
///
/// # Errors
///
/// `Contention`, `Throttled` and `Unavailable` changed nothing; `OutcomeUnknown` asks for the same call again, unless the
/// strategy would not know it: then the error is not [retryable](crate::Error::is_retryable), and nothing repeats it.
/// `Misconfigured` if the box was created with another strategy; it names both.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use storagebox_core::{BackendExt, Bounds, Change, Counted, Counter, Key, OpId, Strategy};
/// use storagebox_memory::MemoryStore;
///
/// let stock = MemoryStore::new().counters("stock", Strategy::default())?;
/// let key = Key::new("red-shoes")?;
/// let fill = Change::new(OpId::new("delivery-1")?, 1);
/// let sell = |order: &str| -> storagebox_core::Result<Change> {
///     Ok(Change::new(OpId::new(order)?, -1).within(Bounds::at_least(0)))
/// };
///
/// stock.apply(&key, &fill).await?;
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
    /// - C-3 `AlreadyApplied` has the value that was stored with the operation, never a later one.
    /// - C-4 an overflow changes nothing and says so.
    /// - C-5 the same operation with another delta is `Mismatch`, where [`promise`](Counter::promise) says so.
    /// - C-8 a rejection is not remembered: the same operation may succeed later.
    ///
    /// # Cancel safety
    ///
    /// Safe. Apply again with the same operation.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the strategy fixes the bounds for the box and the change names others; `Unsupported` for bounds
    /// where the strategy can test none, as [`Strategy::Ledger`](crate::Strategy::Ledger), and for a reason where it keeps no
    /// log, as every other one.
    ///
    /// # Backend notes
    ///
    /// `value` is `None` where the strategy cannot know it in its one step; `promise()` says so.
    async fn apply(&self, key: &Key, change: &Change) -> Result<Counted>;

    /// Fences the operation, so that an attempt that is still under way changes nothing when it lands.
    ///
    /// # Guarantees
    ///
    /// - C-8: afterwards it is either applied, and said so, or never will be.
    ///
    /// # Cancel safety
    ///
    /// Safe. Cancel again.
    ///
    /// # Errors
    ///
    /// `Unsupported` for strategies that remember no operation, or only the last writers, or leave it to the store's
    /// request tokens: there is nothing durable to keep a fence in. Also for a ledger in several regions.
    async fn cancel(&self, key: &Key, op: &OpId) -> Result<Cancelled>;

    /// The counter's value.
    ///
    /// # Guarantees
    ///
    /// - C-6, C-7: a strong read. Over shards it is a sum of strong reads; a snapshot only where `promise()` says so.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn value(&self, key: &Key) -> Result<i64>;

    /// What the chosen strategy guarantees on this backend.
    fn promise(&self) -> CounterPromise;
}

/// Sugar for every [`Counter`].
pub trait CounterExt: Counter {
    /// [`apply`](Counter::apply) without bounds and with any texts.
    ///
    /// # Guarantees
    ///
    /// Those of [`apply`](Counter::apply).
    ///
    /// # Cancel safety
    ///
    /// Safe. Add again with the same `op`.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if a text is empty, over 512 bytes or holds U+0000.
    fn add<K, O>(&self, key: K, op: O, delta: i64) -> impl Future<Output = Result<Counted>> + Send
    where
        K: TryInto<Key>,
        O: TryInto<OpId>,
        Error: From<K::Error> + From<O::Error>,
    {
        let key = key.try_into().map_err(Error::from);
        let op = op.try_into().map_err(Error::from);
        async move { self.apply(&key?, &Change::new(op?, delta)).await }
    }
}

impl<C: Counter + ?Sized> CounterExt for C {}

/// One change of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The operation, made before the first attempt and the same for every retry.
    pub op: OpId,
    /// What to add; 0 is recorded too.
    pub delta: i64,
    /// What the result must be within.
    pub bounds: Bounds,
    /// Why, for the log of a [`Ledger`](crate::Ledger). It is no part of the operation: a retry with another reason is the
    /// same one, and the first reason stays.
    pub reason: Option<Reason>,
}

impl Change {
    /// A change without bounds, and for no reason.
    pub fn new(op: OpId, delta: i64) -> Self {
        Self { op, delta, bounds: Bounds::NONE, reason: None }
    }

    /// The same change for a reason, which the log shows.
    #[must_use]
    pub fn because(mut self, reason: Reason) -> Self {
        self.reason = Some(reason);
        self
    }

    /// The same change with bounds on its result.
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
    /// No bound but the range of `i64`.
    pub const NONE: Self = Self { floor: None, ceiling: None };

    /// From `floor` up.
    pub fn at_least(floor: i64) -> Self {
        Self { floor: Some(floor), ceiling: None }
    }

    /// Up to `ceiling`.
    pub fn at_most(ceiling: i64) -> Self {
        Self { floor: None, ceiling: Some(ceiling) }
    }

    /// From `floor` to `ceiling`.
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

    /// The least value, if there is one.
    pub fn floor(&self) -> Option<i64> {
        self.floor
    }

    /// The greatest value, if there is one.
    pub fn ceiling(&self) -> Option<i64> {
        self.ceiling
    }

    /// Whether the value is within.
    pub fn contains(&self, value: i64) -> bool {
        self.floor.is_none_or(|floor| floor <= value) && self.ceiling.is_none_or(|ceiling| value <= ceiling)
    }
}

/// The outcome of [`Counter::apply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the change may have been refused"]
pub enum Counted {
    /// This call applied the change.
    Applied {
        /// The value just after it, where the strategy knows it.
        value: Option<i64>,
    },
    /// The operation was applied before.
    AlreadyApplied {
        /// The value just after it was, where the strategy knows it.
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
    /// The operation was cancelled; nothing changes any more.
    Fenced,
}

/// The outcome of [`Counter::cancel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the operation may have been applied before"]
pub enum Cancelled {
    /// The operation was not applied and never will be.
    Cancelled,
    /// It was applied before.
    AlreadyApplied {
        /// The value just after it was, where the strategy knows it.
        value: Option<i64>,
    },
    /// No more operations can be remembered for now; nothing changed.
    Full,
}

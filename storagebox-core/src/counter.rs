//! Counters whose changes are applied once each (articles 3 and 5).

use std::time::Duration;

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::time::{Retention, checked_duration};
use crate::value::{Key, OpId};

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
/// the same operation; with [`Strategy::Atomic`] that may apply it twice.
///
/// # Errors
///
/// `Contention`, `Throttled` and `Unavailable` changed nothing; `OutcomeUnknown` asks for the same call again.
/// `InvalidInput` if the box was created with another strategy; it names both.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use storagebox_core::{Bounds, Change, Counted, Counter, Key, OpId, StoreExt, Strategy};
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
    /// - C-5 the same operation with another delta is `Mismatch`.
    /// - C-8 a rejection is not remembered: the same operation may succeed later.
    ///
    /// # Cancel safety
    ///
    /// Safe. Apply again with the same operation.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the strategy fixes the bounds for the box and the change names others.
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
    /// `Unsupported` for strategies that remember no operation.
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
}

impl Change {
    /// A change without bounds.
    pub fn new(op: OpId, delta: i64) -> Self {
        Self { op, delta, bounds: Bounds::NONE }
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

/// How a counter keeps its promise; chosen when the box is opened and kept with it.
///
/// `Marker` for seven days is the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// A bare addition (article 5, approach 1). Not exact under retries: a lost reply may be applied twice.
    Atomic,
    /// Compare-and-set on a version (5.2). Exact when no third writer came between, otherwise `OutcomeUnknown`.
    Optimistic,
    /// The same with the last writers remembered (5.3).
    OptimisticHistory {
        /// How many writers are remembered, 1 to 1,000.
        len: u16,
    },
    /// The store's own request token (5.4), exact for ten minutes.
    TransactionToken,
    /// A marker beside the counter for each operation (5.5), exact for its retention.
    Marker {
        /// How long an operation is remembered.
        retention: Retention,
    },
    /// The operations themselves, added up (5.6).
    Ledger,
    /// A set of operations inside the counter's record (5.7); full is `Full`.
    TokenSet {
        /// How many operations it holds, 1 to 10,000.
        max: u32,
    },
    /// The operations of a time, inside the counter's record (article 3); full is `Full`, never an early forget.
    Window {
        /// How long an operation is remembered, never less.
        lifetime: Duration,
        /// How many operations it holds, 1 to 100,000.
        capacity: u32,
    },
    /// The counter split over several records (5, write sharding), its bounds with it.
    Sharded {
        /// How many records, 1 to 1,024.
        shards: u16,
        /// The bounds of the total, fixed for the box; they contain 0, where a counter begins.
        bounds: Bounds,
        /// How long an operation is remembered.
        retention: Retention,
    },
}

impl Default for Strategy {
    fn default() -> Self {
        Self::Marker { retention: Retention::DEFAULT }
    }
}

impl Strategy {
    /// The strategy, with its numbers checked.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a number or duration out of its range.
    pub fn checked(self) -> Result<Self> {
        match self {
            Self::Atomic | Self::Optimistic | Self::TransactionToken | Self::Ledger => {}
            Self::OptimisticHistory { len } => in_range("len", u64::from(len), 1_000)?,
            Self::Marker { retention } => {
                retention.checked()?;
            }
            Self::TokenSet { max } => in_range("max", u64::from(max), 10_000)?,
            Self::Window { lifetime, capacity } => {
                checked_duration("lifetime", lifetime)?;
                in_range("capacity", u64::from(capacity), 100_000)?;
            }
            Self::Sharded { shards, bounds, retention } => {
                retention.checked()?;
                in_range("shards", u64::from(shards), 1_024)?;
                if !bounds.contains(0) {
                    return Err(Error::invalid("bounds", "must contain 0, where a counter begins"));
                }
            }
        }
        Ok(self)
    }
}

fn in_range(field: &'static str, found: u64, max: u64) -> Result<()> {
    if (1..=max).contains(&found) {
        return Ok(());
    }
    Err(Error::invalid(field, format_args!("must be 1 to {max}, not {found}")))
}

/// The outcome of [`Counter::apply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// How long operations are remembered, which is how long a retry is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Not at all: a retry may be applied again.
    None,
    /// For this long after the operation.
    For(Duration),
    /// For ever.
    Forever,
}

impl From<Retention> for Memory {
    fn from(retention: Retention) -> Self {
        match retention {
            Retention::Forever => Self::Forever,
            Retention::For(duration) => Self::For(duration),
        }
    }
}

/// What a counter guarantees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterPromise {
    /// How long a retry is exact (C-1).
    pub memory: Memory,
    /// Whether a change may have bounds of its own (C-2).
    pub bounds_per_change: bool,
    /// Whether `apply` answers with the value (C-3).
    pub answers_value: bool,
    /// Whether [`Counter::value`] is one snapshot (C-7).
    pub snapshot: bool,
    /// How many operations can be remembered at once; beyond it `apply` says `Full`.
    pub capacity: Option<u32>,
}

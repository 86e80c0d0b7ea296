//! The strategies of counters, and what each guarantees.

use std::time::Duration;

use crate::contract::counter::Bounds;
use crate::values::error::{Error, Result};
use crate::values::time::{Retention, checked_duration};

/// How a counter keeps its promise. The strategy is chosen when the namespace is opened and stored with it.
///
/// Defaults to `Marker` for seven days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// A plain addition (article 5, approach 1): the cheapest strategy.
    ///
    /// Its bounds hold at every moment. A retry is not exact, so nothing repeats a change whose reply was lost: the
    /// error says that the change may have been applied, and is not [retryable](Error::is_retryable).
    Atomic,
    /// Compare-and-set on the record, which names its last writer (5.2).
    ///
    /// A retry is exact as long as no other writer came in between. After another writer, the store can no longer tell
    /// whether the operation was applied: a call with an unresolved attempt returns `OutcomeUnknown`, which is not
    /// [retryable](Error::is_retryable), because a later call may apply the operation again. Under contention the
    /// number of attempts is bounded; after that the call returns `Contention`.
    Optimistic,
    /// The same as `Optimistic`, but the record names the last `len` writers (5.3).
    ///
    /// A retry is exact as long as fewer than `len` other writers came in between. After `len` other writers, a retry
    /// is as inexact as with [`Optimistic`](Self::Optimistic). Contention has the same effect as with `Optimistic`.
    OptimisticHistory {
        /// The number of writers that are remembered, 1 to 1,000.
        len: u16,
    },
    /// The store's own request token (5.4).
    ///
    /// A retry is exact for ten minutes; a later retry may be applied again. Within ten minutes a retry may return
    /// `Applied` like the first call, and a retry with other bounds may return `Mismatch`, because the token stands for
    /// the whole request.
    TransactionToken,
    /// A marker for each operation, written in the same transaction as the counter (5.5).
    ///
    /// A retry is exact for the retention, however many other operations came in between.
    Marker {
        /// How long an operation is remembered.
        retention: Retention,
    },
    /// The operations themselves, summed up when the value is read (5.6). A ledger gives access to the log.
    ///
    /// A retry is exact until its operation is compacted. There are no bounds, because there is no stored value to
    /// check them against.
    ///
    /// Writers never conflict, so this is the only strategy for several regions. On DynamoDB, that is a ledger of a
    /// store with `regions=several`. Such a ledger cannot be compacted and takes no fences. A value that is read in one
    /// region may miss changes that have not arrived there yet.
    ///
    /// On DynamoDB all changes of a key are in one partition, with an index: about 500 changes per second, and 10 GB
    /// until they are compacted. Spread a value that changes more often over several keys, or use
    /// [`Sharded`](Self::Sharded).
    Ledger,
    /// A set of operations inside the counter's record (5.7).
    ///
    /// A retry is exact for ever. The record takes `max` operations in its whole life, including fences. After that,
    /// the counter answers `Full`.
    TokenSet {
        /// The maximum number of operations, 1 to 10,000. On DynamoDB, whose rows have 400 KB, at most 5,235 unless the
        /// store keeps only their keys.
        max: u32,
    },
    /// The operations of a period of time, inside the counter's record (article 3).
    ///
    /// A retry is exact for the lifetime, never less: where the article removes the oldest key to make room, this
    /// strategy returns `Full`.
    Window {
        /// The shortest time for which an operation is remembered.
        lifetime: Duration,
        /// The maximum number of operations, 1 to 100,000. On DynamoDB, whose rows have 400 KB, at most 5,235, or
        /// 31,369 if the store keeps only their keys.
        capacity: u32,
    },
    /// The counter and its bounds, split over several records (5, write sharding).
    ///
    /// A retry is exact for the retention, and is never counted a second time on another shard. If one shard has no
    /// room for a change, the other shards lend it room, so `OutOfBounds` is about the total. The bounds apply to every
    /// key. To give a key its own stock, apply one large change that moves the total away from a bound; DynamoDB
    /// spreads such a change over all shards at once, up to 99 shards.
    Sharded {
        /// The number of records, 1 to 1,024.
        shards: u16,
        /// The bounds of the total, fixed for the namespace. They contain 0, where a counter begins.
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
    /// Returns the strategy after checking its numbers.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if a number or duration is out of its range.
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

/// How long operations are remembered, which is how long a retry is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remember {
    /// Operations are not remembered: a retry may be applied again.
    None,
    /// An operation is remembered for this time after it was applied.
    For(Duration),
    /// The counter remembers its last writers, as many as this number. A retry is exact as long as fewer other writers
    /// came in between.
    Writers(u16),
    /// An operation is remembered for ever.
    Forever,
}

impl From<Retention> for Remember {
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
    pub remember: Remember,
    /// Whether a change may have its own bounds (C-2).
    pub bounds_per_change: bool,
    /// Whether `apply` returns the value (C-3).
    pub answers_value: bool,
    /// Whether a repeat with another delta returns `Mismatch` (C-5). Otherwise it is answered like the operation that
    /// it repeats, or counted if that operation is not remembered.
    pub tells_mismatch: bool,
    /// Whether `value` is one snapshot (C-7).
    pub snapshot: bool,
    /// The number of operations that can be remembered at once; beyond that `apply` returns `Full`.
    pub capacity: Option<u32>,
}

impl CounterPromise {
    /// Returns whether the counter surely recognises a repeated change with the same operation, however many other
    /// changes came in between. `false` for a counter that remembers no operation, or only the last writers.
    pub fn recognises_repeats(&self) -> bool {
        self.remembers().is_some()
    }

    /// Returns how long the counter surely recognises a repeated change; `None` if it does not.
    pub fn remembers(&self) -> Option<Duration> {
        match self.remember {
            Remember::None | Remember::Writers(_) => None,
            Remember::For(duration) => Some(duration),
            Remember::Forever => Some(Duration::MAX),
        }
    }

    /// Marks the error of a failed change as [unrepeatable](Error::unrepeatable) if too little is remembered to
    /// recognise the change again. A backend passes the error of every failed `apply` through this method.
    pub fn failed(&self, error: Error) -> Error {
        if self.recognises_repeats() { error } else { error.unrepeatable() }
    }
}

//! How a counter keeps its promise, and what it then promises.

use std::time::Duration;

use crate::counter::Bounds;
use crate::error::{Error, Result};
use crate::time::{Retention, checked_duration};

/// How a counter keeps its promise; chosen when the box is opened and kept with it.
///
/// `Marker` for seven days is the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// A bare addition (article 5, approach 1): the cheapest.
    ///
    /// Its bounds hold at every moment. A retry is not exact, so nothing repeats a change whose reply was lost: the
    /// error says that it may have been applied, and is not [retryable](Error::is_retryable).
    Atomic,
    /// Compare-and-set on the record, which names its last writer (5.2).
    ///
    /// A retry is exact as long as no other writer came between. After one it cannot be told any more whether the
    /// operation was applied: a call with an unresolved attempt answers `OutcomeUnknown`, which is not
    /// [retryable](Error::is_retryable), because a later call may apply it again. Under contention attempts are bounded,
    /// then `Contention`.
    Optimistic,
    /// The same with the last writers remembered (5.3).
    ///
    /// A retry is exact as long as fewer than `len` other writers came between. Beyond that it is as inexact as
    /// [`Optimistic`](Self::Optimistic), and the backlog under contention is the same.
    OptimisticHistory {
        /// How many writers are remembered, 1 to 1,000.
        len: u16,
    },
    /// The store's own request token (5.4).
    ///
    /// A retry is exact for ten minutes; later it may be applied again. Within them a repeat may look like the first
    /// time, `Applied`, and one with other bounds may be `Mismatch`, because the token stands for the whole request.
    TransactionToken,
    /// A marker beside the counter for each operation, both in one transaction (5.5).
    ///
    /// A retry is exact for the retention, however many others came between.
    Marker {
        /// How long an operation is remembered.
        retention: Retention,
    },
    /// The operations themselves, added up when the value is read (5.6); [`Ledger`](crate::Ledger) has its log.
    ///
    /// A retry is exact until its operation is compacted. No bounds: there is no stored value to test them on.
    ///
    /// Writers never meet, so it is the one strategy for several regions: on DynamoDB a ledger that the store made with
    /// `regions=several`, which cannot be compacted and takes no fences. A value read there may miss what is on its way.
    ///
    /// On DynamoDB all changes of a key are in one partition, with an index: about 500 changes a second, and 10 GB until
    /// they are compacted. Spread what is changed more often over several keys, or use [`Sharded`](Self::Sharded).
    Ledger,
    /// A set of operations inside the counter's record (5.7).
    ///
    /// A retry is exact for ever. The record takes `max` operations in all its life, fences included, then it is `Full`.
    TokenSet {
        /// How many operations it holds, 1 to 10,000; on DynamoDB, whose rows have 400 KB, at most 5,235 unless the
        /// store keeps their keys alone.
        max: u32,
    },
    /// The operations of a time, inside the counter's record (article 3).
    ///
    /// A retry is exact for the lifetime, never less: where the article removes the oldest key to make room, this is
    /// `Full`.
    Window {
        /// How long an operation is remembered, never less.
        lifetime: Duration,
        /// How many operations it holds, 1 to 100,000; on DynamoDB, whose rows have 400 KB, at most 5,235, or 31,369
        /// where the store keeps their keys alone.
        capacity: u32,
    },
    /// The counter split over several records (5, write sharding), its bounds with it.
    ///
    /// A retry is exact for the retention, and never counts on another shard. What one shard has no room for is lent by
    /// the others, so `OutOfBounds` speaks of the total. The bounds are those of every key; a stock of its own is put in, as
    /// a large change away from a bound, which DynamoDB spreads over all shards at once, up to 99 of them.
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

/// How long operations are remembered, which is how long a retry is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Not at all: a retry may be applied again.
    None,
    /// For this long after the operation.
    For(Duration),
    /// While it is among the last so many writers; a retry is exact as long as no more came between.
    Writers(u16),
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
    /// Whether a repeat with another delta is told so, as `Mismatch` (C-5). Otherwise it is answered as the operation that
    /// it repeats, or counted where that is not remembered.
    pub tells_mismatch: bool,
    /// Whether [`Counter::value`](crate::Counter::value) is one snapshot (C-7).
    pub snapshot: bool,
    /// How many operations can be remembered at once; beyond it `apply` says `Full`.
    pub capacity: Option<u32>,
}

impl CounterPromise {
    /// Whether a change that is made again with the same operation is surely recognised, however many others came between.
    /// `false` for a counter that remembers no operation, or only the last writers.
    pub fn recognises_repeats(&self) -> bool {
        match self.memory {
            Memory::None | Memory::Writers(_) => false,
            Memory::For(_) | Memory::Forever => true,
        }
    }

    /// Why a change failed, marked as [unrepeatable](Error::unrepeatable) where too little is remembered to know the
    /// change again. A backend hands every failed `apply` through this.
    pub fn failed(&self, error: Error) -> Error {
        if self.recognises_repeats() { error } else { error.unrepeatable() }
    }
}

//! Whether the operations of a time fit the row that keeps them (article 3's formulas).

use std::time::Duration;

use storagebox_core::{Result, Strategy};

use super::UNITS_A_SECOND;
use crate::clock::millis;
use crate::counter::{ENTRY_BYTES, OTHER_BYTES, RECORD_BYTES};
use crate::error::bad;

/// The default `max_skew` of a store.
const USUAL_SKEW: Duration = Duration::from_secs(1);

/// A plan for [`Strategy::Window`], which stores its operations in one row.
///
/// Two limits apply, and the second is almost always the tighter limit:
///
/// 1. The row: `rate x lifetime x entry size`, plus the rest of the row, must be within 400 KB. An operation stays in
///    the row for its lifetime plus the store's `max_skew`, and the plan uses this sum.
/// 2. The writes: each write costs one write unit per KB of the *whole* row, and a row has 1,000 units per second.
///
/// By default, a plan uses DynamoDB's sizes: 400 KB are 409,600 bytes, and a write unit is 1,024 bytes. Article 3 uses
/// 400,000 and 1,000 bytes; see [`in_the_articles_bytes`](Self::in_the_articles_bytes).
///
/// # Guarantees
///
/// - C-1 a window with the plan's [`strategy`](Self::strategy) never returns `Full` while the rate is kept. Its
///   capacity is the rate times the time that an operation stays, which is its lifetime plus the `max_skew` of the
///   store (and of the plan). Bursts and clocks that differ need more capacity: plan for a higher rate.
///
/// # Example
///
/// ```
/// use std::time::Duration;
/// use storagebox_dynamo::WindowPlan;
///
/// // An operation is 78 bytes here: a hash for its name, twice; its delta and its time; and the value after it.
/// let modest = WindowPlan::for_rate(10, Duration::from_secs(60));
/// assert_eq!((modest.capacity(), modest.row_bytes(), modest.write_units()), (610, 48_780, 48));
/// assert_eq!(modest.writes_per_second(), 20);
/// assert!(modest.holds() && modest.strategy().is_ok());
///
/// // Five minutes at the same rate fit the row, but not its 1,000 write units a second.
/// let longer = WindowPlan::for_rate(10, Duration::from_secs(300));
/// assert!(longer.fits());
/// assert_eq!(longer.writes_per_second(), 4);
/// assert!(!longer.holds() && longer.strategy().is_err());
/// ```
///
/// Article 3's figures, in its own bytes:
///
/// ```
/// use std::time::Duration;
/// use storagebox_dynamo::WindowPlan;
///
/// let keys_of = |bytes| WindowPlan::for_rate(1, Duration::from_secs(1)).in_the_articles_bytes(bytes);
/// assert_eq!(keys_of(56).largest_capacity(), 7_142);
/// assert_eq!(keys_of(11).largest_capacity() / 1_000, 36);
/// assert_eq!(keys_of(8).largest_capacity(), 50_000);
/// assert_eq!(keys_of(32).largest_capacity(), 12_500);
///
/// let five_minutes = WindowPlan::for_rate(100, Duration::from_secs(300)).in_the_articles_bytes(8);
/// assert_eq!(five_minutes.capacity(), 30_000);
/// assert!(five_minutes.fits());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowPlan {
    rate: u32,
    lifetime: Duration,
    skew: Duration,
    bytes: Bytes,
}

/// How large things are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bytes {
    row: u64,
    unit: u64,
    entry: u64,
    other: u64,
}

impl WindowPlan {
    /// Creates a plan for this number of operations per second, each remembered for the lifetime, with
    /// [`Strategy::Window`] as it is in this library.
    pub fn for_rate(rate: u32, lifetime: Duration) -> Self {
        let bytes =
            Bytes { row: RECORD_BYTES.into(), unit: 1_024, entry: ENTRY_BYTES.into(), other: OTHER_BYTES.into() };
        Self { rate, lifetime, skew: USUAL_SKEW, bytes }
    }

    /// Sets the store's [`max_skew`](crate::DynamoBuilder::max_skew), the time for which an operation stays in the row
    /// beyond its lifetime. Defaults to 1 second.
    #[must_use]
    pub fn with_max_skew(mut self, skew: Duration) -> Self {
        self.skew = skew;
        self
    }

    /// Changes the plan to article 3's own figures: a row with a list of keys of this many bytes and nothing else, KB
    /// of 1,000 bytes, and one clock for all clients, which needs no skew. DynamoDB uses 3 more bytes for the list and
    /// one more per key.
    #[must_use]
    pub fn in_the_articles_bytes(mut self, key: u32) -> Self {
        self.bytes = Bytes { row: 400_000, unit: 1_000, entry: key.into(), other: 0 };
        self.with_max_skew(Duration::ZERO)
    }

    /// Returns how many operations are in the row at once, which is the capacity to choose.
    pub fn capacity(&self) -> u64 {
        let operations = u128::from(self.rate) * self.held().as_nanos();
        u64::try_from(operations.div_ceil(1_000_000_000)).unwrap_or(u64::MAX)
    }

    /// How long an operation is in the row, in whole milliseconds, as the store counts.
    fn held(&self) -> Duration {
        full(self.lifetime).saturating_add(full(self.skew))
    }

    /// Returns how many operations fit in a row.
    pub fn largest_capacity(&self) -> u64 {
        (self.bytes.row - self.bytes.other) / self.bytes.entry.max(1)
    }

    /// Returns the longest lifetime whose operations fit in the row at this rate, in whole milliseconds.
    pub fn longest_lifetime(&self) -> Duration {
        let held = Duration::from_secs(self.largest_capacity()) / self.rate.max(1);
        over(held.saturating_sub(full(self.skew)))
    }

    /// Returns how many bytes a key may have for the operations to fit in the row. The entries of this library have a
    /// fixed size.
    pub fn largest_entry_bytes(&self) -> u64 {
        (self.bytes.row - self.bytes.other) / self.capacity().max(1)
    }

    /// Returns the size of the row in bytes when the window is full, which is when its first operation expires.
    pub fn row_bytes(&self) -> u64 {
        self.capacity().saturating_mul(self.bytes.entry).saturating_add(self.bytes.other)
    }

    /// Returns the number of write units that one write of the full window costs.
    pub fn write_units(&self) -> u64 {
        self.row_bytes().div_ceil(self.bytes.unit).max(1)
    }

    /// Returns how many writes per second the full window allows, which is how many the row's 1,000 write units pay
    /// for.
    ///
    /// Article 3 divides by `lifetime x key size`, as if a row had one key per second. A row has `rate` times as many
    /// keys, and this method divides by that size. So the higher the rate is, the fewer writes per second a row allows.
    pub fn writes_per_second(&self) -> u64 {
        UNITS_A_SECOND / self.write_units()
    }

    /// Returns whether the operations fit in the row (the first limit).
    pub fn fits(&self) -> bool {
        self.row_bytes() <= self.bytes.row
    }

    /// Returns whether the operations fit in the row and the row allows as many writes as are made (both limits).
    pub fn holds(&self) -> bool {
        self.fits() && u64::from(self.rate) <= self.writes_per_second()
    }

    /// Returns the strategy to open the counter with.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the plan does not hold. The message names the limit and what to use instead.
    pub fn strategy(&self) -> Result<Strategy> {
        const INSTEAD: &str = "use Marker, or Sharded for a counter that is written more often than a row can be";
        if !self.fits() {
            let (most, asked) = (self.largest_capacity(), self.capacity());
            let why = format_args!("needs {asked} entries, and a row holds {most}; {INSTEAD}");
            return Err(bad("lifetime", why));
        }
        if !self.holds() {
            let (most, rate) = (self.writes_per_second(), self.rate);
            let why = format_args!("of {rate} a second is more than the {most} writes that the row allows");
            return Err(bad("rate", format_args!("{why}; {INSTEAD}")));
        }
        let capacity = u32::try_from(self.capacity()).unwrap_or(u32::MAX).max(1);
        Strategy::Window { lifetime: self.lifetime, capacity }.checked()
    }
}

/// In whole milliseconds, the last of which may not be over.
fn full(time: Duration) -> Duration {
    Duration::from_millis(millis(time).unsigned_abs())
}

/// In whole milliseconds, all of which are over.
fn over(time: Duration) -> Duration {
    time.saturating_sub(Duration::from_nanos((time.subsec_nanos() % 1_000_000).into()))
}

#[cfg(test)]
mod tests;

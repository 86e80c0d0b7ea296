//! Whether the operations of a time fit the row that keeps them (article 3's formulas).

use std::time::Duration;

use storagebox_core::{Result, Strategy};

use super::UNITS_A_SECOND;
use crate::clock::millis;
use crate::counter::{BESIDE_KEYS, ENTRY_BYTES, KEY_BYTES, OTHER_BYTES, RECORD_BYTES, SLOTS, slot_of};
use crate::error::bad;

/// Into how many parts a lifetime is cut where keys are kept alone.
const PARTS: u32 = SLOTS as u32;
/// The store's `max_skew` unless it is told otherwise.
const USUAL_SKEW: Duration = Duration::from_secs(1);

/// A plan for [`Strategy::Window`], which keeps its operations in one row.
///
/// Two things bound it, and the second is the tighter one almost always:
///
/// 1. The row: `rate x lifetime x entry size`, and what else is in it, must be within 400 KB. An operation is in the row
///    for its lifetime and the store's `max_skew`, and so long the plan reckons with.
/// 2. The writes: each costs a write unit for every KB of the *whole* row, and a row has 1,000 units a second.
///
/// 400 KB are 409,600 bytes for DynamoDB and a write unit is 1,024 bytes, which is what a plan reckons with unless told
/// otherwise. Article 3 takes 400,000 and 1,000 for them; see [`in_the_articles_bytes`](Self::in_the_articles_bytes).
///
/// # Guarantees
///
/// - C-1 a window with the plan's [`strategy`](Self::strategy) is never `Full` while the rate is kept, because its capacity
///   is what the rate makes of the time that an operation stays, which is its lifetime and the `max_skew` of the store (and
///   of the plan). Bursts and clocks that differ need more: plan for a higher rate.
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
///
/// // They do where the store keeps keys alone: 13 bytes, for up to a sixteenth longer.
/// let alone = longer.keys_alone();
/// assert_eq!((alone.capacity(), alone.row_bytes(), alone.write_units()), (3_198, 43_374, 43));
/// assert_eq!(alone.writes_per_second(), 23);
/// assert!(alone.holds() && alone.strategy().is_ok());
/// ```
///
/// What article 3 reckons, in its own bytes:
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
    keys_alone: bool,
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
    /// A plan for so many operations a second, each remembered for the lifetime, by [`Strategy::Window`] as it is here.
    pub fn for_rate(rate: u32, lifetime: Duration) -> Self {
        let bytes = Bytes {
            row: RECORD_BYTES.into(),
            unit: 1_024,
            entry: ENTRY_BYTES.into(),
            other: OTHER_BYTES.into(),
        };
        Self { rate, lifetime, skew: USUAL_SKEW, keys_alone: false, bytes }
    }

    /// The same plan for a store that keeps [keys alone](crate::DynamoBuilder::keys_alone), each for up to a sixteenth longer
    /// than its lifetime.
    #[must_use]
    pub fn keys_alone(mut self) -> Self {
        self.bytes = Bytes { entry: KEY_BYTES.into(), other: BESIDE_KEYS.into(), ..self.bytes };
        self.keys_alone = true;
        self
    }

    /// The same plan for a store with this [`max_skew`](crate::DynamoBuilder::max_skew), for which an operation is in the row
    /// beyond its lifetime; a second unless told otherwise.
    #[must_use]
    pub fn with_max_skew(mut self, skew: Duration) -> Self {
        self.skew = skew;
        self
    }

    /// The same plan for a list of keys of this many bytes and nothing else in the row, with KB of 1,000 bytes and one clock
    /// for all, which needs no skew: article 3's own sums. DynamoDB takes 3 bytes more for the list and one for each key.
    #[must_use]
    pub fn in_the_articles_bytes(mut self, key: u32) -> Self {
        self.bytes = Bytes { row: 400_000, unit: 1_000, entry: key.into(), other: 0 };
        self.with_max_skew(Duration::ZERO)
    }

    /// How many operations there are at once: the capacity to choose.
    pub fn capacity(&self) -> u64 {
        let operations = u128::from(self.rate) * self.held().as_nanos();
        u64::try_from(operations.div_ceil(1_000_000_000)).unwrap_or(u64::MAX)
    }

    /// How long an operation is in the row, in whole milliseconds, as the store counts.
    fn held(&self) -> Duration {
        let slot = if self.keys_alone { slot_of(self.lifetime) } else { Duration::ZERO };
        full(self.lifetime).saturating_add(full(self.skew)).saturating_add(slot)
    }

    /// How many operations a row has room for.
    pub fn largest_capacity(&self) -> u64 {
        (self.bytes.row - self.bytes.other) / self.bytes.entry.max(1)
    }

    /// The longest lifetime for which the row has room at this rate, in whole milliseconds.
    pub fn longest_lifetime(&self) -> Duration {
        let held = Duration::from_secs(self.largest_capacity()) / self.rate.max(1);
        let held = over(held.saturating_sub(full(self.skew)));
        if self.keys_alone { over(held * PARTS / (PARTS + 1)) } else { held }
    }

    /// How many bytes a key may have for the row to have room; the entries here have as many as they have.
    pub fn largest_entry_bytes(&self) -> u64 {
        (self.bytes.row - self.bytes.other) / self.capacity().max(1)
    }

    /// How many bytes the row has when the window is full, which it is once the first of its operations goes.
    pub fn row_bytes(&self) -> u64 {
        self.capacity().saturating_mul(self.bytes.entry).saturating_add(self.bytes.other)
    }

    /// How many write units one write of the full window costs.
    pub fn write_units(&self) -> u64 {
        self.row_bytes().div_ceil(self.bytes.unit).max(1)
    }

    /// How many writes a second the full window allows: those that the row's 1,000 write units pay for.
    ///
    /// Article 3 divides by `lifetime x key size`, as if a row had one key for each second. It has `rate` times as many,
    /// which is what is divided by here. So the higher the rate is, the fewer writes a second a row allows.
    pub fn writes_per_second(&self) -> u64 {
        UNITS_A_SECOND / self.write_units()
    }

    /// Whether the row has room (the first bound).
    pub fn fits(&self) -> bool {
        self.row_bytes() <= self.bytes.row
    }

    /// Whether the row has room and takes as many writes as are made (both bounds).
    pub fn holds(&self) -> bool {
        self.fits() && u64::from(self.rate) <= self.writes_per_second()
    }

    /// The strategy to open the counter with.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the plan does not hold; it names the bound and what to use instead.
    pub fn strategy(&self) -> Result<Strategy> {
        const INSTEAD: &str = "keep keys alone, or use Marker, or Sharded for a counter that is written more often than a row can be";
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

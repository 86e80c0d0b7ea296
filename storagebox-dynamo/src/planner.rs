//! Whether the operations of a time fit the row that keeps them (article 3's formulas).

mod costs;
mod rows;
mod set;

use std::time::Duration;

use storagebox_core::{Result, Strategy};

use crate::counter::{BESIDE_KEYS, ENTRY_BYTES, KEY_BYTES, OTHER_BYTES, RECORD_BYTES, SLOTS};
use crate::error::bad;
pub use costs::{CounterCost, CounterPlan};
pub use set::SetPlan;

/// Into how many parts a lifetime is cut where keys are kept alone.
const PARTS: u32 = SLOTS as u32;
/// Write units a second that DynamoDB gives to one row.
const UNITS_A_SECOND: u64 = 1_000;

/// A plan for [`Strategy::Window`], which keeps its operations in one row.
///
/// Two things bound it, and the second is the tighter one almost always:
///
/// 1. The row: `rate x lifetime x entry size`, and what else is in it, must be within 400 KB.
/// 2. The writes: each costs a write unit for every KB of the *whole* row, and a row has 1,000 units a second.
///
/// 400 KB are 409,600 bytes for DynamoDB and a write unit is 1,024 bytes, which is what a plan reckons with unless told
/// otherwise. Article 3 takes 400,000 and 1,000 for them; see [`in_the_articles_bytes`](Self::in_the_articles_bytes).
///
/// # Guarantees
///
/// - C-1 a window with the plan's [`strategy`](Self::strategy) is never `Full` while the rate is kept, because its capacity
///   is what the rate makes of the lifetime. Bursts and clocks that differ need more: plan for a higher rate.
///
/// # Example
///
/// ```
/// use std::time::Duration;
/// use storagebox_dynamo::WindowPlan;
///
/// // An operation is 78 bytes here: a hash for its name, twice; its delta and its time; and the value after it.
/// let modest = WindowPlan::for_rate(10, Duration::from_secs(60));
/// assert_eq!((modest.capacity(), modest.row_bytes(), modest.write_units()), (600, 48_000, 47));
/// assert_eq!(modest.writes_per_second(), 21);
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
/// assert_eq!((alone.capacity(), alone.row_bytes(), alone.write_units()), (3_188, 43_244, 43));
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
    /// How long an operation is in the row.
    held: Duration,
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
        Self { rate, lifetime, held: lifetime, bytes }
    }

    /// The same plan for a store that keeps [keys alone](crate::DynamoBuilder::keys_alone), each for up to a sixteenth longer
    /// than its lifetime.
    #[must_use]
    pub fn keys_alone(mut self) -> Self {
        self.bytes = Bytes { entry: KEY_BYTES.into(), other: BESIDE_KEYS.into(), ..self.bytes };
        self.held = self.lifetime.saturating_add(self.lifetime / PARTS);
        self
    }

    /// The same plan for a list of keys of this many bytes and nothing else in the row, with KB of 1,000 bytes: article 3's
    /// own sums. DynamoDB takes 3 bytes more for the list and one for each key.
    #[must_use]
    pub fn in_the_articles_bytes(mut self, key: u32) -> Self {
        self.bytes = Bytes { row: 400_000, unit: 1_000, entry: key.into(), other: 0 };
        self
    }

    /// How many operations there are at once: the capacity to choose.
    pub fn capacity(&self) -> u64 {
        let operations = u128::from(self.rate) * self.held.as_nanos();
        u64::try_from(operations.div_ceil(1_000_000_000)).unwrap_or(u64::MAX)
    }

    /// How many operations a row has room for.
    pub fn largest_capacity(&self) -> u64 {
        (self.bytes.row - self.bytes.other) / self.bytes.entry.max(1)
    }

    /// The longest lifetime for which the row has room at this rate.
    pub fn longest_lifetime(&self) -> Duration {
        let held = Duration::from_secs(self.largest_capacity()) / self.rate.max(1);
        if self.held > self.lifetime { held * PARTS / (PARTS + 1) } else { held }
    }

    /// How many bytes a key may have for the row to have room; the entries here have as many as they have.
    pub fn largest_entry_bytes(&self) -> u64 {
        (self.bytes.row - self.bytes.other) / self.capacity().max(1)
    }

    /// How many bytes the row has when the window is full, which it is from its first lifetime on.
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

#[cfg(test)]
mod tests {
    use storagebox_core::ErrorKind;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn article(rate: u32, seconds: u32, key: u32) -> WindowPlan {
        WindowPlan::for_rate(rate, SECOND * seconds).in_the_articles_bytes(key)
    }

    /// "we could stick 400KB / 56 or 7142 updates before the item fills up"
    #[test]
    fn article_3_56_bytes_are_7142_updates() {
        assert_eq!(article(1, 1, 56).largest_capacity(), 7_142);
    }

    /// "11 bytes, which amounts to 36000 updates per day or 25 billing updates per minute", in round numbers
    #[test]
    fn article_3_11_bytes_are_36000_updates_a_day() {
        let updates = article(1, 1, 11).largest_capacity() / 1_000 * 1_000;
        assert_eq!((updates, updates / (24 * 60)), (36_000, 25));
    }

    /// "8 characters or 50k updates per hour (14 updates per second)", to the nearest
    #[test]
    fn article_3_8_bytes_are_50000_updates_an_hour() {
        let updates = article(1, 1, 8).largest_capacity();
        assert_eq!((updates, (updates + 1_800) / 3_600), (50_000, 14));
        assert!(article(13, 3_600, 8).fits() && !article(14, 3_600, 8).fits());
    }

    /// "5 min * 60 seconds * 100 RPS = 30k keys. Luckily that is below our limit"
    #[test]
    fn article_3_five_minutes_at_100_a_second_are_30000_keys() {
        let plan = article(100, 300, 8);
        assert_eq!(plan.capacity(), 30_000);
        assert!(plan.fits());
    }

    /// "10 request every second, and you want to save the keys for 10 minutes": "70-byte keys", to the nearest ten. Those
    /// that fit have 66 bytes.
    #[test]
    fn article_3_ten_a_second_for_ten_minutes_are_keys_of_about_70_bytes() {
        let plan = article(10, 600, 66);
        assert_eq!(plan.capacity(), 6_000);
        assert_eq!((plan.largest_entry_bytes(), (plan.largest_entry_bytes() + 5) / 10 * 10), (66, 70));
        assert!(plan.fits() && !article(10, 600, 67).fits());
    }

    /// "3-byte keys (which happens if we have key lifetime of 1 hour and ~40 RPS)", "144000"
    #[test]
    fn article_3_an_hour_at_40_a_second_leaves_less_than_3_bytes() {
        let plan = article(40, 3_600, 3);
        assert_eq!(plan.capacity(), 144_000);
        assert_eq!(plan.largest_entry_bytes(), 2);
    }

    /// "your KeyLifetime * RPS would support 12500 keys. (Or only 42 RPS for 5 minute key LifeTime)", to the nearest: 41
    /// fit.
    #[test]
    fn article_3_32_bytes_are_12500_keys_or_42_a_second() {
        let keys = article(1, 1, 32).largest_capacity();
        assert_eq!((keys, (keys + 150) / 300), (12_500, 42));
        assert!(article(41, 300, 32).fits() && !article(42, 300, 32).fits());
    }

    /// "an item that is 1KB large has a 1000 RPS, but an Item that is 2KB in size only has a 500 RPS"
    #[test]
    fn article_3_a_row_of_2_kb_takes_500_writes_a_second() {
        assert_eq!(article(1, 100, 10).writes_per_second(), 1_000);
        assert_eq!(article(1, 200, 10).writes_per_second(), 500);
    }

    /// "With a 10-Byte KeySize [...] RPS = 100000 / KeyLifeTime": 1,000 RPS for 100 s, 100 RPS for 1,000 s. The article has
    /// one key in the row for each second of the lifetime.
    #[test]
    fn article_3_10_bytes_take_1000_a_second_for_100_s_and_100_for_1000_s() {
        assert_eq!(article(1, 100, 10).writes_per_second(), 1_000);
        assert_eq!(article(1, 1_000, 10).writes_per_second(), 100);
    }

    /// "KeySizeInBytes = 1000000 / (600 * RPS)", "a hypothetical RPS of 100", "16 Bytes": again one key for each second.
    #[test]
    fn article_3_600_s_at_100_a_second_are_keys_of_16_bytes() {
        assert_eq!(article(1, 600, 16).writes_per_second(), 100);
        assert!(article(1, 600, 17).writes_per_second() < 100);
    }

    /// With as many keys in the row as are really made, the article's last example is beyond both bounds.
    #[test]
    fn with_all_its_keys_the_last_example_is_beyond_both_bounds() {
        let plan = article(100, 600, 16);
        assert_eq!(plan.row_bytes(), 960_000);
        assert!(!plan.fits());
        assert_eq!(plan.writes_per_second(), 1);
    }

    #[test]
    fn our_entries_have_78_bytes() {
        let plan = WindowPlan::for_rate(1, SECOND);
        assert_eq!((plan.largest_capacity(), plan.row_bytes()), (5_235, 1_278));
        assert_eq!(plan.longest_lifetime(), SECOND * 5_235);
    }

    #[test]
    fn keys_alone_have_13_bytes() {
        let plan = WindowPlan::for_rate(16, SECOND).keys_alone();
        assert_eq!((plan.largest_capacity(), plan.capacity(), plan.row_bytes()), (31_369, 17, 2_021));
        assert_eq!(plan.longest_lifetime(), Duration::from_secs(31_369) / 16 * 16 / 17);
    }

    /// Its 30,000 keys are in a row of this many at last; 100 writes a second of it are not, by the article's own formula.
    #[test]
    fn article_3s_keys_fit_and_its_rate_does_not() {
        let largest = WindowPlan::for_rate(1, SECOND).keys_alone().largest_capacity();
        assert!(largest >= 30_000, "{largest}");
        let plan = WindowPlan::for_rate(94, SECOND * 300).keys_alone();
        assert!(plan.fits() && !plan.holds() && plan.writes_per_second() == 2);
    }

    #[test]
    fn a_plan_that_holds_gives_its_strategy() {
        let plan = WindowPlan::for_rate(3, Duration::from_millis(1_500));
        let window = Strategy::Window { lifetime: Duration::from_millis(1_500), capacity: 5 };
        assert_eq!(plan.strategy().unwrap(), window);
    }

    #[test]
    fn a_plan_that_does_not_hold_names_the_bound() {
        for (rate, seconds, bound) in
            [(100, 600, "5235"), (10, 300, "4 writes"), (u32::MAX, u32::MAX, "5235")]
        {
            let error = WindowPlan::for_rate(rate, SECOND * seconds).strategy().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert!(error.to_string().contains(bound), "{error}");
        }
    }
}

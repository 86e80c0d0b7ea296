//! How ordered values check their writes, for stores that keep the options with the namespace.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::time::Duration;

use crate::backend::micros;
use crate::contract::ordered_store::{OrderedOptions, Stamp, Stamping, Written};
use crate::values::error::{Error, Result};
use crate::values::time::MAX_DURATION;

/// The rules of a namespace of ordered values.
#[derive(Clone, Copy, Debug)]
pub struct OrderedRules {
    backend: &'static str,
    options: OrderedOptions,
}

/// The stamp of a write and its value; a delete has none.
pub type StampedValue<'a> = (&'a Stamp, Option<&'a [u8]>);

impl OrderedRules {
    /// Creates the rules of these options for the backend with this name.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if a duration is below one millisecond or above a hundred years.
    pub fn of(backend: &'static str, options: OrderedOptions) -> Result<Self> {
        Ok(Self { backend, options: options.checked()? })
    }

    /// Returns whether stamps are times.
    pub fn is_timed(&self) -> bool {
        matches!(self.options.stamping, Stamping::Time { .. })
    }

    /// Returns how far a time may be ahead of the store's clock; `None` means no limit, or that no clock is read.
    pub fn max_skew(&self) -> Option<Duration> {
        match self.options.stamping {
            Stamping::Time { max_skew } => max_skew,
            Stamping::Sequence => None,
        }
    }

    /// Returns the minimum time that a tombstone is kept.
    pub fn tombstone_age(&self) -> Duration {
        self.options.tombstone_age
    }

    /// Returns the age of the tombstones that upkeep deletes, in microseconds; `None` if it deletes none.
    pub fn keeps(&self) -> Option<i64> {
        self.is_timed().then(|| micros(self.options.tombstone_age))
    }

    /// Returns the minimum age of the tombstones that a purge with this age deletes.
    pub fn purged(&self, age: Duration) -> Duration {
        let least = if self.is_timed() { self.options.tombstone_age } else { Duration::ZERO };
        age.max(least).min(MAX_DURATION)
    }

    /// Returns the options as they are stored with the namespace. The stored text does not change. The skew is not part
    /// of the text: it limits new writes, and says nothing about stored values.
    pub fn to_stored_text(&self) -> String {
        let stamps = if self.is_timed() { "time stamps" } else { "sequence numbers" };
        format!("{stamps}, tombstones for {} us", micros(self.options.tombstone_age))
    }

    /// Returns a stored text without the skew that earlier versions stored; any other text as it is.
    pub fn without_skew(stored: &str) -> Cow<'_, str> {
        let rest = stored.strip_prefix("time stamps at most ").and_then(|text| text.split_once(" us ahead, "));
        rest.map_or(Cow::Borrowed(stored), |(_, rest)| Cow::Owned(format!("time stamps, {rest}")))
    }

    /// Returns the purge horizon by the store's clock, both in milliseconds: no older stamp is accepted, so nothing
    /// older need be remembered (O-3). `None` if stamps are not times.
    pub fn horizon(&self, clock: i64) -> Option<i64> {
        let age = i64::try_from(self.options.tombstone_age.as_millis()).unwrap_or(i64::MAX);
        self.is_timed().then(|| clock.saturating_sub(age))
    }

    /// O-1, O-2, O-3, O-4: decides `put` and `delete` by the last write of the key, if it has any, and the store's
    /// clock in milliseconds. `None`: replaces the last write of the key by this one, which is `Applied`.
    ///
    /// ```
    /// use storagebox_core::backend::OrderedRules;
    /// use storagebox_core::{OrderedOptions, Stamp, Written};
    ///
    /// # fn main() -> storagebox_core::Result<()> {
    /// let rules = OrderedRules::of("memory", OrderedOptions::sequence())?;
    /// let (older, newer) = (Stamp::new(10, "laptop".parse()?), Stamp::new(20, "phone".parse()?));
    /// assert_eq!(rules.write((&newer, Some(b"5")), Some((&older, Some(b"3"))), 0)?, None);
    /// let stale = rules.write((&older, None), Some((&newer, Some(b"5"))), 0)?;
    /// assert_eq!(stale, Some(Written::Stale { current: newer }));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the stamp is too far ahead of the clock.
    pub fn write(
        &self,
        write: StampedValue<'_>,
        last: Option<StampedValue<'_>>,
        clock: i64,
    ) -> Result<Option<Written>> {
        if let Some(refused) = self.refused(write.0, clock) {
            return Err(refused);
        }
        let too_old = || self.horizon(clock).filter(|horizon| write.0.at < *horizon);
        let decided = last.and_then(|last| Self::compare(write, last));
        Ok(decided.or_else(|| too_old().map(|horizon| Written::TooOld { horizon })))
    }

    /// O-1, O-2: returns the answer to a write on a key with this last write; `None` if the write is newer: by time,
    /// then by writer, then a delete over a put.
    pub fn compare(write: StampedValue<'_>, last: StampedValue<'_>) -> Option<Written> {
        match (write.0, write.1.is_none()).cmp(&(last.0, last.1.is_none())) {
            Ordering::Greater => None,
            Ordering::Less => Some(Written::Stale { current: last.0.clone() }),
            Ordering::Equal if write.1 == last.1 => Some(Written::Duplicate),
            Ordering::Equal => Some(Written::Mismatch),
        }
    }

    /// Returns the error of a stamp that is too far ahead of the store's clock, both in milliseconds (O-4); `None` if
    /// it is not.
    pub fn refused(&self, stamp: &Stamp, clock: i64) -> Option<Error> {
        let most = i64::try_from(self.max_skew()?.as_millis()).unwrap_or(i64::MAX);
        (stamp.at > clock.saturating_add(most)).then(|| self.ahead(stamp, clock))
    }

    /// Creates the error of a stamp that is too far ahead of the store's clock, both in milliseconds (O-4).
    pub fn ahead(&self, stamp: &Stamp, clock: i64) -> Error {
        let most = self.max_skew().unwrap_or_default();
        let looks = unit_of(stamp.at, clock).map(|unit| format!(", and this one looks like {unit}"));
        let why = format_args!(
            "is more than {most:?}, the `max_skew`, ahead of the store's clock; stamps are milliseconds since 1970{}",
            looks.unwrap_or_default()
        );
        Error::invalid("stamp", why).with("stamp", stamp.at).with("clock", clock).on(self.backend)
    }
}

/// Returns the unit, `microseconds` or `nanoseconds`, in which the stamp `at` is a time within 30 years of `clock`.
fn unit_of(at: i64, clock: i64) -> Option<&'static str> {
    const DECADES: u64 = 30 * 31_557_600_000;
    let units = [("microseconds", 1_000), ("nanoseconds", 1_000_000)];
    units.into_iter().find(|(_, per_milli)| (at / per_milli).abs_diff(clock) < DECADES).map(|(unit, _)| unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WriterId;

    const DAY: Duration = OrderedOptions::MAX_SKEW;
    const NOW: i64 = 1_721_769_060_000;

    fn rules(options: OrderedOptions) -> OrderedRules {
        OrderedRules::of("memory", options).unwrap()
    }

    fn stamp(at: i64) -> Stamp {
        Stamp::new(at, WriterId::new("phone").unwrap())
    }

    #[test]
    fn time_stamp_may_be_a_day_ahead_by_default() {
        let day = i64::try_from(DAY.as_millis()).unwrap();
        let (time, free) = (rules(OrderedOptions::time()), Stamping::Time { max_skew: None });
        assert!(time.refused(&stamp(NOW + day), NOW).is_none());
        assert!(time.refused(&stamp(NOW + day + 1), NOW).is_some());
        assert!(rules(OrderedOptions::default()).refused(&stamp(NOW * 1_000), NOW).is_some());
        for options in [OrderedOptions { stamping: free, ..OrderedOptions::time() }, OrderedOptions::sequence()] {
            assert!(rules(options).refused(&stamp(i64::MAX), NOW).is_none(), "{options:?}");
        }
    }

    #[test]
    fn error_for_a_refused_stamp_names_the_likely_unit() {
        for (at, looks) in [
            (NOW * 1_000, ", and this one looks like microseconds"),
            (NOW * 1_000_000, ", and this one looks like nanoseconds"),
            (NOW + 2 * 86_400_000, ""),
            (i64::MAX, ""),
        ] {
            let error = rules(OrderedOptions::time()).refused(&stamp(at), NOW).unwrap().to_string();
            assert!(error.contains(&format!("stamps are milliseconds since 1970{looks}")), "{error}");
            assert_eq!(error.contains("looks like"), !looks.is_empty(), "{error}");
        }
    }

    #[test]
    fn stored_options_do_not_contain_the_maximum_skew() {
        let free = OrderedOptions { stamping: Stamping::Time { max_skew: None }, ..OrderedOptions::time() };
        let stored = "time stamps, tombstones for 604800000000 us";
        for options in [free, OrderedOptions::time()] {
            assert_eq!(rules(options).to_stored_text(), stored);
        }
        let before = "time stamps at most 3600000000 us ahead, tombstones for 604800000000 us";
        assert_eq!(OrderedRules::without_skew(before), stored);
        let sequence = rules(OrderedOptions::sequence()).to_stored_text();
        assert_eq!(sequence, "sequence numbers, tombstones for 604800000000 us");
        for other in [stored, sequence.as_str(), "", "time stamps at most"] {
            assert_eq!(OrderedRules::without_skew(other), other);
        }
    }
}

//! How ordered values check their writes, for stores that keep the options with the namespace.

use std::time::Duration;

use crate::backend::micros;
use crate::error::{Error, Result};
use crate::ordered_store::{OrderedOptions, Stamp, Stamping};
use crate::time::MAX_DURATION;

/// The rules of a namespace of ordered values.
#[derive(Clone, Copy, Debug)]
pub struct OrderedRules {
    backend: &'static str,
    options: OrderedOptions,
}

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

    /// Returns the age of the tombstones that a purge deletes which asks for this age.
    pub fn purged(&self, age: Duration) -> Duration {
        let least = if self.is_timed() { self.options.tombstone_age } else { Duration::ZERO };
        age.max(least).min(MAX_DURATION)
    }

    /// Returns the options as they are stored with the namespace. The stored text does not change.
    pub fn in_words(&self) -> String {
        let age = micros(self.options.tombstone_age);
        match self.options.stamping {
            Stamping::Sequence => format!("sequence numbers, tombstones for {age} us"),
            Stamping::Time { max_skew: None } => format!("time stamps, tombstones for {age} us"),
            Stamping::Time { max_skew: Some(skew) } => {
                format!("time stamps at most {} us ahead, tombstones for {age} us", micros(skew))
            }
        }
    }

    /// Creates the error of a stamp that is too far ahead of the store's clock, both in milliseconds (O-4).
    pub fn ahead(&self, stamp: &Stamp, clock: i64) -> Error {
        let why = format_args!("is more than {:?} ahead of the store's clock", self.max_skew().unwrap_or_default());
        Error::invalid("stamp", why).with("stamp", stamp.at).with("clock", clock).on(self.backend)
    }
}

//! Times as the tables store them. All processes that use one file must use clocks that agree.

use std::time::Duration;

use storagebox_core::Clock;
use storagebox_core::backend::micros;
use storagebox_core::backend::rules::StoredTime;

/// A time as the tables store it, in microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Micros(pub(crate) i64);

impl Micros {
    pub(crate) fn of(clock: &dyn Clock) -> Self {
        Self(micros(clock.now()))
    }

    /// Returns the time plus `micros`, saturating.
    pub(crate) fn after(self, micros: i64) -> Self {
        Self(self.0.saturating_add(micros))
    }

    /// Returns the time up to which ended operations are forgotten. `memory` is in microseconds (`None`: for ever).
    pub(crate) fn forgotten(self, memory: Option<i64>) -> Self {
        Self(memory.map_or(i64::MIN, |memory| self.0.saturating_sub(memory)))
    }

    /// Returns the milliseconds since 1970, rounded down.
    pub(crate) fn millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }
}

impl StoredTime for Micros {
    fn until(self, later: Self) -> Duration {
        Duration::from_micros(later.0.saturating_sub(self.0).max(0).unsigned_abs())
    }
}

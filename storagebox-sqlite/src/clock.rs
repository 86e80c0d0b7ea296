//! Moments as tables keep them, by the clock that all processes on one file share.

use std::time::Duration;

use storagebox_core::Clock;
use storagebox_core::backend::micros;
use storagebox_core::backend::rules::StoredTime;

/// A moment as tables keep it, in microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Micros(pub(crate) i64);

impl Micros {
    pub(crate) fn of(clock: &dyn Clock) -> Self {
        Self(micros(clock.now()))
    }

    /// This many microseconds later; the end of time at the most.
    pub(crate) fn after(self, micros: i64) -> Self {
        Self(self.0.saturating_add(micros))
    }

    /// What ended at this moment or before is past a memory of so many microseconds; `None` is for ever.
    pub(crate) fn forgotten(self, memory: Option<i64>) -> Self {
        Self(memory.map_or(i64::MIN, |memory| self.0.saturating_sub(memory)))
    }

    /// Whole milliseconds since 1970.
    pub(crate) fn millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }
}

impl StoredTime for Micros {
    fn until(self, later: Self) -> Duration {
        Duration::from_micros(later.0.saturating_sub(self.0).max(0).unsigned_abs())
    }
}

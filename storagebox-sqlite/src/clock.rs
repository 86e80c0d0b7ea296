//! The time by which expiry is judged: the machine's, which all processes on one file share.

use std::fmt::Debug;
use std::time::{Duration, SystemTime};

use storagebox_core::backend::micros;

/// Where the time comes from. Tests hand one in that they can move.
pub trait Clock: Debug + Send + Sync + 'static {
    /// Time since 1970.
    fn now(&self) -> Duration;
}

/// The machine's clock. No process has one of its own, so that all of them agree on what has expired.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the one place where the time is read off the machine")]
    fn now(&self) -> Duration {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }
}

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

    /// How long it is until a later moment; nothing until an earlier one.
    pub(crate) fn until(self, later: Self) -> Duration {
        Duration::from_micros(later.0.saturating_sub(self.0).max(0).unsigned_abs())
    }

    /// Whole milliseconds since 1970.
    pub(crate) fn millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }
}

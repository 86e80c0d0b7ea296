//! Clocks for backends that have no clock of their own.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// The clock by which a store checks every expiry if its server has no clock.
pub trait Clock: Debug + Send + Sync + 'static {
    /// Returns the time since 1970.
    fn now(&self) -> Duration;
}

/// The machine's clock, which all processes of a machine share.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the one place where the time is read off the machine")]
    fn now(&self) -> Duration {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }
}

/// A clock for tests. It stands still until it is moved. Clones show the same time.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// Creates a clock that shows 2026-01-01.
    pub fn new() -> Self {
        Self(Arc::new(AtomicU64::new(1_767_225_600_000_000_000)))
    }

    /// Sets the time back, to 1970 at the earliest, as the clock of a machine may be.
    pub fn turn_back(&self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let _before = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| Some(now.saturating_sub(nanos)));
    }

    /// Advances the time, to the year 2554 at most.
    pub fn advance(&self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let _before = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| Some(now.saturating_add(nanos)));
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::SeqCst))
    }
}

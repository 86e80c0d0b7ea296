//! Clocks for backends that have no clock of their own.

use std::fmt::{self, Debug};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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
#[derive(Clone)]
pub struct ManualClock(Arc<Hands>);

struct Hands {
    nanos: AtomicU64,
    reading: Mutex<Option<Reading>>,
}

/// Answers a reading of a [`ManualClock`]. Its argument reads the time.
pub type Reading = Arc<dyn Fn(&dyn Fn() -> Duration) -> Duration + Send + Sync>;

impl ManualClock {
    /// Creates a clock that shows 2026-01-01.
    pub fn new() -> Self {
        let nanos = AtomicU64::new(1_767_225_600_000_000_000);
        Self(Arc::new(Hands { nanos, reading: Mutex::default() }))
    }

    /// Sets the time back, to 1970 at the earliest, as can happen to the clock of a machine.
    pub fn turn_back(&self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let _before =
            self.0.nanos.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| Some(now.saturating_sub(nanos)));
    }

    /// Advances the time, to the year 2554 at most.
    pub fn advance(&self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let _before =
            self.0.nanos.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| Some(now.saturating_add(nanos)));
    }
}

impl ManualClock {
    /// Makes this function answer each later reading, on the thread that reads; `None` ends that. A function that waits
    /// can hold a call between its reading of the clock and the steps before or after it.
    pub fn intercept(&self, reading: Option<Reading>) {
        *self.0.reading.lock().unwrap_or_else(PoisonError::into_inner) = reading;
    }

    fn shown(&self) -> Duration {
        Duration::from_nanos(self.0.nanos.load(Ordering::SeqCst))
    }
}

impl Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ManualClock").field(&self.shown()).finish()
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        let reading = self.0.reading.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let shown = || self.shown();
        reading.map_or_else(shown, |reading| reading(&shown))
    }
}

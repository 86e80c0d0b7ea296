//! Clocks that a backend without one of its own is handed.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// By what a store judges every expiry, where its server has no clock to judge by.
pub trait Clock: Debug + Send + Sync + 'static {
    /// Time since 1970.
    fn now(&self) -> Duration;
}

/// The machine's clock, on which all processes of a machine agree.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the one place where the time is read off the machine")]
    fn now(&self) -> Duration {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }
}

/// A clock for tests: it stands still until it is moved on. Clones show the same time.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// A clock that shows 2026-01-01.
    pub fn new() -> Self {
        Self(Arc::new(AtomicU64::new(1_767_225_600_000_000_000)))
    }

    /// Moves the time on, to the year 2554 at the most.
    pub fn advance(&self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let _before =
            self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| Some(now.saturating_add(nanos)));
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

//! The store's clock, which decides every expiry.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use storagebox_core::backend::rules::StoredTime;
use storagebox_core::{Clock, Retention};
use tokio::time::Instant;

/// A moment, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Time(u64);

impl Time {
    pub(crate) fn of(clock: &dyn Clock) -> Self {
        Self(nanos(clock.now()))
    }

    /// Returns the time that is `duration` later, or the last possible time if the sum is too large.
    #[must_use]
    pub(crate) fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(nanos(duration)))
    }

    /// Returns the end of a retention that begins at this time; `None` if it never ends.
    pub(crate) fn after_retention(self, retention: Retention) -> Option<Self> {
        match retention {
            Retention::Forever => None,
            Retention::For(duration) => Some(self.after(duration)),
        }
    }

    /// Returns the milliseconds since 1970, rounded down.
    pub(crate) fn millis(self) -> i64 {
        i64::try_from(self.0 / 1_000_000).unwrap_or(i64::MAX)
    }
}

impl StoredTime for Time {
    fn until(self, later: Self) -> Duration {
        Duration::from_nanos(later.0.saturating_sub(self.0))
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A clock that never goes back, even if its inner clock is set back.
#[derive(Debug)]
pub(crate) struct NeverBack<C> {
    clock: C,
    latest: AtomicU64,
}

impl<C: Clock> NeverBack<C> {
    pub(crate) fn of(clock: C) -> Self {
        Self { clock, latest: AtomicU64::new(0) }
    }
}

impl<C: Clock> Clock for NeverBack<C> {
    fn now(&self) -> Duration {
        let now = nanos(self.clock.now());
        Duration::from_nanos(self.latest.fetch_max(now, Ordering::SeqCst).max(now))
    }
}

/// Tokio's clock, including paused time. It counts from the wall-clock time of its creation.
///
/// A wall clock that is set back later therefore cannot bring back expired entries. On Linux and macOS this clock stands
/// still while the machine sleeps, and does not make up for that;
/// [`SystemClock`](storagebox_core::SystemClock) counts that time.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    start: Instant,
    epoch: Duration,
}

impl TokioClock {
    /// Creates a clock that starts now.
    #[allow(clippy::disallowed_methods, reason = "the one place where the store's clock is read off the machine's")]
    pub fn new() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { start: Instant::now(), epoch: since }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Duration {
        self.epoch.saturating_add(self.start.elapsed())
    }
}

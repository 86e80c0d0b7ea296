//! The one clock by which a store judges every expiry.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// A moment, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time(u64);

impl Time {
    /// The moment this long after 1970.
    pub fn since_1970(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }

    /// This long later; the end of time at the most.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(Self::since_1970(duration).0))
    }

    /// How long it is until a later moment; nothing until an earlier one.
    #[must_use]
    pub fn until(self, later: Self) -> Duration {
        Duration::from_nanos(later.0.saturating_sub(self.0))
    }

    /// Whole milliseconds since 1970.
    pub fn millis(self) -> i64 {
        i64::try_from(self.0 / 1_000_000).unwrap_or(i64::MAX)
    }
}

/// Tells the time; never goes back.
pub trait Clock: Debug + Send + Sync + 'static {
    /// The moment that it is.
    fn now(&self) -> Time;
}

/// Tokio's clock, paused time included, counted from the wall clock at its creation.
///
/// A wall clock that is set back later therefore cannot revive what has expired.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    start: Instant,
    epoch: Time,
}

impl TokioClock {
    /// A clock that starts now.
    #[allow(
        clippy::disallowed_methods,
        reason = "the one place where the store's clock is read off the machine's"
    )]
    pub fn new() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { start: Instant::now(), epoch: Time::since_1970(since) }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Time {
        self.epoch.after(self.start.elapsed())
    }
}

/// A clock that stands still until it is advanced. Clones show the same time.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// A clock that shows 2026-01-01.
    pub fn new() -> Self {
        Self(Arc::new(AtomicU64::new(1_767_225_600_000_000_000)))
    }

    /// Moves the time on.
    pub fn advance(&self, duration: Duration) {
        let nanos = Time::since_1970(duration).0;
        let _ =
            self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| Some(now.saturating_add(nanos)));
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Time {
        Time(self.0.load(Ordering::SeqCst))
    }
}

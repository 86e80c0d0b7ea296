//! Durations that callers supply, and the timer that waits.

use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::values::error::{Error, Result};

/// The shortest hold, lease or retention: the clock of every backend can measure it.
pub const MIN_DURATION: Duration = Duration::from_millis(1);
/// The longest hold, lease or retention, about a hundred years; for a longer time use `Forever`.
pub const MAX_DURATION: Duration = Duration::from_secs(3_155_760_000);

/// Checks a duration that a caller supplies, so that no backend's arithmetic can overflow.
///
/// # Errors
///
/// `InvalidInput` if the duration is below one millisecond or above a hundred years.
pub fn checked_duration(field: &'static str, duration: Duration) -> Result<Duration> {
    if (MIN_DURATION..=MAX_DURATION).contains(&duration) {
        return Ok(duration);
    }
    Err(Error::invalid(field, format_args!("must last 1 ms to 100 years, not {duration:?}")))
}

/// How long a claim holds its item (IB-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hold {
    /// Until the claim is released.
    Forever,
    /// For this time, by the store's clock. From the end of the time on, the item is free again without any background
    /// worker.
    For(Duration),
}

impl Hold {
    /// Returns the hold after checking its duration.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the duration is below one millisecond or above a hundred years.
    pub fn checked(self) -> Result<Self> {
        if let Self::For(duration) = self {
            checked_duration("hold", duration)?;
        }
        Ok(self)
    }
}

/// How long a record is remembered (D-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Retention {
    /// Until an explicit call forgets the record.
    Forever,
    /// For this time, by the store's clock. From the end of the time on, the record is absent, whether it was deleted
    /// or not.
    For(Duration),
}

impl Retention {
    /// Seven days: the default time that ended claims and operation ids are remembered.
    pub const DEFAULT: Self = Self::For(Duration::from_secs(7 * 24 * 3600));

    /// Returns the retention after checking its duration.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the duration is below one millisecond or above a hundred years.
    pub fn checked(self) -> Result<Self> {
        if let Self::For(duration) = self {
            checked_duration("retention", duration)?;
        }
        Ok(self)
    }
}

/// Writes the retention in readable units: `for ever`, `7 days`, `90s`.
impl fmt::Display for Retention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HOUR: u64 = 3_600;
        const DAY: u64 = 24 * HOUR;
        let Self::For(duration) = self else { return f.write_str("for ever") };
        match (duration.as_secs(), duration.subsec_nanos()) {
            (seconds, 0) if seconds >= 2 * DAY && seconds % DAY == 0 => write!(f, "{} days", seconds / DAY),
            (seconds, 0) if seconds >= 2 * HOUR && seconds % HOUR == 0 => {
                write!(f, "{} hours", seconds / HOUR)
            }
            _ => write!(f, "{duration:?}"),
        }
    }
}

/// Waits, for the parts of the core that need it: retries and [`run`](crate::run()).
///
/// The core has no runtime. The facade supplies the timer of tokio; tests supply a timer that needs no real time. No
/// promise depends on the timer.
#[async_trait]
pub trait Timer: Debug + Send + Sync {
    /// Returns the time since some fixed instant; it never goes back.
    fn now(&self) -> Duration;

    /// Returns after the duration.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the wait and nothing else.
    async fn sleep(&self, duration: Duration);
}

/// Lets a shared timer be used as a timer.
#[async_trait]
impl<T: Timer + ?Sized> Timer for Arc<T> {
    fn now(&self) -> Duration {
        (**self).now()
    }

    async fn sleep(&self, duration: Duration) {
        (**self).sleep(duration).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retention_is_displayed_in_readable_units() {
        let of = |seconds| Retention::For(Duration::from_secs(seconds)).to_string();
        assert_eq!(Retention::Forever.to_string(), "for ever");
        assert_eq!((of(604_800), of(86_400), of(7_200)), ("7 days".into(), "24 hours".into(), "2 hours".into()));
        assert_eq!((of(90), of(3_600)), ("90s".into(), "3600s".into()));
        assert_eq!(Retention::For(Duration::from_millis(1_500)).to_string(), "1.5s");
    }
}

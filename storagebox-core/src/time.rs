//! Durations that callers hand in, and the timer that waits.

use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::{Error, Result};

/// The shortest hold, lease or retention: what every backend's clock can tell apart.
pub const MIN_DURATION: Duration = Duration::from_millis(1);
/// The longest hold, lease or retention, about a hundred years; for longer there is `Forever`.
pub const MAX_DURATION: Duration = Duration::from_secs(3_155_760_000);

/// Checks a duration that a caller hands in, so that no backend's arithmetic can overflow.
///
/// # Errors
///
/// `InvalidInput` below one millisecond or above a hundred years.
pub fn checked_duration(field: &'static str, duration: Duration) -> Result<Duration> {
    if (MIN_DURATION..=MAX_DURATION).contains(&duration) {
        return Ok(duration);
    }
    Err(Error::invalid(field, format_args!("must last 1 ms to 100 years, not {duration:?}")))
}

/// How long a claim holds its item (IB-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hold {
    /// Until it is released.
    Forever,
    /// Until the store's clock reaches the end, exclusive; then the item is free again without any worker.
    For(Duration),
}

impl Hold {
    /// The hold, with its duration checked.
    ///
    /// # Errors
    ///
    /// `InvalidInput` below one millisecond or above a hundred years.
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
    /// Until it is forgotten by an explicit call.
    Forever,
    /// Until the store's clock reaches the end; then it is absent, removed or not.
    For(Duration),
}

impl Retention {
    /// Seven days: how long ended claims and operation ids are remembered unless a store is told otherwise.
    pub const DEFAULT: Self = Self::For(Duration::from_secs(7 * 24 * 3600));

    /// The retention, with its duration checked.
    ///
    /// # Errors
    ///
    /// `InvalidInput` below one millisecond or above a hundred years.
    pub fn checked(self) -> Result<Self> {
        if let Self::For(duration) = self {
            checked_duration("retention", duration)?;
        }
        Ok(self)
    }
}

/// As people say it: `for ever`, `7 days`, `90s`.
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

/// Waits, for those parts of the core that have to: retries and [`run`](crate::run()).
///
/// The core has no runtime. The facade supplies tokio's; tests supply one that needs no real time.
/// No promise depends on it.
#[async_trait]
pub trait Timer: Debug + Send + Sync {
    /// Time since some fixed instant; never goes back.
    fn now(&self) -> Duration;

    /// Returns after the duration.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the wait and nothing else.
    async fn sleep(&self, duration: Duration);
}

/// A timer that is shared.
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
    fn a_retention_reads_as_people_say_it() {
        let of = |seconds| Retention::For(Duration::from_secs(seconds)).to_string();
        assert_eq!(Retention::Forever.to_string(), "for ever");
        assert_eq!(
            (of(604_800), of(86_400), of(7_200)),
            ("7 days".into(), "24 hours".into(), "2 hours".into())
        );
        assert_eq!((of(90), of(3_600)), ("90s".into(), "3600s".into()));
        assert_eq!(Retention::For(Duration::from_millis(1_500)).to_string(), "1.5s");
    }
}

//! Durations as stores keep them.

use std::time::Duration;

use crate::time::Retention;

/// A duration in whole microseconds, as stores keep it.
pub fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// A retention in whole microseconds; `None` is for ever.
pub fn micros_of(retention: Retention) -> Option<i64> {
    match retention {
        Retention::Forever => None,
        Retention::For(duration) => Some(micros(duration)),
    }
}

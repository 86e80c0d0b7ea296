//! Durations in microseconds, as stores keep them.

use std::time::Duration;

use crate::values::time::Retention;

/// Converts a duration to whole microseconds, as stores keep it.
pub fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// Converts a retention to whole microseconds; `None` means for ever.
pub fn micros_of(retention: Retention) -> Option<i64> {
    match retention {
        Retention::Forever => None,
        Retention::For(duration) => Some(micros(duration)),
    }
}

/// Converts whole microseconds back to the retention; the inverse of [`micros_of`].
pub fn retention_of(micros: Option<i64>) -> Retention {
    micros.map_or(Retention::Forever, |micros| Retention::For(Duration::from_micros(micros.unsigned_abs())))
}

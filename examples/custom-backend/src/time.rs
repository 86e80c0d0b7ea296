//! Times in microseconds since 1970, the unit of all tables.

use std::time::Duration;

use storagebox_core::backend::{micros, micros_of};
use storagebox_core::{Hold, Retention};

/// The stored end of an unlimited hold or retention.
pub(crate) const NEVER: i64 = i64::MAX;

/// How long ended claims, gone tokens and ended operations are remembered: seven days, in microseconds.
const REMEMBERED: i64 = 7 * 24 * 3_600 * 1_000_000;

pub(crate) fn after(now: i64, duration: Duration) -> i64 {
    now.saturating_add(micros(duration))
}

pub(crate) fn end_of(now: i64, retention: Retention) -> i64 {
    micros_of(retention).map_or(NEVER, |micros| now.saturating_add(micros))
}

pub(crate) fn end_of_hold(now: i64, hold: Hold) -> i64 {
    match hold {
        Hold::Forever => NEVER,
        Hold::For(duration) => after(now, duration),
    }
}

/// Returns the time until which a claim, a token or an operation that ends now is remembered.
pub(crate) fn end_of_memory(now: i64) -> i64 {
    now.saturating_add(REMEMBERED)
}

pub(crate) fn remaining(now: i64, until: i64) -> Duration {
    Duration::from_micros(until.saturating_sub(now).max(0).unsigned_abs())
}

/// Returns whether a claim, a token or an operation that ended at this time need not be remembered any more.
pub(crate) fn is_forgotten(ended: i64, now: i64) -> bool {
    ended.saturating_add(REMEMBERED) <= now
}

/// Converts a time to whole milliseconds since 1970.
pub(crate) fn millis(now: i64) -> i64 {
    now.div_euclid(1_000)
}

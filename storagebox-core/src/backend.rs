//! What backends share: parts that are the same whatever the store is. For those who write a backend; callers of one
//! need none of it.

mod boxes;
mod counter_rules;
mod listing;
pub mod url;

use std::time::Duration;

use crate::time::Retention;

pub use boxes::OpenBoxes;
pub use counter_rules::CounterRules;
pub use listing::Listing;

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

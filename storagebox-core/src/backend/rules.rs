//! The answer of each call in each state, as pure functions of the state that was read, the request and the time. A
//! backend adds the storage.
//!
//! A rule returns the answer, or `None` if the call changes the state; then the caller makes the change that the rule
//! names. From the read of the state to the end of that change, no other call may change the state: hold a lock, use a
//! transaction, or write under the condition that the state is still the one that was read. Read the time within the
//! same step.

pub(super) mod counters;
mod leases;
pub(super) mod ordered;
mod records;
mod void_calls;

use std::time::Duration;

pub use leases::started;
pub use ordered::StampedValue;
pub use records::{IdLease, IdRecord, IdState};
pub use void_calls::VoidCalls;

/// A time as a backend stores it.
pub trait StoredTime: Copy + Ord {
    /// Returns the time from `self` until `later`, or zero if `later` is earlier.
    fn until(self, later: Self) -> Duration;
}

/// The duration is a time since 1970, as a [`Clock`](crate::Clock) returns it.
impl StoredTime for Duration {
    fn until(self, later: Self) -> Duration {
        later.saturating_sub(self)
    }
}

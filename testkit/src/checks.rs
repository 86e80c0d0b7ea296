//! Checks that the tests of several backends share. What differs between stores is an argument. A check that fails
//! names the call and the store.

pub mod clocks;
pub mod corruption;
pub mod cuts;
pub mod dropping;
pub mod harness;
pub mod hostile;
pub mod kills;
pub mod memory;
pub mod names;
pub mod pauses;
pub mod round_trips;
pub mod secrets;
pub mod skews;
pub mod urls;
mod waiting;

use std::fmt::Display;
use std::time::Duration;

use storagebox_core::Error;

pub use waiting::{drop_after, until};

pub(crate) const HOUR: Duration = Duration::from_secs(3_600);

/// Returns the error for a failure of the test's own set-up.
pub fn failed(why: impl Display) -> Error {
    Error::unknown(format!("the test's own set-up failed: {why}"))
}

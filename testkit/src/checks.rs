//! Checks that the tests of several backends share. Arguments hold the differences between the stores.
//!
//! A check returns the errors of the store and of the test's own set-up. It panics if its condition does not hold, and
//! the panic names the call.

pub mod calls;
pub mod clocks;
pub mod corruption;
pub mod cuts;
pub mod dropping;
pub mod entities;
pub mod harness;
pub mod hostile;
pub mod kills;
pub mod memory;
pub mod pauses;
pub mod processor;
pub mod round_trips;
pub mod secrets;
pub mod skews;
pub mod urls;
mod waiting;

use std::fmt::{Debug, Display};
use std::str::FromStr;
use std::time::Duration;

use storagebox_core::Error;

pub use waiting::{drop_after, until};

pub(crate) const HOUR: Duration = Duration::from_secs(3_600);

/// Returns the error for a failure of the test's own set-up.
pub fn failed(why: impl Display) -> Error {
    Error::unknown(format!("the test's own set-up failed: {why}"))
}

/// Returns the id, the key or the name with this text.
pub fn id<T: FromStr<Err: Debug>>(text: &str) -> T {
    text.parse().unwrap_or_else(|error| panic!("{text:?}: {error:?}"))
}

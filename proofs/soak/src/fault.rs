//! The faults that happen to a backend during the run.

use std::sync::Arc;
use std::time::Duration;

use storagebox_conformance::Cut;
use tokio::time::{Instant, sleep};

use crate::place::Place;
use crate::tally::Tally;

/// The time from the end of a fault to the next one.
const PAUSE: Duration = Duration::from_secs(6);
/// The duration of a fault, much shorter than the time for which stores remember operations.
const LASTS: Duration = Duration::from_secs(2);

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Every third request or reply that contains an id is cut as [`Cut`] says.
    Cut(Cut),
    /// The server is paused.
    Paused,
    /// The server is killed and started again.
    Killed,
    /// Another client opens the store, runs its maintenance and leaves.
    Visited,
}

/// Causes random faults, one after another, until `end`.
pub(crate) async fn until(end: Instant, place: Arc<Place>, tally: Arc<Tally>) {
    let possible = place.faults();
    while tally.goes_on(end) {
        sleep(PAUSE).await;
        let fault = possible[fastrand::usize(..possible.len())];
        match place.strike(fault, LASTS).await {
            Ok(()) => tally.struck(),
            Err(failure) => tally.wrong(format!("{fault:?}: {failure}")),
        }
    }
}

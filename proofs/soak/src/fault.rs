//! The faults that happen to a backend during the run.

use std::sync::Arc;
use std::time::Duration;

use storagebox_conformance::Cut;
use tokio::time::{Instant, sleep};

use crate::place::Place;
use crate::tally::Tally;

/// The pause between two faults.
const PAUSE: Duration = Duration::from_secs(6);
/// The duration of a fault, much shorter than the time for which stores remember operations.
const LASTS: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The proxy cuts every third request that contains an id, as [`Cut`] says.
    Cut(Cut),
    Paused,
    /// The server is killed and started again.
    Killed,
    /// Another client opens the store, calls `maintain`, and closes.
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

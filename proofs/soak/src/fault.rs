//! The faults that happen to a backend during the run.

use std::sync::Arc;
use std::time::Duration;

use storagebox_conformance::Cut;
use tokio::time::{Instant, sleep};

use crate::place::Place;
use crate::tally::Tally;

/// The time from the end of a fault to the next one.
const PAUSE: Duration = Duration::from_secs(6);
/// The duration of a fault. It is much shorter than the time for which operations are remembered, so that every call is
/// answered in time.
const LASTS: Duration = Duration::from_secs(2);

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Every third request or reply with an id in it is lost in this way.
    Cut(Cut),
    /// The server is paused.
    Paused,
    /// The server is killed and started again.
    Killed,
    /// Another client opens the store, runs its maintenance and leaves.
    Visited,
}

/// Causes random faults, one after another, until the end.
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

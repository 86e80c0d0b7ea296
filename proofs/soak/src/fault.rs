//! What happens to a backend while it is at work.

use std::sync::Arc;
use std::time::Duration;

use storagebox_conformance::Cut;
use tokio::time::{Instant, sleep};

use crate::place::Place;
use crate::tally::Tally;

/// From the end of one to the next.
const PAUSE: Duration = Duration::from_secs(6);
/// How long one lasts. Far less than what is over is remembered, so that every call is answered in time.
const LASTS: Duration = Duration::from_secs(2);

/// What may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Every third request or reply with an id in it is lost so.
    Cut(Cut),
    /// The server stands still.
    Paused,
    /// The server is killed and started again.
    Killed,
    /// Another client opens the store, keeps it up and leaves.
    Visited,
}

/// One after another, each by chance.
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

//! Ends a run before its end: from outside, or because its time is over.

use std::future::{Future, pending};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Ends a run of the suite from outside. No case begins any more, and those under way are dropped: they count as not
/// run. Clones are the same one. It can be asked for once, from any thread, and stays asked for: a later run that has it
/// runs nothing.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Stop {
    /// Creates one that is not asked for yet.
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Ends the runs that have it in their options. Asking again changes nothing. It does not wait for their end.
    pub fn now(&self) {
        self.0.send_replace(true);
    }

    /// Returns whether somebody has asked for it.
    pub fn is_asked(&self) -> bool {
        *self.0.borrow()
    }

    async fn asked(&self) {
        // The sender is in this value, so that the channel does not close.
        let _ = self.0.subscribe().wait_for(|asked| *asked).await;
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

/// When a run is over, whatever is under way.
#[derive(Clone, Debug)]
pub(crate) struct Over {
    asked: Stop,
    at: Option<Instant>,
}

impl Over {
    /// When it is asked for, or after this time.
    #[allow(clippy::disallowed_methods, reason = "a budget is of real time; no case depends on it")]
    pub(crate) fn new(asked: Stop, within: Option<Duration>) -> Self {
        Self { asked, at: within.and_then(|time| Instant::now().checked_add(time)) }
    }

    /// A run that goes on to its end.
    pub(crate) fn never() -> Self {
        Self { asked: Stop::new(), at: None }
    }

    #[allow(clippy::disallowed_methods, reason = "a budget is of real time; no case depends on it")]
    pub(crate) fn is_now(&self) -> bool {
        self.asked.is_asked() || self.at.is_some_and(|at| Instant::now() >= at)
    }

    /// What comes of this, unless the run is over before.
    pub(crate) async fn or<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.asked.asked() => None,
            () = until(self.at) => None,
            // What holds its thread ends only after that, and has failed because of it.
            done = work => (!self.is_now()).then_some(done),
        }
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}

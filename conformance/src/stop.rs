//! Ends a run early: from outside, or because its time is over.

use std::future::{Future, pending};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Ends a run of the suite from outside. No further case begins, and running cases are dropped: they count as not run.
/// Clones share one state. A stop can be requested once, from any thread, and stays requested: a later run with the
/// same `Stop` runs nothing.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Stop {
    /// Creates a `Stop` that is not requested yet.
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Ends the runs that have this `Stop` in their options, and does not wait for them. Further calls change nothing.
    pub fn now(&self) {
        self.0.send_replace(true);
    }

    /// Returns whether the stop was requested.
    pub fn is_asked(&self) -> bool {
        *self.0.borrow()
    }

    async fn asked(&self) {
        // This value holds the sender, so the channel does not close.
        let _ = self.0.subscribe().wait_for(|asked| *asked).await;
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

/// The condition that ends a run: a requested stop, or the end of its time.
#[derive(Clone, Debug)]
pub(crate) struct Over {
    asked: Stop,
    at: Option<Instant>,
}

impl Over {
    #[allow(clippy::disallowed_methods, reason = "a budget is of real time; no case depends on it")]
    pub(crate) fn new(asked: Stop, within: Option<Duration>) -> Self {
        Self { asked, at: within.and_then(|time| Instant::now().checked_add(time)) }
    }

    pub(crate) fn never() -> Self {
        Self { asked: Stop::new(), at: None }
    }

    #[allow(clippy::disallowed_methods, reason = "a budget is of real time; no case depends on it")]
    pub(crate) fn is_now(&self) -> bool {
        self.asked.is_asked() || self.at.is_some_and(|at| Instant::now() >= at)
    }

    /// Returns the result of `work`, or `None` if the run is over first.
    pub(crate) async fn or<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.asked.asked() => None,
            () = until(self.at) => None,
            // Work that blocks its thread may end after the run is over. It may have failed because the run was over,
            // so its result does not count.
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

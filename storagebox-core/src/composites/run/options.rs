//! The options of a run.

use std::time::Duration;

use crate::backend::retry::Retry;
use crate::values::time::Retention;
use crate::values::value::{Fingerprint, OpId};

/// The options of [`run`](crate::run()).
#[derive(Clone, Debug)]
pub struct RunOptions {
    pub(super) lease: Duration,
    pub(super) retention: Retention,
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) take_up: Option<OpId>,
    pub(super) wait: Option<Duration>,
    pub(super) retry: Retry,
    pub(super) record_within: Duration,
}

impl Default for RunOptions {
    /// Returns options with a lease of 30 s, results that are kept for seven days, no fingerprint, no waiting, and five
    /// minutes to record a result.
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(30),
            retention: Retention::DEFAULT,
            fingerprint: None,
            take_up: None,
            wait: None,
            retry: Retry::default(),
            record_within: Duration::from_secs(5 * 60),
        }
    }
}

impl RunOptions {
    /// Sets how long the lease lasts without an extension. It is extended after every third of this time until the
    /// result is recorded, and at once if it is [taken up](RunOptions::take_up). So it limits how long a crashed runner
    /// blocks others, not how long the work may take.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Sets how long the result is remembered.
    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Sets the fingerprint of the request: the same id with another fingerprint returns `Mismatch` (D-6), also after a
    /// crash, until the true request has run again or the store has forgotten the crashed run.
    #[must_use]
    pub fn fingerprint(mut self, fingerprint: Fingerprint) -> Self {
        self.fingerprint = Some(fingerprint);
        self
    }

    /// Begins under the runner's own name and takes up the lease that a runner of this name has on the id, *even if
    /// that runner is still at work*. Use it for a runner that is the only one with its name and comes back after a
    /// crash, such as the only worker 3. Never use it for a name that two runners may share, such as a request's
    /// idempotency key, which is the id.
    ///
    /// Without it, a crashed runner's lease lapses, and then any runner may begin. A name is good for one run of an id:
    /// after its work has failed, the run is [`Over`](crate::Ran::Over).
    #[must_use]
    pub fn take_up(mut self, runner: OpId) -> Self {
        self.take_up = Some(runner);
        self
    }

    /// Waits this long for another run to end instead of returning `InFlight` at once.
    #[must_use]
    pub fn wait(mut self, deadline: Duration) -> Self {
        self.wait = Some(deadline);
        self
    }

    /// Sets how retryable errors of the store are retried.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Sets how long to retry recording the result while the store has problems: the work is done and cannot be done
    /// again. The attempts have the pauses of the [`Retry`], but are not limited by its number of attempts. If the
    /// `Retry` has no pauses, its attempts are followed by attempts with the pauses of [`Retry::default`]. The lease is
    /// extended in the meantime.
    #[must_use]
    pub fn record_within(mut self, duration: Duration) -> Self {
        self.record_within = duration;
        self
    }
}

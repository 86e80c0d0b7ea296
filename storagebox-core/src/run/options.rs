//! How a run is gone about.

use std::time::Duration;

use crate::retry::Retry;
use crate::time::Retention;
use crate::value::{Fingerprint, OpId};

/// How [`run`](crate::run()) goes about it.
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
    /// A lease of 30 s, results kept for seven days, no fingerprint, no waiting, five minutes to record a result.
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
    /// How long the lease lasts without a sign of life. It is extended every third of it until the result is
    /// recorded, so it bounds how long a crashed runner blocks others, not how long the work may take.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// How long the result is remembered.
    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// What the request asked for: the same id with another fingerprint is `Mismatch` (D-6).
    #[must_use]
    pub fn fingerprint(mut self, fingerprint: Fingerprint) -> Self {
        self.fingerprint = Some(fingerprint);
        self
    }

    /// Begins under the runner's own name, and takes up the lease that a runner of this name has on the id, *although that
    /// one may be at work still*. It is for a runner that is alone under its name and comes back after a crash, such as
    /// the only worker 3; never for what two may have in common, such as a request's idempotency key, which is the id.
    ///
    /// Without it a crashed runner's lease lapses, and then anybody begins. A name is good for one run of an id: once its
    /// work has failed it is [`Over`](crate::Ran::Over).
    #[must_use]
    pub fn take_up(mut self, runner: OpId) -> Self {
        self.take_up = Some(runner);
        self
    }

    /// Waits this long for another's run to end instead of answering `InFlight` at once.
    #[must_use]
    pub fn wait(mut self, deadline: Duration) -> Self {
        self.wait = Some(deadline);
        self
    }

    /// How the store's retryable errors are retried.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// How long recording the result is tried while the store is in trouble: the work is done and cannot be done again.
    /// The attempts come at the pace of the [`Retry`], but do not end with its number; one that never waits between them
    /// ends with its number all the same. The lease is extended meanwhile.
    #[must_use]
    pub fn record_within(mut self, duration: Duration) -> Self {
        self.record_within = duration;
        self
    }
}

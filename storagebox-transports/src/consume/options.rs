//! The options of a loop.

use std::fmt;
use std::future::pending;
use std::pin::Pin;
use std::time::Duration;

use storagebox_core::{Outcome, ProcessError, Result, checked_duration};

use super::verdict::Policy;
use crate::delivery::Received;

/// The future that stops the loop.
type Until = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The function that is called with each message and its result.
type Observer = Box<dyn Fn(&Received, &std::result::Result<Outcome, ProcessError>) + Send + Sync>;

/// The options of [`consume`](super::consume).
#[must_use]
pub struct ConsumeOptions {
    pub(super) until: Until,
    pub(super) settings: Settings,
}

pub(super) struct Settings {
    pub(super) concurrency: usize,
    pub(super) prefetch: usize,
    pub(super) lease: Duration,
    pub(super) policy: Policy,
    pub(super) observer: Option<Observer>,
}

impl Default for ConsumeOptions {
    fn default() -> Self {
        let lease = Duration::from_secs(30);
        let policy =
            Policy { first_pause: Duration::from_secs(1), max_pause: Duration::from_secs(300), park_after: None };
        let settings = Settings { concurrency: 16, prefetch: 16, lease, policy, observer: None };
        Self { until: Box::pin(pending()), settings }
    }
}

impl ConsumeOptions {
    /// Sets how many messages are processed at once. Defaults to 16. Zero counts as one.
    pub fn concurrency(mut self, messages: usize) -> Self {
        self.settings.concurrency = messages.max(1);
        self
    }

    /// Sets how many further messages are held while they wait. Defaults to 16. With zero, a message of an entity that
    /// is being processed takes the place of a message that could run.
    pub fn prefetch(mut self, messages: usize) -> Self {
        self.settings.prefetch = messages;
        self
    }

    /// Sets how long the queue hands out a message. The loop extends the lease every third of this time. It must equal
    /// the lease of the queue itself. Defaults to 30 seconds.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` for a lease under 1 ms or over 100 years.
    pub fn lease(mut self, lease: Duration) -> Result<Self> {
        self.settings.lease = checked_duration("lease", lease)?;
        Ok(self)
    }

    /// Sets the pause before a message whose processing failed comes again. It doubles with each attempt, with jitter:
    /// each pause is from half of it to the whole. Defaults to 1 second, and to 5 minutes at the most.
    ///
    /// The attempt is the queue's hint. A wrong hint makes the pause too short or too long.
    pub fn backoff(mut self, first: Duration, max: Duration) -> Self {
        (self.settings.policy.first_pause, self.settings.policy.max_pause) = (first, max);
        self
    }

    /// Parks a message whose handler fails at this attempt or a later one. By default, a handler that fails never has
    /// its message parked. A message whose store or dispatcher failed is always retried.
    ///
    /// The attempt is the queue's hint: how often it has handed the message out, for whatever reason. Crashes, failed
    /// stores and messages that were given back count too, and some queues count wrongly after a restart. So a message
    /// may be parked early or late.
    ///
    /// A message whose worker ended `attempts + 3` times in a row while the message [ran
    /// alone](crate::Delivery::lapsed) is parked before it runs again, whatever its attempt. Without this option, the
    /// limit is 8 times.
    pub fn park_after(mut self, attempts: u32) -> Self {
        self.settings.policy.park_after = Some(attempts);
        self
    }

    /// Stops the loop when the future is ready. Then the loop takes no more messages and drops the stream. Messages
    /// that are being processed are finished. Messages that wait are given back. By default the loop ends with its
    /// stream.
    pub fn until(mut self, stop: impl Future<Output = ()> + Send + 'static) -> Self {
        self.until = Box::pin(stop);
        self
    }

    /// Calls `observer` with the result of each processed message, after its settlement. The observer runs on the
    /// loop's task, so it must not block. Messages that never reach the processor are not observed.
    pub fn observe(
        mut self,
        observer: impl Fn(&Received, &std::result::Result<Outcome, ProcessError>) + Send + Sync + 'static,
    ) -> Self {
        self.settings.observer = Some(Box::new(observer));
        self
    }
}

impl fmt::Debug for ConsumeOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { concurrency, prefetch, lease, policy, observer: _ } = &self.settings;
        f.debug_struct("ConsumeOptions")
            .field("concurrency", concurrency)
            .field("prefetch", prefetch)
            .field("lease", lease)
            .field("policy", policy)
            .finish_non_exhaustive()
    }
}

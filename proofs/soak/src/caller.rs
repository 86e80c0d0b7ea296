//! One caller of a store. It repeats every call until it is answered.

use std::sync::Arc;
use std::time::Duration;

use storagebox::Result;
use tokio::time::{Instant, sleep, timeout};

use crate::tally::Tally;

/// The time for which the stores remember ended operations.
pub(crate) const MEMORY: Duration = Duration::from_secs(60);
/// The maximum duration of a call with all its retries, which must be less than [`MEMORY`].
const CALL_TIMEOUT: Duration = Duration::from_secs(45);
/// The pause before a failed call is retried.
const PAUSE: Duration = Duration::from_millis(20);
/// One in this number of calls is dropped while it is in progress.
const DROPPED: u32 = 8;
/// The maximum duration of a call that is dropped.
const UNTIL_DROPPED: Duration = Duration::from_millis(4);

/// The description of a broken promise.
pub(crate) type Wrong = String;

/// A caller of a store, which creates ids that begin with `name`.
pub(crate) struct Caller {
    pub(crate) name: String,
    pub(crate) tally: Arc<Tally>,
    serial: u64,
}

impl Caller {
    pub(crate) fn new(number: usize, tally: &Arc<Tally>) -> Self {
        Self { name: format!("soak-{number}"), tally: Arc::clone(tally), serial: 0 }
    }

    /// Returns a unique id.
    pub(crate) fn fresh(&mut self) -> String {
        self.serial += 1;
        format!("{}-{}", self.name, self.serial)
    }

    /// Returns a random id out of `names` ids.
    pub(crate) fn again(&self, names: u32) -> String {
        format!("{}-again-{}", self.name, fastrand::u32(..names))
    }

    /// Makes a call with retries, for at most [`CALL_TIMEOUT`]. Drops some of the attempts on purpose.
    pub(crate) async fn answer<T, F>(&self, what: &str, call: impl Fn() -> F + Sync) -> Result<T, Wrong>
    where
        F: IntoFuture<Output = Result<T>, IntoFuture: Send> + Send,
    {
        let begun = Instant::now();
        while begun.elapsed() < CALL_TIMEOUT {
            match self.attempt(&call).await {
                None => self.tally.dropped(),
                Some(Ok(answer)) => {
                    self.tally.answered();
                    return Ok(answer);
                }
                Some(Err(error)) if error.is_retryable() => {
                    self.tally.failed();
                    sleep(PAUSE).await;
                }
                Some(Err(error)) => return Err(format!("{what}: {error}")),
            }
        }
        Err(format!("{what} was not answered within {CALL_TIMEOUT:?}"))
    }

    async fn attempt<T, F>(&self, call: &(impl Fn() -> F + Sync)) -> Option<Result<T>>
    where
        F: IntoFuture<Output = Result<T>, IntoFuture: Send> + Send,
    {
        match fastrand::u32(..DROPPED) {
            0 => timeout(UNTIL_DROPPED.mul_f64(fastrand::f64()), call()).await.ok(),
            _ => Some(call().await),
        }
    }
}

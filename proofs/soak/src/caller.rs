//! One caller of a store, which makes every call until it is answered.

use std::sync::Arc;
use std::time::Duration;

use storagebox::Result;
use tokio::time::{Instant, sleep, timeout};

use crate::tally::Tally;

/// How long what is over is remembered.
pub(crate) const MEMORY: Duration = Duration::from_secs(60);
/// The longest that a call may take with all its repetitions: less than what it did is remembered.
const PATIENCE: Duration = Duration::from_secs(45);
/// Until a server may be there again.
const PAUSE: Duration = Duration::from_millis(20);
/// One call in so many is dropped on its way.
const DROPPED: u32 = 8;
/// The latest moment at which it is.
const UNTIL_DROPPED: Duration = Duration::from_millis(4);

/// What is not as it was promised.
pub(crate) type Wrong = String;

/// One caller, whose ids begin with its name.
pub(crate) struct Caller {
    pub(crate) name: String,
    pub(crate) tally: Arc<Tally>,
    /// Of everything that never comes back.
    serial: u64,
}

impl Caller {
    pub(crate) fn new(number: usize, tally: &Arc<Tally>) -> Self {
        Self { name: format!("soak-{number}"), tally: Arc::clone(tally), serial: 0 }
    }

    /// A name that nothing had before.
    pub(crate) fn fresh(&mut self) -> String {
        self.serial += 1;
        format!("{}-{}", self.name, self.serial)
    }

    /// One of so many names, which come back.
    pub(crate) fn again(&self, names: u32) -> String {
        format!("{}-again-{}", self.name, fastrand::u32(..names))
    }

    /// Makes a call until it is answered; some are dropped on their way.
    pub(crate) async fn answer<T, F>(&self, what: &str, call: impl Fn() -> F + Sync) -> Result<T, Wrong>
    where
        F: IntoFuture<Output = Result<T>, IntoFuture: Send> + Send,
    {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
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
        Err(format!("{what} was not answered within {PATIENCE:?}"))
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

//! Calls that fail at random: the request is lost, or the reply, or the store asks to slow down.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fastrand::Rng;
use storagebox::layer::{Call, Layer, Next, Response};
use storagebox::{Error, ErrorKind, Result, async_trait};

/// A layer that fails calls at random, as a bad network does. The same seed causes the same failures.
#[derive(Debug)]
pub(crate) struct Chance {
    percent: u8,
    random: Mutex<Rng>,
    faults: Arc<Faults>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Passes,
    RequestLost,
    ReplyLost,
    Throttled,
}

impl Chance {
    pub(crate) fn new(percent: u8, seed: u64, faults: Arc<Faults>) -> Self {
        Self { percent, random: Mutex::new(Rng::with_seed(seed)), faults }
    }

    fn fate(&self) -> Fate {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        match random.u8(0..100) {
            number if number >= self.percent => Fate::Passes,
            _ => [Fate::RequestLost, Fate::ReplyLost, Fate::Throttled][random.usize(0..3)],
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) requests_lost: AtomicU64,
    pub(crate) replies_lost: AtomicU64,
    pub(crate) throttled: AtomicU64,
}

impl Faults {
    pub(crate) fn total(&self) -> u64 {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        load(&self.requests_lost) + load(&self.replies_lost) + load(&self.throttled)
    }
}

#[async_trait]
impl Layer for Chance {
    async fn call(&self, _: &Call<'_>, next: Next<'_>) -> Result<Response> {
        match self.fate() {
            Fate::Passes => next.run().await,
            Fate::RequestLost => {
                self.faults.requests_lost.fetch_add(1, Ordering::Relaxed);
                Err(Error::new(ErrorKind::Unavailable, "the demo lost the request"))
            }
            Fate::Throttled => {
                self.faults.throttled.fetch_add(1, Ordering::Relaxed);
                Err(Error::new(ErrorKind::Throttled, "the demo asks to slow down"))
            }
            Fate::ReplyLost => {
                let _lost = next.run().await?;
                self.faults.replies_lost.fetch_add(1, Ordering::Relaxed);
                Err(Error::unknown("the demo lost the reply"))
            }
        }
    }
}

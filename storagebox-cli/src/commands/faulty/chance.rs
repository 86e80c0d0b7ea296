//! A bank whose calls fail at random: the request is lost, or the reply, or the store asks to slow down.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fastrand::Rng;
use storagebox::{
    Added, ClaimId, ClaimState, Confirmed, Counts, Error, ErrorKind, Extended, Hold, Item, Released, Result,
    Taken, async_trait, parts::ItemBank,
};

/// How often a call fails, by random numbers that a seed repeats.
#[derive(Debug)]
pub(crate) struct Chance {
    percent: u8,
    random: Mutex<Rng>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Passes,
    RequestLost,
    ReplyLost,
    Throttled,
}

impl Chance {
    pub(crate) fn new(percent: u8, seed: u64) -> Self {
        Self { percent, random: Mutex::new(Rng::with_seed(seed)) }
    }

    fn fate(&self) -> Fate {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        match random.u8(0..100) {
            number if number >= self.percent => Fate::Passes,
            _ => [Fate::RequestLost, Fate::ReplyLost, Fate::Throttled][random.usize(0..3)],
        }
    }
}

/// How many calls failed, and how.
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

/// A bank behind a bad network.
pub(crate) struct ChanceBank {
    inner: Arc<dyn ItemBank>,
    chance: Chance,
    faults: Arc<Faults>,
}

impl ChanceBank {
    pub(crate) fn new(inner: Arc<dyn ItemBank>, chance: Chance, faults: Arc<Faults>) -> Self {
        Self { inner, chance, faults }
    }

    async fn call<T>(&self, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        match self.chance.fate() {
            Fate::Passes => call.await,
            Fate::RequestLost => {
                self.faults.requests_lost.fetch_add(1, Ordering::Relaxed);
                Err(Error::new(ErrorKind::Unavailable, "the demo lost the request"))
            }
            Fate::Throttled => {
                self.faults.throttled.fetch_add(1, Ordering::Relaxed);
                Err(Error::new(ErrorKind::Throttled, "the demo asks to slow down"))
            }
            Fate::ReplyLost => {
                call.await?;
                self.faults.replies_lost.fetch_add(1, Ordering::Relaxed);
                Err(Error::unknown("the demo lost the reply"))
            }
        }
    }
}

#[async_trait]
impl ItemBank for ChanceBank {
    async fn add(&self, items: &[Item]) -> Result<Added> {
        self.call(self.inner.add(items)).await
    }

    async fn take(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        self.call(self.inner.take(claim, hold)).await
    }

    async fn extend(&self, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        self.call(self.inner.extend(claim, hold)).await
    }

    async fn confirm(&self, claim: &ClaimId) -> Result<Confirmed> {
        self.call(self.inner.confirm(claim)).await
    }

    async fn release(&self, claim: &ClaimId) -> Result<Released> {
        self.call(self.inner.release(claim)).await
    }

    async fn get(&self, claim: &ClaimId) -> Result<ClaimState> {
        self.call(self.inner.get(claim)).await
    }

    async fn counts(&self) -> Result<Counts> {
        self.call(self.inner.counts()).await
    }
}

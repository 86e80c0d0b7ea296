//! A layer whose every call waits until a scheduler lets it go on.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use async_trait::async_trait;
use storagebox_core::layer::{Answered, Call, Kind, Layer, Next};
use storagebox_core::{Error, Result};

/// A request that lands when the scheduler says so.
type Landing = Pin<Box<dyn Future<Output = Result<Answered>> + Send>>;

/// How a call goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// It lands, and its caller hears the answer.
    Go,
    /// It lands later, and its caller is told that the outcome is unknown.
    Late,
    /// It lands now, and once more later.
    Double,
    /// It lands now, its answer is lost, and it is made again later by what its caller calls through.
    Repeat,
}

impl Permit {
    /// What can go wrong with a request.
    pub const FAULTS: [Self; 3] = [Self::Late, Self::Double, Self::Repeat];
}

/// The call that waits.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Its short name.
    pub operation: &'static str,
    /// Whether it may change anything.
    pub writes: bool,
}

/// Where one worker waits. What lands late is the same for all workers.
#[derive(Clone, Default)]
pub struct Gate {
    slot: Arc<Mutex<Slot>>,
    late: Arc<Mutex<Vec<(&'static str, Landing)>>>,
}

#[derive(Default)]
struct Slot {
    asked: Option<Asked>,
    permit: Option<Permit>,
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gate")
    }
}

impl Gate {
    /// A gate of another worker.
    #[must_use]
    pub fn another(&self) -> Self {
        Self { slot: Arc::default(), late: Arc::clone(&self.late) }
    }

    /// Waits for the scheduler.
    pub async fn pass(&self, operation: &'static str, writes: bool) -> Permit {
        lock(&self.slot).asked = Some(Asked { operation, writes });
        let permit = poll_fn(|_| lock(&self.slot).permit.take().map_or(Poll::Pending, Poll::Ready)).await;
        lock(&self.slot).asked = None;
        permit
    }

    pub(crate) fn asked(&self) -> Option<Asked> {
        lock(&self.slot).asked
    }

    pub(crate) fn permit(&self, permit: Permit) {
        lock(&self.slot).permit = Some(permit);
    }

    /// Forgets who waited: a worker that crashed.
    pub(crate) fn clear(&self) {
        *lock(&self.slot) = Slot::default();
    }

    /// How many requests are still to land.
    pub(crate) fn late(&self) -> usize {
        lock(&self.late).len()
    }

    pub(crate) fn take_late(&self, index: usize) -> (&'static str, Landing) {
        lock(&self.late).remove(index)
    }
}

#[async_trait]
impl Layer for Gate {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        let permit = self.pass(call.operation, call.kind != Kind::Read).await;
        if permit == Permit::Repeat {
            let _lost = next.call().await;
            self.pass(call.operation, true).await;
            return next.call().await;
        }
        if permit != Permit::Go {
            lock(&self.late).push((call.operation, Box::pin(next.detached())));
        }
        if permit == Permit::Late {
            return Err(Error::unknown("the reply was lost"));
        }
        next.call().await
    }
}

/// Locks what no panic leaves half done.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! A layer in which every call waits until a scheduler permits it.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use async_trait::async_trait;
use storagebox_core::layer::{Call, Kind, Layer, Next, Response};
use storagebox_core::{Error, Result};

/// A late request, which is applied when the scheduler polls this future.
type Landing = Pin<Box<dyn Future<Output = Result<Response>> + Send>>;

/// How the scheduler lets a call continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// The request is applied, and its caller gets the answer.
    Go,
    /// The request is applied later, and its caller now gets an error with an unknown outcome.
    Late,
    /// The request is applied now, and once more later.
    Double,
    /// The request is applied now and repeated later. The caller gets only the answer to the repetition.
    Repeat,
}

impl Permit {
    /// The faults of a request.
    pub const FAULTS: [Self; 3] = [Self::Late, Self::Double, Self::Repeat];
}

/// The call that waits at a gate.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The operation's name.
    pub operation: &'static str,
    /// Whether the call may change anything.
    pub writes: bool,
}

/// The gate at which the calls of one worker wait. The gates of all workers share one list of late requests.
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
    /// Creates a gate for another worker, with the same list of late requests.
    #[must_use]
    pub fn another(&self) -> Self {
        Self { slot: Arc::default(), late: Arc::clone(&self.late) }
    }

    /// Waits until the scheduler permits the call.
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

    /// Removes the waiting call, after the worker has crashed.
    pub(crate) fn clear(&self) {
        *lock(&self.slot) = Slot::default();
    }

    /// Returns the number of late requests that are not yet applied.
    pub(crate) fn late(&self) -> usize {
        lock(&self.late).len()
    }

    pub(crate) fn take_late(&self, index: usize) -> (&'static str, Landing) {
        lock(&self.late).remove(index)
    }
}

#[async_trait]
impl Layer for Gate {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let permit = self.pass(call.operation(), call.kind() != Kind::Read).await;
        if permit == Permit::Repeat {
            let _lost = next.run().await;
            self.pass(call.operation(), true).await;
            return next.run().await;
        }
        if permit != Permit::Go {
            lock(&self.late).push((call.operation(), Box::pin(next.detached())));
        }
        if permit == Permit::Late {
            return Err(Error::unknown("the reply was lost"));
        }
        next.run().await
    }
}

/// Locks a mutex whose data no panic leaves inconsistent.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

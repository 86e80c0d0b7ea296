//! A layer whose every call waits until the scheduler lets it go on.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use async_trait::async_trait;
use storagebox_core::layer::{Answered, Call, Kind, Layer, Next};
use storagebox_core::{Error, Result};

use crate::mutants::Mutant;

type Landing = Pin<Box<dyn Future<Output = Result<Answered>> + Send>>;

/// How a call goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permit {
    Go,
    /// It lands later, and its caller is told that the outcome is unknown.
    Late,
    /// It lands now, and once more later.
    Double,
    /// It lands now, its answer is lost, and it is made again later by what its caller calls through.
    Repeat,
}

impl Permit {
    pub(crate) const FAULTS: [Self; 3] = [Self::Late, Self::Double, Self::Repeat];
}

/// Where one worker waits. What lands late is the same for all workers.
#[derive(Clone, Default)]
pub(crate) struct Gate {
    slot: Arc<Mutex<Slot>>,
    late: Arc<Mutex<Vec<(&'static str, Landing)>>>,
    mutant: Option<Mutant>,
}

#[derive(Default)]
struct Slot {
    asked: Option<Asked>,
    permit: Option<Permit>,
}

/// The call that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) operation: &'static str,
    pub(crate) writes: bool,
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gate")
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gate {
    pub(crate) fn new(mutant: Option<Mutant>) -> Self {
        Self { mutant, ..Self::default() }
    }

    /// A gate of another worker.
    pub(crate) fn another(&self) -> Self {
        Self { slot: Arc::default(), ..self.clone() }
    }

    pub(crate) fn late(&self) -> MutexGuard<'_, Vec<(&'static str, Landing)>> {
        lock(&self.late)
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

    /// Waits for the scheduler.
    async fn pass(&self, operation: &'static str, writes: bool) -> Permit {
        lock(&self.slot).asked = Some(Asked { operation, writes });
        let permit = poll_fn(|_| lock(&self.slot).permit.take().map_or(Poll::Pending, Poll::Ready)).await;
        lock(&self.slot).asked = None;
        permit
    }

    async fn made(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        match self.mutant {
            Some(mutant) => mutant.answer(call, next).await,
            None => next.call().await,
        }
    }
}

#[async_trait]
impl Layer for Gate {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        let permit = self.pass(call.operation, call.kind != Kind::Read).await;
        if permit == Permit::Repeat {
            let _lost = self.made(call, next).await;
            self.pass(call.operation, true).await;
            return self.made(call, next).await;
        }
        if permit != Permit::Go {
            self.late().push((call.operation, Box::pin(next.detached())));
        }
        if permit == Permit::Late {
            return Err(Error::unknown("the reply was lost"));
        }
        self.made(call, next).await
    }
}

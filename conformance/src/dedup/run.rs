//! One run per id: D-8.

pub(super) mod ambiguous;
pub(super) mod cancel;
pub(super) mod concurrent;
pub(super) mod ends;
mod refusing;
pub(super) mod sequential;
mod timer;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use storagebox_core::{DedupId, Fence, Payload, Ran, Retention, Retry, RunError, RunOptions, run};

use self::timer::StoreTimer;
use super::Repos;
use crate::failure::Failure;
use crate::world::World;

/// Returns how long the lease of a run lasts.
fn lease(world: &World) -> Duration {
    // On a real clock, the lease must outlast a slow moment of the machine.
    world.short() * 3
}

/// Returns options under which results are kept forever and retries do not pause.
fn options(world: &World) -> RunOptions {
    let retry = Retry { attempts: 100, first_delay: Duration::ZERO, max_delay: Duration::ZERO };
    RunOptions::default().lease(lease(world)).retention(Retention::Forever).retry(retry)
}

/// Calls `run` and turns its error into a `Failure`.
async fn run_well<F, Fut>(
    repos: &Repos,
    timer: &StoreTimer,
    id: &DedupId,
    options: &RunOptions,
    work: F,
) -> Result<Ran, Failure>
where
    F: FnOnce(Fence) -> Fut + Send,
    Fut: Future<Output = Result<Payload, Failure>> + Send,
{
    run(&*repos.leases, timer, id, options, work).await.map_err(|error| match error {
        RunError::Store(error) => error.into(),
        RunError::Work(failure) => failure.during("the work"),
    })
}

#[derive(Clone, Default)]
struct Tally {
    begun: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

impl Tally {
    fn begin(&self) {
        self.begun.fetch_add(1, Ordering::SeqCst);
    }

    fn end(&self) {
        self.ended.fetch_add(1, Ordering::SeqCst);
    }

    fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }

    fn ended(&self) -> usize {
        self.ended.load(Ordering::SeqCst)
    }

    /// Does work that finishes at once.
    async fn work(&self, result: &str) -> Result<Payload, Failure> {
        self.begin();
        let result = super::text(result)?;
        self.end();
        Ok(result)
    }
}

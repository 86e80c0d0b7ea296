//! Runs single cases against one harness.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tokio::runtime::{Builder, Runtime};

use crate::case::{Basis, Case};
use crate::failure::Failure;
use crate::harness::{Harness, WITHOUT};
use crate::part::Family;
use crate::progress::{Watch, bounded};
use crate::stop::Over;
use crate::world::{Profile, World};

/// The outcome of a case.
#[derive(Debug)]
pub enum Outcome {
    /// The backend keeps the promise that the case tests.
    Passed,
    /// The case was not run, because the backend does not declare what the case needs.
    Ignored(String),
    /// The backend breaks the promise, or the case could not be run to its end.
    Failed(Failure),
}

/// Runs single cases against one harness.
pub struct Runner {
    harness: Arc<dyn Harness>,
    runtime: Runtime,
    profile: Profile,
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("harness", &self.harness.name()).finish_non_exhaustive()
    }
}

impl Runner {
    /// Creates a runner with its own threads.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if it cannot create threads.
    pub fn new(harness: impl Harness, profile: Profile) -> std::io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build()?;
        Ok(Self { harness: Arc::new(harness), runtime, profile })
    }

    /// Runs one case in a new world. Must not be called from inside a runtime.
    pub fn run(&self, case: &Case, seed: u64) -> Outcome {
        self.runtime.block_on(self.outcome(case, seed, &Over::never()))
    }

    /// Runs one case, and drops it if it has not ended when the run is over.
    pub(crate) fn run_until(&self, over: &Over, case: &Case, seed: u64) -> Option<Outcome> {
        self.runtime.block_on(over.or(self.outcome(case, seed, over)))
    }

    /// Runs one case as `run_until` does. Ends the process if the case blocks its thread.
    pub(crate) fn run_watched(&self, over: &Over, case: &Case, seed: u64) -> Option<Outcome> {
        let watch = Watch::begin(&self.runtime, case.name());
        self.runtime.block_on(watch.over(over.or(self.outcome(case, seed, over))))
    }

    async fn outcome(&self, case: &Case, seed: u64, over: &Over) -> Outcome {
        if let Some(reason) = case.ignored_by(&self.harness.declared()) {
            return Outcome::Ignored(reason);
        }
        self.attempt(case, seed, over).await.unwrap_or_else(Outcome::Failed)
    }

    async fn attempt(&self, case: &Case, seed: u64, over: &Over) -> Result<Outcome, Failure> {
        let Some(world) = self.world(case, seed, over).await.map_err(Failure::before_the_case)? else {
            return Ok(Outcome::Ignored(format!("{WITHOUT}a clock that the suite can move")));
        };
        let run = AssertUnwindSafe(case.run(&world)).catch_unwind();
        let outcome = bounded(run).await?;
        outcome.unwrap_or_else(|_| Err(Failure::unfinished("the case panicked; the message is above")))?;
        Ok(Outcome::Passed)
    }

    /// Creates the world of the case. Returns `None` if the world has no clock for a case that moves one.
    async fn world(&self, case: &Case, seed: u64, over: &Over) -> storagebox_core::Result<Option<World>> {
        let harness = Arc::clone(&self.harness);
        let sandbox = match case.family() {
            Family::Crash => harness.fresh_alone().await?,
            _ => harness.fresh().await?,
        };
        if case.rests_on(Basis::Clock) && sandbox.clock().is_none() {
            return Ok(None);
        }
        World::of(harness, sandbox, seed, self.profile, over.clone()).await.map(Some)
    }
}

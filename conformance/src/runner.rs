//! Runs single cases against one harness.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tokio::runtime::{Builder, Runtime};

use crate::case::Case;
use crate::failure::Failure;
use crate::harness::Harness;
use crate::part::Family;
use crate::progress::bounded;
use crate::world::{Profile, World};

/// What became of a case.
#[derive(Debug)]
pub enum Outcome {
    /// It held.
    Passed,
    /// It was not run, because the backend does not claim what it needs.
    Ignored(String),
    /// It did not hold.
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
    /// A runner with threads of its own.
    ///
    /// # Errors
    ///
    /// The operating system's, if it has no threads to give.
    pub fn new(harness: impl Harness, profile: Profile) -> std::io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build()?;
        Ok(Self { harness: Arc::new(harness), runtime, profile })
    }

    /// Runs one case in a world of its own. Must not be called from inside a runtime.
    pub fn run(&self, case: &Case, seed: u64) -> Outcome {
        if let Some(reason) = case.ignored_by(&self.harness.declared()) {
            return Outcome::Ignored(reason.to_owned());
        }
        match self.runtime.block_on(self.verdict(case, seed)) {
            Ok(()) => Outcome::Passed,
            Err(failure) => Outcome::Failed(failure),
        }
    }

    async fn verdict(&self, case: &Case, seed: u64) -> Result<(), Failure> {
        let world = match case.family() {
            Family::Crash => World::alone(Arc::clone(&self.harness), seed, self.profile).await?,
            _ => World::fresh(Arc::clone(&self.harness), seed, self.profile).await?,
        };
        let run = AssertUnwindSafe(case.run(&world)).catch_unwind();
        let outcome = bounded(run).await?;
        outcome.unwrap_or_else(|_| Err(Failure::new("something panicked; the message is above")))
    }
}

//! One run for each id, its result replayed to everyone (D-8).

mod options;
mod result;
mod runner;
mod to_end;

use std::panic::resume_unwind;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::lease_repo::{Begun, Fence, LeaseRepo};
use crate::race::{First, first_of};
use crate::time::Timer;
use crate::value::{DedupId, Payload};

pub use options::RunOptions;
pub use to_end::run_to_end;

use runner::{Runner, to_its_end};

/// What became of a [`run`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the work may not have been done"]
pub enum Ran {
    /// The work was done here and now; this is its result, recorded.
    Done(Payload),
    /// It was done before; this is the recorded result.
    Replayed(Payload),
    /// The work was done, here and now or before, and will not be done again; its result is longer than a payload may
    /// be and was not kept.
    NotKept {
        /// How long it was.
        bytes: u64,
    },
    /// Another is at it.
    InFlight {
        /// What is left of its lease.
        remaining: Duration,
    },
    /// The id was used with another fingerprint.
    Mismatch,
    /// The lease lapsed and another has begun: the work was dropped, or its result was not recorded.
    Fenced,
    /// The run that was to be [taken up](RunOptions::take_up) is over: its work failed, or its result was forgotten or has
    /// expired. Nothing was done here; run again without its name, or under another one.
    Over,
}

/// Why a [`run`] failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E> {
    /// The store failed; run again.
    #[error(transparent)]
    Store(#[from] Error),
    /// The work failed. Nothing is remembered of it (D-7), so it may be run again at once.
    #[error("the work failed: {0}")]
    Work(E),
}

/// Runs the work once for the id and records its result, or answers the recorded one.
///
/// The id is what a request is known by: its idempotency key, the invoice, the message. Every run is its own operation,
/// so of two runs of one id, however alike, one works and the other is `InFlight`, or waits.
///
/// The work answers with bytes of any sort: a [`Payload`], a `Vec<u8>`, a `String`. It need not check their length: work that
/// was done is done, so a result that is too long is recorded as [`NotKept`](Ran::NotKept) and never done again. In the
/// [`DedupRepo`](crate::DedupRepo) of the same name its value is a text that says so and begins with U+0000.
///
/// # Guarantees
///
/// - D-8: at most one live lease and one recorded result, replayed to everyone. The lease is extended until the result is
///   recorded, and the work is dropped when another has begun. After a lapse two runs may therefore overlap:
///   hand the [`Fence`] to whatever must refuse the older one.
/// - D-7: a failure of the work is not remembered. Work that panics has failed: its lease is given back, and then the
///   panic goes on.
///
/// A lease that cannot be extended for a while is no reason to end the work: the trouble is told as a warning (`tracing`),
/// and the next sign of life comes sooner.
///
/// # Cancel safety
///
/// Dropping the future drops the work and leaves the lease to lapse; run again after that. Where callers go away, as
/// clients of a web server do, use [`run_to_end`].
///
/// # Errors
///
/// [`RunError::Work`] is the work's own. [`RunError::Store`] with the certainty `Unknown` means that the work may have been
/// done; after the work it is never `NotApplied` (ER-1), whatever kept its result from being recorded.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use storagebox::{DedupId, Error, MemoryStore, Payload, Ran, RunOptions, TokioTimer, parts::{BackendExt, run}};
///
/// let jobs = MemoryStore::new().leases("jobs")?;
/// let id = DedupId::new("invoice-7")?;
/// let send = async |_fence| Ok::<_, Error>("sent");
///
/// let first = run(&jobs, &TokioTimer, &id, &RunOptions::default(), send).await?;
/// let second = run(&jobs, &TokioTimer, &id, &RunOptions::default(), send).await?;
/// assert_eq!(first, Ran::Done(Payload::try_from("sent")?));
/// assert_eq!(second, Ran::Replayed(Payload::try_from("sent")?));
/// # Ok(()) }
/// ```
pub async fn run<F, Fut, T, E>(
    repo: &dyn LeaseRepo,
    timer: &dyn Timer,
    id: &DedupId,
    options: &RunOptions,
    work: F,
) -> Result<Ran, RunError<E>>
where
    F: FnOnce(Fence) -> Fut + Send,
    Fut: Future<Output = Result<T, E>> + Send,
    T: Into<Bytes>,
{
    let runner = Runner { repo, timer, options };
    let lease = match runner.begin(id).await? {
        Begun::Started(lease) => lease,
        Begun::Done(entry) => return Ok(result::told(entry.value, Ran::Replayed)),
        Begun::InFlight { remaining } => return Ok(Ran::InFlight { remaining }),
        Begun::Mismatch => return Ok(Ran::Mismatch),
        Begun::Fenced => return Ok(Ran::Over),
    };
    let fence = lease.fence;
    let worked = to_its_end(async move { work(fence).await.map(Into::into) });
    let failed = {
        let mut alive = pin!(runner.keep_alive(&lease));
        match first_of(worked, alive.as_mut()).await {
            First::Left(Ok(Ok(result))) => return Ok(runner.record(&lease, result, alive).await?),
            First::Left(Ok(Err(failure))) => Ok(failure),
            First::Left(Err(panic)) => Err(panic),
            First::Right(()) => return Ok(Ran::Fenced),
        }
    };
    // A sign of life that was under way is dropped here: it may hold the very thing that giving back waits for.
    runner.give_back(&lease).await;
    match failed {
        Ok(failure) => Err(RunError::Work(failure)),
        Err(panic) => resume_unwind(panic),
    }
}

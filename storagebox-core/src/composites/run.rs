//! One run per id; its result is replayed to every caller (D-8).

mod background;
mod options;
mod result;
mod runner;
mod to_end;

use std::panic::resume_unwind;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_channel::oneshot;

use crate::backend::race::{First, first_of};
use crate::contract::lease_repo::{Begun, Fence, LeaseRepo};
use crate::values::error::{Error, Result};
use crate::values::time::Timer;
use crate::values::value::{DedupId, Payload};

pub use background::run_with_heartbeat;
pub use options::RunOptions;
pub use to_end::run_to_end;

use runner::{Heartbeat, Runner, Within, to_its_end};

/// The outcome of a [`run`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the work may not have been done"]
pub enum Ran {
    /// This call did the work; this is its recorded result.
    Done(Payload),
    /// The work was done before; this is the recorded result.
    Replayed(Payload),
    /// The work was done, by this call or before, and will not be done again. Its result is longer than a payload may
    /// be and was not kept.
    NotKept {
        /// The length of the result.
        bytes: u64,
    },
    /// Another runner is doing the work.
    InFlight {
        /// The remaining time of the other runner's lease.
        remaining: Duration,
    },
    /// The id was used with another fingerprint.
    Mismatch,
    /// The lease lapsed and another runner has begun: the work was dropped, or its result was not recorded.
    Fenced,
    /// The run to be [taken up](RunOptions::take_up) is over: its work failed, or its result was forgotten or has
    /// expired. This call did nothing; run again without the runner's name, or with another name.
    Over,
}

/// Why a [`run`] failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E> {
    /// The store failed; run again.
    #[error(transparent)]
    Store(#[from] Error),
    /// The work failed. The failure is not remembered (D-7), so the work may be run again at once.
    #[error("the work failed: {0}")]
    Work(E),
}

/// Runs the work once for the id and records its result, or returns the recorded result.
///
/// The id identifies the request: its idempotency key, the invoice, the message. Every run is a separate operation, so
/// of two runs of one id, however similar, one does the work and the other is `InFlight`, or waits.
///
/// The work is done *at least* once and its result is recorded once. A runner that is killed in the middle of the work
/// leaves open what the work has done, and the next run does it again: pass the id to outside systems as their
/// idempotency key. An id that customers choose must be scoped by the customer, as in `customer-7:key`, or one customer
/// gets the result of another.
///
/// The work returns any bytes: a [`Payload`], a `Vec<u8>`, a `String`. For other types use `Payload::json` (feature
/// `json`). It does not need to check their length: finished work is not repeated, so a result that is too long is
/// recorded as [`NotKept`](Ran::NotKept) and the work is never done again. In the deduplication records of the same
/// name, the value of such a record is a text that says so and begins with U+0000.
///
/// # Guarantees
///
/// - D-8: at most one live lease and one recorded result, which is replayed to every caller. The lease is extended
///   until the result is recorded, and the work is dropped when another runner has begun. After a lapse two runs may
///   therefore overlap: pass the [`Fence`] to every system that must refuse the older run.
/// - D-7: a failure of the work is not remembered. Work that panics has failed: its lease is aborted, and then the
///   panic continues.
///
/// The heartbeat that extends the lease is part of the future. It stops while the work blocks its thread; then the
/// lease lapses and another run may begin. Move blocking work to another thread, or use [`run_with_heartbeat`] on a
/// runtime with several threads.
///
/// If the lease cannot be extended for a while, the work goes on: the problem is logged as a warning (`tracing`), and
/// the next attempt to extend comes sooner.
///
/// # Cancel safety
///
/// Dropping the future drops the work and leaves the lease to lapse; run again after that. If callers may disappear, as
/// the clients of a web server do, use [`run_to_end`].
///
/// # Errors
///
/// [`RunError::Work`] is the error of the work. [`RunError::Store`] with the certainty `Unknown` means that the work
/// may have been done. After the work the certainty is never `NotApplied` (ER-1), for whatever reason the result was
/// not recorded.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use storagebox::parts::RunOptions;
/// use storagebox::time::TokioTimer;
/// use storagebox::values::DedupId;
/// use storagebox::{Error, MemoryStore, Payload, Ran, parts::{Backend, run}};
///
/// let jobs = MemoryStore::new().lease_repo(&"jobs".parse()?)?;
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
    through(&Runner { repo, timer, options }, id, Within, work).await
}

/// Runs the work while the heartbeat keeps the lease alive.
async fn through<F, Fut, T, E>(
    runner: &Runner<'_>,
    id: &DedupId,
    heartbeat: impl Heartbeat,
    work: F,
) -> Result<Ran, RunError<E>>
where
    F: FnOnce(Fence) -> Fut + Send,
    Fut: Future<Output = Result<T, E>> + Send,
    T: Into<Bytes>,
{
    let (begun, age) = runner.begin(id).await?;
    let lease = match begun {
        Begun::Started(lease) => lease,
        Begun::Done(entry) => return Ok(result::to_ran(entry.value, Ran::Replayed)),
        Begun::InFlight { remaining } => return Ok(Ran::InFlight { remaining }),
        Begun::Mismatch => return Ok(Ran::Mismatch),
        Begun::Fenced => return Ok(Ran::Over),
    };
    let fence = lease.fence;
    let (begins, may_begin) = oneshot::channel();
    let worked = to_its_end(async move {
        // If the heartbeat could not begin, the work begins without it.
        let _begun = may_begin.await;
        work(fence).await.map(Into::into)
    });
    let failed = {
        let mut alive = pin!(heartbeat.keep_alive(runner, &lease, age, begins));
        match first_of(worked, alive.as_mut()).await {
            First::Left(Ok(Ok(result))) => return Ok(runner.record(&lease, result, alive).await?),
            First::Left(Ok(Err(failure))) => Ok(failure),
            First::Left(Err(panic)) => Err(panic),
            First::Right(()) => return Ok(Ran::Fenced),
        }
    };
    // A heartbeat in progress is dropped before this line: it may hold a resource that `give_back` waits for.
    runner.give_back(&lease).await;
    match failed {
        Ok(failure) => Err(RunError::Work(failure)),
        Err(panic) => resume_unwind(panic),
    }
}

//! One run for each id, its result replayed to everyone (D-8).

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::ids::{Ids, RandomIds};
use crate::lease_repo::{Begun, Completed, Fence, Lease, LeaseExtended, LeaseRepo};
use crate::retry::Retry;
use crate::time::{Retention, Timer, checked_duration};
use crate::value::{DedupId, Fingerprint, OpId, Payload};

/// The longest wait between two looks at another's lease.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// How [`run`] goes about it.
#[derive(Clone, Debug)]
pub struct RunOptions {
    lease: Duration,
    retention: Retention,
    fingerprint: Option<Fingerprint>,
    op: Option<OpId>,
    wait: Option<Duration>,
    retry: Retry,
}

impl Default for RunOptions {
    /// A lease of 30 s, results kept for seven days, no fingerprint, no waiting.
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(30),
            retention: Retention::DEFAULT,
            fingerprint: None,
            op: None,
            wait: None,
            retry: Retry::default(),
        }
    }
}

impl RunOptions {
    /// How long the lease lasts without a sign of life. It is extended every third of it while the work goes on,
    /// so it bounds how long a crashed runner blocks others, not how long the work may take.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// How long the result is remembered.
    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// What the request asked for: the same id with another fingerprint is `Mismatch` (D-6).
    #[must_use]
    pub fn fingerprint(mut self, fingerprint: Fingerprint) -> Self {
        self.fingerprint = Some(fingerprint);
        self
    }

    /// The runner's own name, for one that must get its lease back after a crash; fresh for each run otherwise.
    #[must_use]
    pub fn op(mut self, op: OpId) -> Self {
        self.op = Some(op);
        self
    }

    /// Waits this long for another's run to end instead of answering `InFlight` at once.
    #[must_use]
    pub fn wait(mut self, deadline: Duration) -> Self {
        self.wait = Some(deadline);
        self
    }

    /// How the store's retryable errors are retried.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }
}

/// What became of a [`run`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ran {
    /// The work was done here and now; this is its result, recorded.
    Done(Payload),
    /// It was done before; this is the recorded result.
    Replayed(Payload),
    /// Another is at it.
    InFlight {
        /// What is left of its lease.
        remaining: Duration,
    },
    /// The id was used with another fingerprint.
    Mismatch,
    /// The lease lapsed and another has begun: the work was dropped, or its result was not recorded.
    Fenced,
}

/// Why a [`run`] failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E> {
    /// The store failed; run again.
    #[error(transparent)]
    Store(#[from] Error),
    /// The work failed. Nothing is remembered of it (D-7), so it may be run again at once, with another `op`.
    #[error("the work failed: {0}")]
    Work(E),
}

/// Runs the work once for the id and records its result, or answers the recorded one.
///
/// # Guarantees
///
/// - D-8: at most one live lease and one recorded result, replayed to everyone. The lease is extended while the
///   work goes on, and the work is dropped when another has begun. After a lapse two runs may therefore overlap:
///   hand the [`Fence`] to whatever must refuse the older one.
/// - D-7: a failure of the work is not remembered.
///
/// # Cancel safety
///
/// Dropping the future drops the work and leaves the lease to lapse. Run again: the same `op` gets the lease back
/// at once, another after the lapse.
///
/// # Errors
///
/// [`RunError::Work`] is the work's own. [`RunError::Store`] with `OutcomeUnknown` after the work means that its
/// result may not be recorded.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use storagebox::{DedupId, MemoryStore, Payload, Ran, RunOptions, StoreExt, TokioTimer, run};
///
/// let jobs = MemoryStore::new().leases("jobs")?;
/// let id = DedupId::new("invoice-7")?;
/// let send = async |_fence| Payload::try_from("sent");
///
/// let first = run(&jobs, &TokioTimer, &id, &RunOptions::default(), send).await?;
/// let second = run(&jobs, &TokioTimer, &id, &RunOptions::default(), send).await?;
/// assert_eq!(first, Ran::Done(Payload::try_from("sent")?));
/// assert_eq!(second, Ran::Replayed(Payload::try_from("sent")?));
/// # Ok(()) }
/// ```
pub async fn run<F, Fut, E>(
    repo: &dyn LeaseRepo,
    timer: &dyn Timer,
    id: &DedupId,
    options: &RunOptions,
    work: F,
) -> Result<Ran, RunError<E>>
where
    F: FnOnce(Fence) -> Fut + Send,
    Fut: Future<Output = Result<Payload, E>> + Send,
{
    let runner = Runner { repo, timer, options };
    let lease = match runner.begin(id).await? {
        Begun::Started(lease) => lease,
        Begun::Done(entry) => return Ok(Ran::Replayed(entry.value)),
        Begun::InFlight { remaining } => return Ok(Ran::InFlight { remaining }),
        Begun::Mismatch => return Ok(Ran::Mismatch),
        Begun::Fenced => return Ok(Ran::Fenced),
    };
    match first_of(work(lease.fence), runner.keep_alive(&lease)).await {
        First::Left(Ok(result)) => Ok(runner.complete(&lease, &result).await?),
        First::Left(Err(failure)) => {
            runner.give_back(&lease).await;
            Err(RunError::Work(failure))
        }
        First::Right(()) => Ok(Ran::Fenced),
    }
}

struct Runner<'a> {
    repo: &'a dyn LeaseRepo,
    timer: &'a dyn Timer,
    options: &'a RunOptions,
}

impl Runner<'_> {
    async fn begin(&self, id: &DedupId) -> Result<Begun> {
        self.options.retention.checked()?;
        checked_duration("lease", self.options.lease)?;
        let op = match &self.options.op {
            Some(op) => op.clone(),
            None => OpId::new(RandomIds.fresh())?,
        };
        let started = self.timer.now();
        loop {
            let begun = self.begin_once(id, &op).await?;
            let Begun::InFlight { remaining } = begun else {
                return Ok(begun);
            };
            let waited = self.timer.now().saturating_sub(started);
            let left = self.options.wait.unwrap_or_default().saturating_sub(waited);
            if left.is_zero() {
                return Ok(begun);
            }
            self.timer.sleep(left.min(remaining).min(LOOK_AGAIN)).await;
        }
    }

    async fn begin_once(&self, id: &DedupId, op: &OpId) -> Result<Begun> {
        let Self { repo, options, .. } = self;
        let fingerprint = options.fingerprint.as_ref();
        options.retry.call(self.timer, || repo.begin(id, op, options.lease, fingerprint)).await
    }

    /// Returns when the lease is lost. A store that cannot be reached is no proof of that: the next beat may reach it.
    async fn keep_alive(&self, lease: &Lease) {
        loop {
            self.timer.sleep(self.options.lease / 3).await;
            if let Ok(LeaseExtended::Fenced) = self.repo.extend(lease, self.options.lease).await {
                return;
            }
        }
    }

    async fn complete(&self, lease: &Lease, result: &Payload) -> Result<Ran> {
        let Self { repo, options, .. } = self;
        let completed =
            options.retry.call(self.timer, || repo.complete(lease, result, options.retention)).await?;
        Ok(match completed {
            Completed::Completed(entry) | Completed::Again(entry) => Ran::Done(entry.value),
            Completed::Fenced => Ran::Fenced,
        })
    }

    /// A lease that cannot be given back lapses by itself; the work's own failure is the answer either way.
    async fn give_back(&self, lease: &Lease) {
        let _ = self.options.retry.call(self.timer, || self.repo.abort(lease)).await;
    }
}

enum First<L, R> {
    Left(L),
    Right(R),
}

/// Whichever ends first; the left one, if both are ready. The other is dropped.
async fn first_of<L, R>(left: impl Future<Output = L>, right: impl Future<Output = R>) -> First<L, R> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    poll_fn(|context| poll_both(left.as_mut(), right.as_mut(), context)).await
}

fn poll_both<L, R>(
    left: Pin<&mut impl Future<Output = L>>,
    right: Pin<&mut impl Future<Output = R>>,
    context: &mut Context<'_>,
) -> Poll<First<L, R>> {
    if let Poll::Ready(output) = left.poll(context) {
        return Poll::Ready(First::Left(output));
    }
    right.poll(context).map(First::Right)
}

//! The handle of leases, and runs.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Aborted, Begun, BoxName, Completed, DedupId, Error, Fence, Fingerprint, Lease, LeaseExtended, LeaseRepo,
    OpId, Payload, Ran, Result, Retention, Retry, RunError, RunOptions,
};

use crate::handle::checked;
use crate::policy::Policy;

/// Leases on ids: one runner at a time, and one recorded result (article 3).
///
/// [`run`](Leases::run) is the whole algorithm in one call; the other methods are its steps. The records are those of the
/// [`Records`](crate::Records) of the same name. The promises are those of [`LeaseRepo`]. After any error or a dropped
/// future, make the same call again, with the same `op` or lease.
///
/// Cheap to clone: clones share one part. Calls are repeated and bounded as the [`Store`](crate::Store) says.
///
/// # Errors
///
/// `InvalidInput` for an id, an `op`, a duration or a retention that breaks its limit, `TooLarge` for a result over 256 KiB,
/// before any I/O.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use storagebox::{Error, Ran, Store};
///
/// let payments = Store::open("memory:").await?.leases("payments")?;
/// let charge = async |_fence| Ok::<_, Error>("charged");
///
/// assert!(matches!(payments.run("invoice-7", charge).await?, Ran::Done(_)));
/// assert!(matches!(payments.run("invoice-7", charge).await?, Ran::Replayed(result) if result.as_bytes() == b"charged"));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Leases {
    part: Arc<dyn LeaseRepo>,
    /// With the deadline alone, because a run repeats its calls itself, and recording its result for longer than others.
    bounded: Arc<dyn LeaseRepo>,
    name: BoxName,
    policy: Policy,
}

impl Leases {
    pub(crate) fn new(
        name: BoxName,
        part: Arc<dyn LeaseRepo>,
        bounded: Arc<dyn LeaseRepo>,
        policy: Policy,
    ) -> Self {
        Self { part, bounded, name, policy }
    }

    /// Runs the work once for the id and records its result, or answers the recorded one (D-8).
    ///
    /// The lease lasts 30 seconds and is extended until the result is recorded; the result is kept for seven days.
    /// [`run_with`](Leases::run_with) changes that. The store's deadline bounds each attempt of a call of the run; a store
    /// [without retry](crate::Store::without_retry) begins once, and records the result of work that was done with patience
    /// all the same. After a lapse two runs may overlap, so the work hands the [`Fence`] to
    /// whatever must refuse the older one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the work and leaves the lease to lapse. Where callers hang up, use
    /// [`run_to_end`](Leases::run_to_end).
    ///
    /// # Errors
    ///
    /// [`RunError::Work`] is the work's own error; nothing is remembered of it, so the id may be run again at once.
    /// [`RunError::Store`] with the certainty `Unknown` means that the work may have been done.
    pub async fn run<F, Fut, T, E>(
        &self,
        id: impl TryInto<DedupId, Error: Into<Error>>,
        work: F,
    ) -> Result<Ran, RunError<E>>
    where
        F: FnOnce(Fence) -> Fut + Send,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Into<bytes::Bytes>,
    {
        self.run_with(id, &self.options(), work).await
    }

    /// As [`run`](Leases::run), with options: the lease, the retention, a fingerprint, waiting for another's run. Its errors
    /// are retried as the options say, not as the store does.
    pub async fn run_with<F, Fut, T, E>(
        &self,
        id: impl TryInto<DedupId, Error: Into<Error>>,
        options: &RunOptions,
        work: F,
    ) -> Result<Ran, RunError<E>>
    where
        F: FnOnce(Fence) -> Fut + Send,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Into<bytes::Bytes>,
    {
        let id = checked(id)?;
        storagebox_core::run(&*self.bounded, &*self.policy.timer, &id, options, work).await
    }

    /// As [`run_with`](Leases::run_with), in a task of its own, which `spawn` starts as `tokio::spawn` does: the run goes on
    /// when its caller is dropped.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the waiting alone.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Leases::run); `OutcomeUnknown` if the task was ended before the work.
    pub async fn run_to_end<S, F, Fut, T, E>(
        &self,
        spawn: impl FnOnce(Pin<Box<dyn Future<Output = ()> + Send>>) -> S,
        id: impl TryInto<DedupId, Error: Into<Error>>,
        options: &RunOptions,
        work: F,
    ) -> Result<Ran, RunError<E>>
    where
        S: Send + 'static,
        F: FnOnce(Fence) -> Fut + Send + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        T: Into<bytes::Bytes>,
        E: Send + 'static,
    {
        let (id, repo, timer) = (checked(id)?, Arc::clone(&self.bounded), Arc::clone(&self.policy.timer));
        storagebox_core::run_to_end(repo, timer, spawn, &id, options, work).await
    }

    /// The defaults of a run, with the store's way to retry; work that was done is recorded with patience in any case.
    fn options(&self) -> RunOptions {
        let once = Retry { attempts: 1, ..Retry::default() };
        RunOptions::default().retry(self.policy.retry.unwrap_or(once))
    }

    /// Begins to work on the id, or answers what is known of it (D-5, D-6).
    pub async fn begin(
        &self,
        id: impl TryInto<DedupId, Error: Into<Error>>,
        op: impl TryInto<OpId, Error: Into<Error>>,
        duration: Duration,
        fingerprint: Option<&str>,
    ) -> Result<Begun> {
        let fingerprint = fingerprint.map(Fingerprint::try_from).transpose()?;
        self.part.begin(&checked(id)?, &checked(op)?, duration, fingerprint.as_ref()).await
    }

    /// Records the result and ends the lease (D-5).
    pub async fn complete(
        &self,
        lease: &Lease,
        result: impl TryInto<Payload, Error: Into<Error>>,
        retention: Retention,
    ) -> Result<Completed> {
        self.part.complete(lease, &checked(result)?, retention).await
    }

    /// Ends the lease without a result; the id is free for another operation (D-7).
    pub async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        self.part.abort(lease).await
    }

    /// Extends the lease until now plus the duration; a lease is never shortened (D-5).
    pub async fn extend(&self, lease: &Lease, duration: Duration) -> Result<LeaseExtended> {
        self.part.extend(lease, duration).await
    }
}

impl fmt::Debug for Leases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leases").field("name", &self.name).finish_non_exhaustive()
    }
}

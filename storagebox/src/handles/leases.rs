//! The handle of leases, and runs.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Aborted, Begun, Completed, DedupId, Fence, Fingerprint, Lease, LeaseExtended, LeaseRepo, Namespace, OpId, Payload,
    Ran, Result, Retention, Retry, RunError, RunOptions,
};

use crate::handles::IntoValue;
use crate::policy::Policy;

/// Leases on ids: one runner at a time, and one recorded result (article 3).
///
/// [`run`](Leases::run) is the whole algorithm in one call; the other methods are its steps. The results are stored in
/// the [`Records`](crate::Records) of the same name. [`LeaseRepo`] lists the guarantees. After any error or a dropped
/// future, make the same call again, with the same `op` or lease.
///
/// Cheap to clone: clones share one part. Calls are retried and have a deadline, as [`Store`](crate::Store) describes.
///
/// # Errors
///
/// Returns `InvalidInput` if an id, an `op`, a duration or a retention breaks its limit, and `TooLarge` if a result is
/// over 256 KiB, before any I/O.
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
    /// With deadlines alone, because a run repeats its calls itself, and recording its result for longer than others.
    bounded: Arc<dyn LeaseRepo>,
    name: Namespace,
    policy: Policy,
}

impl Leases {
    pub(crate) fn new(name: Namespace, part: Arc<dyn LeaseRepo>, bounded: Arc<dyn LeaseRepo>, policy: Policy) -> Self {
        Self { part, bounded, name, policy }
    }

    /// Runs the work once for the id and records its result, or returns the recorded result (D-8).
    ///
    /// The work is done *at least* once, and its result is recorded once: a process that is killed during the work leaves
    /// open what the work has done, and the next run does it again. Give the id to outside systems as their idempotency
    /// key. Scope an id that customers choose by the customer, as in `customer-7:key`. The work returns bytes or text; for
    /// a struct return `Payload::json(&value)?` (feature `json`).
    ///
    /// On a tokio runtime with several threads a separate task extends the lease, also while the work blocks its thread,
    /// as long as one other thread is free. On a `current_thread` runtime, or without tokio, blocking work stops the
    /// heartbeat too, and the lease lapses: move such work to `tokio::task::spawn_blocking`.
    ///
    /// The lease lasts 30 seconds and is extended until the result is recorded. The result is kept for 7 days. Use
    /// [`run_with`](Leases::run_with) to change these settings. The store's deadline applies to each attempt of each
    /// call of the run; an attempt to extend has at most a third of the lease. A store [without
    /// retry](crate::Store::without_retry) makes one attempt to begin, but still retries recording the result of
    /// finished work. Two runs may overlap after a lease lapses, so the work should pass the [`Fence`] to every system
    /// that must reject the older run.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the work, and the lease lapses later. If callers may disconnect, use
    /// [`run_to_end`](Leases::run_to_end).
    ///
    /// # Errors
    ///
    /// Returns [`RunError::Work`] with the work's own error. The store does not remember this error, so the id can be
    /// run again at once. Returns [`RunError::Store`] if the store fails; with the certainty `Unknown`, the work may
    /// have been done.
    pub async fn run<F, Fut, T, E>(&self, id: impl IntoValue<DedupId>, work: F) -> Result<Ran, RunError<E>>
    where
        F: FnOnce(Fence) -> Fut + Send,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Into<bytes::Bytes>,
    {
        self.run_with(id, &self.options(), work).await
    }

    /// As [`run`](Leases::run), with options for the lease, the retention, a fingerprint and waiting for another run.
    /// The options set the retries of its calls; the store's retries do not apply.
    pub async fn run_with<F, Fut, T, E>(
        &self,
        id: impl IntoValue<DedupId>,
        options: &RunOptions,
        work: F,
    ) -> Result<Ran, RunError<E>>
    where
        F: FnOnce(Fence) -> Fut + Send,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Into<bytes::Bytes>,
    {
        let id = id.into_value()?;
        let (repo, timer) = (Arc::clone(&self.bounded), Arc::clone(&self.policy.timer));
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => {
                let spawn = move |task| runtime.spawn(task);
                storagebox_core::run_with_heartbeat(repo, timer, spawn, &id, options, work).await
            }
            Err(_) => storagebox_core::run(&*repo, &*timer, &id, options, work).await,
        }
    }

    /// As [`run_with`](Leases::run_with), in a separate task, which `spawn` starts as `tokio::spawn` does, with the tracing
    /// span of the caller. The run continues if its caller is dropped.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends only the waiting; the run continues.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Leases::run), and `OutcomeUnknown` if the task ended before the work.
    pub async fn run_to_end<S, F, Fut, T, E>(
        &self,
        spawn: impl Fn(Pin<Box<dyn Future<Output = ()> + Send>>) -> S + Send + Sync + 'static,
        id: impl IntoValue<DedupId>,
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
        let (id, repo, timer) = (id.into_value()?, Arc::clone(&self.bounded), Arc::clone(&self.policy.timer));
        storagebox_core::run_to_end(repo, timer, spawn, &id, options, work).await
    }

    /// The defaults of a run, with the store's way to retry; work that was done is recorded with patience in any case.
    fn options(&self) -> RunOptions {
        let once = Retry { attempts: 1, ..Retry::default() };
        RunOptions::default().retry(self.policy.retry.unwrap_or(once))
    }

    /// Begins work on the id, or returns the known state of the id (D-5, D-6).
    pub async fn begin(
        &self,
        id: impl IntoValue<DedupId>,
        op: impl IntoValue<OpId>,
        duration: Duration,
        fingerprint: Option<&str>,
    ) -> Result<Begun> {
        let fingerprint = fingerprint.map(Fingerprint::try_from).transpose()?;
        self.part.begin(&id.into_value()?, &op.into_value()?, duration, fingerprint.as_ref()).await
    }

    /// Records the result and ends the lease (D-5).
    pub async fn complete(
        &self,
        lease: &Lease,
        result: impl IntoValue<Payload>,
        retention: Retention,
    ) -> Result<Completed> {
        self.part.complete(lease, &result.into_value()?, retention).await
    }

    /// Ends the lease without a result. Another operation can then begin on the id (D-7).
    pub async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        self.part.abort(lease).await
    }

    /// Extends the lease until now plus the duration. Never shortens a lease (D-5).
    pub async fn extend(&self, lease: &Lease, duration: Duration) -> Result<LeaseExtended> {
        self.part.extend(lease, duration).await
    }
}

impl fmt::Debug for Leases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leases").field("name", &self.name).finish_non_exhaustive()
    }
}

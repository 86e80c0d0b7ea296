//! The handle of deduplication: runs, their steps, and records.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::layer::LayeredPart;
use storagebox_core::{
    Aborted, Backend, Begun, Completed, Cursor, DedupId, DedupRepo, Entry, ErrorKind, Fence, Fingerprint, Forgotten,
    Lease, LeaseExtended, LeaseRepo, ListedRecord, Namespace, OpId, Page, Payload, Recorded, Replaced, Result,
    Retention, Version,
};

use crate::handles::{IntoValue, Run};
use crate::policy::{Extensions, Policy};

/// Work that is done once per id, and its results (articles 1 and 3).
///
/// [`run`](Dedup::run) is the whole algorithm in one call: one runner at a time, one recorded result. `begin`, `extend`,
/// `complete` and `abort` are its steps. The results are records, one value per id, of which the first wins: `record`
/// makes one without a run. [`LeaseRepo`] and [`DedupRepo`] list the guarantees. After any error or a dropped future,
/// make the same call again, with the same `op` or lease.
///
/// Cheap to clone: clones share one part. Calls are retried and have a deadline, as [`Store`](crate::Store) describes.
///
/// # Errors
///
/// Returns `InvalidInput` if an id, an `op`, a duration or a retention breaks its limit, and `TooLarge` if a value is
/// over 256 KiB, before any I/O. If the backend has records without leases, runs and their steps return `Unsupported`.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use storagebox::{Error, Ran, Recorded, Retention, Store};
///
/// let payments = Store::open("memory:").await?.dedup("payments")?;
/// let charge = async |_fence| Ok::<_, Error>("charged");
/// assert!(matches!(payments.run("invoice-7", charge).await?, Ran::Done(_)));
/// assert!(matches!(payments.run("invoice-7", charge).await?, Ran::Replayed(result) if result.as_bytes() == b"charged"));
///
/// let first = payments.record("invoice-8", "paid", "worker-1/8", Retention::DEFAULT).await?;
/// let second = payments.record("invoice-8", "refused", "worker-2/8", Retention::DEFAULT).await?;
/// assert!(matches!(first, Recorded::New(_)));
/// assert!(matches!(second, Recorded::Existing(entry) if entry.value.as_bytes() == b"paid"));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Dedup {
    records: Option<Arc<dyn DedupRepo>>,
    leases: Option<Arc<dyn LeaseRepo>>,
    /// Leases with a deadline and without retries: a run retries its own calls.
    of_runs: Option<Arc<dyn LeaseRepo>>,
    backend: Arc<dyn Backend>,
    name: Namespace,
    policy: Policy,
}

impl Dedup {
    /// Opens the leases and the records of the name. A backend may have one of both.
    pub(crate) fn open(
        backend: &Arc<dyn Backend>,
        bounded: &Arc<dyn Backend>,
        name: Namespace,
        policy: &Policy,
    ) -> Result<Self> {
        let records = if_there_is(backend.dedup_repo(&name))?;
        let leases = if_there_is(backend.lease_repo(&name))?;
        let of_runs = if_there_is(bounded.lease_repo(&name))?.map(|leases| {
            let extensions = Extensions { timer: Arc::clone(&policy.timer) };
            Arc::new(LayeredPart::new(leases, Arc::new(extensions))) as Arc<dyn LeaseRepo>
        });
        if records.is_none() && leases.is_none() {
            backend.dedup_repo(&name)?;
        }
        Ok(Self { records, leases, of_runs, backend: Arc::clone(backend), name, policy: policy.clone() })
    }

    /// Prepares a run. Awaiting it runs the work once for the id and records its result, or returns the recorded result
    /// (D-8).
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
    /// The lease lasts 30 seconds and is extended until the result is recorded. The result is kept for 7 days. The
    /// methods of [`Run`] change these settings. The store's deadline applies to each attempt of each call of the run;
    /// an attempt to extend has at most a third of the lease. A store [without retry](crate::Store::without_retry) makes
    /// one attempt to begin, but still retries recording the result of finished work. Two runs may overlap after a lease
    /// lapses, so the work should pass the [`Fence`] to every system that must reject the older run.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the work, and the lease lapses later. If callers may disconnect, use
    /// [`to_end`](Run::to_end).
    ///
    /// # Errors
    ///
    /// Returns [`RunError::Work`](crate::RunError::Work) with the work's own error. The store does not remember this
    /// error, so the id can be run again at once. Returns [`RunError::Store`](crate::RunError::Store) if the store
    /// fails; with the certainty `Unknown`, the work may have been done.
    pub fn run<W, F>(&self, id: impl IntoValue<DedupId>, work: W) -> Run<'_, W>
    where
        W: FnOnce(Fence) -> F,
    {
        Run::new(self.part(&self.of_runs, <dyn Backend>::lease_repo), &self.policy, id.into_value(), work)
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
        self.leases()?.begin(&id.into_value()?, &op.into_value()?, duration, fingerprint.as_ref()).await
    }

    /// Extends the lease until now plus the duration. Never shortens a lease (D-5).
    pub async fn extend(&self, lease: &Lease, duration: Duration) -> Result<LeaseExtended> {
        self.leases()?.extend(lease, duration).await
    }

    /// Records the result and ends the lease (D-5).
    pub async fn complete(
        &self,
        lease: &Lease,
        result: impl IntoValue<Payload>,
        retention: Retention,
    ) -> Result<Completed> {
        self.leases()?.complete(lease, &result.into_value()?, retention).await
    }

    /// Ends the lease without a result. Another operation can then begin on the id (D-7).
    pub async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        self.leases()?.abort(lease).await
    }

    /// Records the value unless the id has a value (D-1, D-2). Returns `Again` for the winner's own retry, which has
    /// the same `op` (D-3).
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the retention is shorter than 1 ms or longer than a hundred years.
    pub async fn record(
        &self,
        id: impl IntoValue<DedupId>,
        value: impl IntoValue<Payload>,
        op: impl IntoValue<OpId>,
        retention: Retention,
    ) -> Result<Recorded> {
        self.records()?.record(&id.into_value()?, &value.into_value()?, &op.into_value()?, retention).await
    }

    /// Returns the record with its version, or `None` if the record does not exist or has expired (D-4).
    pub async fn get(&self, id: impl IntoValue<DedupId>) -> Result<Option<Entry>> {
        self.records()?.get(&id.into_value()?).await
    }

    /// Replaces the value if the record still has this version. The retention stays unchanged.
    pub async fn replace(
        &self,
        id: impl IntoValue<DedupId>,
        version: Version,
        value: impl IntoValue<Payload>,
        op: impl IntoValue<OpId>,
    ) -> Result<Replaced> {
        self.records()?.replace(&id.into_value()?, version, &value.into_value()?, &op.into_value()?).await
    }

    /// Deletes the record if it still has this version, so that the id can be used again. The caller guarantees that no
    /// call that got `Existing` is still in progress (D-7).
    pub async fn forget(&self, id: impl IntoValue<DedupId>, version: Version) -> Result<Forgotten> {
        self.records()?.forget(&id.into_value()?, version).await
    }

    /// Lists at most `limit` records, from the start or from a cursor (D-4).
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the limit is 0 or the cursor cannot be read.
    pub async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>> {
        self.records()?.list(cursor, limit).await
    }

    fn records(&self) -> Result<Arc<dyn DedupRepo>> {
        self.part(&self.records, <dyn Backend>::dedup_repo)
    }

    fn leases(&self) -> Result<Arc<dyn LeaseRepo>> {
        self.part(&self.leases, <dyn Backend>::lease_repo)
    }

    /// The part, or the backend's own error if it lacks the part.
    fn part<P: ?Sized>(&self, part: &Option<Arc<P>>, open: Opener<P>) -> Result<Arc<P>> {
        match part {
            Some(part) => Ok(Arc::clone(part)),
            None => open(&*self.backend, &self.name),
        }
    }
}

/// A constructor of a part.
type Opener<P> = fn(&dyn Backend, &Namespace) -> Result<Arc<P>>;

fn if_there_is<P: ?Sized>(part: Result<Arc<P>>) -> Result<Option<Arc<P>>> {
    match part {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        part => part.map(Some),
    }
}

impl fmt::Debug for Dedup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dedup").field("name", &self.name).finish_non_exhaustive()
    }
}

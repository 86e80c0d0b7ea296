//! The handle of deduplication: runs, their steps, and records.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::layer::{LayeredPart, Policy};
use storagebox_core::{
    Aborted, Backend, Completed, DedupId, DedupRepo, Entry, Error, ErrorKind, Fence, Forgotten, Lease, LeaseExtended,
    LeaseRepo, ListedRecord, Listing, Namespace, Payload, Replaced, Result, Retention, Version,
};

use crate::handles::{Begin, IntoValue, Operation, Record, Run};
use crate::policy::HeartbeatDeadline;
use crate::store::Store;

/// Work that is done once per id, and its results (articles 1 and 3).
///
/// [`run`](Dedup::run) is the whole algorithm in one call: one runner at a time, one recorded result. `begin`, `extend`,
/// `complete` and `abort` are its steps. The results are records, one value per id, of which the first wins: `record`
/// makes one without a run. [`LeaseRepo`] and [`DedupRepo`] list the guarantees. After any error or a dropped future,
/// make the same call again, with the same operation or the same lease.
///
/// Cheap to clone: clones share one part. Calls are retried and have a deadline, as [`Store`](crate::Store) describes;
/// [within a transaction](crate::Within) they are made once.
///
/// # Errors
///
/// Returns `InvalidInput` if an id, an operation, a duration or a retention breaks its limit, and `TooLarge` if a value is
/// over 256 KiB, before any I/O. If the backend has records without leases, runs and their steps return `Unsupported`.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use storagebox::{Error, Ran, Recorded, Store};
///
/// let payments = Store::open("memory:").await?.dedup("payments")?;
/// let charge = async |_fence| Ok::<_, Error>("charged");
/// assert!(matches!(payments.run("invoice-7", charge).await?, Ran::Done(_)));
/// assert!(matches!(payments.run("invoice-7", charge).await?, Ran::Replayed(result) if result.as_bytes() == b"charged"));
///
/// let first = payments.record("invoice-8", "paid").by("worker-1/8").await?;
/// let second = payments.record("invoice-8", "refused").by("worker-2/8").await?;
/// assert!(matches!(first, Recorded::New(_)));
/// assert!(matches!(second, Recorded::Existing(entry) if entry.value.as_bytes() == b"paid"));
/// # Ok(()) }
/// ```
pub struct Dedup<R: ?Sized = dyn DedupRepo, L: ?Sized = dyn LeaseRepo> {
    records: Option<Arc<R>>,
    leases: Option<Arc<L>>,
    /// The leases for runs, with a deadline and without retries, because a run retries its own calls.
    of_runs: Option<Arc<dyn LeaseRepo>>,
    backend: &'static str,
    name: Namespace,
    policy: Policy,
}

impl Dedup {
    /// Opens the records and the leases. The backend may lack one of these two parts, but not both.
    pub(crate) fn open(
        backend: &Arc<dyn Backend>,
        bounded: &Arc<dyn Backend>,
        name: Namespace,
        policy: &Policy,
    ) -> Result<Self> {
        let records = if_there_is(backend.dedup_repo(&name))?;
        let leases = if_there_is(backend.lease_repo(&name))?;
        let of_runs = if_there_is(bounded.lease_repo(&name))?.map(|leases| {
            let heartbeat = HeartbeatDeadline { timer: Arc::clone(&policy.timer) };
            Arc::new(LayeredPart::new(leases, Arc::new(heartbeat))) as Arc<dyn LeaseRepo>
        });
        if records.is_none() && leases.is_none() {
            backend.dedup_repo(&name)?;
        }
        Ok(Self { records, leases, of_runs, backend: backend.backend(), name, policy: policy.clone() })
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
        Run::new(self.part(&self.of_runs, LEASES).map(Arc::clone), &self.policy, id.into_value(), work)
    }
}

impl<R: DedupRepo, L: LeaseRepo> Dedup<R, L> {
    /// Creates a handle that belongs to a transaction and cannot run work.
    pub(crate) fn within(name: Namespace, records: Result<R>, leases: Result<L>, store: &Store) -> Result<Self> {
        let (records, leases) = (if_there_is(records.map(Arc::new))?, if_there_is(leases.map(Arc::new))?);
        Ok(Self { records, leases, of_runs: None, backend: store.backend(), name, policy: store.policy().clone() })
    }
}

impl<R: DedupRepo + ?Sized, L: LeaseRepo + ?Sized> Dedup<R, L> {
    /// Prepares to begin work on the id, or to return its known state (D-5, D-6). [`by`](Begin::by) names the operation, and
    /// begins.
    pub fn begin(&self, id: impl IntoValue<DedupId>) -> Begin<'_, L> {
        Begin::new(self.leases(), id.into_value())
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

    /// Prepares to record the value unless the id has a value (D-1, D-2). The winner's own retry, which has the same
    /// operation, gets `Again` (D-3). [`by`](Record::by) names the operation, and records.
    pub fn record(&self, id: impl IntoValue<DedupId>, value: impl IntoValue<Payload>) -> Record<'_, R> {
        Record::new(self.records(), id.into_value().and_then(|id| Ok((id, value.into_value()?))))
    }

    /// Returns the record with its version, or `None` if the record does not exist or has expired (D-4).
    pub async fn get(&self, id: impl IntoValue<DedupId>) -> Result<Option<Entry>> {
        self.records()?.get(&id.into_value()?).await
    }

    /// Prepares to replace the value if the record still has this version. The retention stays unchanged.
    /// [`by`](Operation::by) names the operation, and replaces.
    pub fn replace(
        &self,
        id: impl IntoValue<DedupId>,
        version: Version,
        value: impl IntoValue<Payload>,
    ) -> Operation<'_, Replaced> {
        let (id, value) = (id.into_value(), value.into_value());
        Operation::new(move |op| Box::pin(async move { self.records()?.replace(&id?, version, &value?, &op).await }))
    }

    /// Deletes the record if it still has this version, so that the id can be used again. The caller guarantees that no
    /// call that got `Existing` is still in progress (D-7).
    pub async fn forget(&self, id: impl IntoValue<DedupId>, version: Version) -> Result<Forgotten> {
        self.records()?.forget(&id.into_value()?, version).await
    }

    /// Lists the records (D-4).
    pub fn list(&self) -> Listing<'_, ListedRecord> {
        Listing::of(self.records(), |records| {
            move |after, limit| Box::pin(async move { records.list(after.as_ref(), limit).await })
        })
    }

    fn records(&self) -> Result<&R> {
        self.part(&self.records, "records").map(|part| &**part)
    }

    fn leases(&self) -> Result<&L> {
        self.part(&self.leases, LEASES).map(|part| &**part)
    }
}

impl<R: ?Sized, L: ?Sized> Dedup<R, L> {
    fn part<'a, P: ?Sized>(&self, part: &'a Option<Arc<P>>, name: &str) -> Result<&'a Arc<P>> {
        let missing = || Error::unsupported(format_args!("a store of {name}"), "a backend that has them");
        part.as_ref().ok_or_else(|| missing().on(self.backend))
    }
}

const LEASES: &str = "leases";

fn if_there_is<P: ?Sized>(part: Result<Arc<P>>) -> Result<Option<Arc<P>>> {
    match part {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        part => part.map(Some),
    }
}

impl<R: ?Sized, L: ?Sized> Clone for Dedup<R, L> {
    fn clone(&self) -> Self {
        let (backend, name, policy) = (self.backend, self.name.clone(), self.policy.clone());
        let (records, leases, of_runs) = (self.records.clone(), self.leases.clone(), self.of_runs.clone());
        Self { records, leases, of_runs, backend, name, policy }
    }
}

impl<R: ?Sized, L: ?Sized> fmt::Debug for Dedup<R, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dedup").field("name", &self.name).finish_non_exhaustive()
    }
}

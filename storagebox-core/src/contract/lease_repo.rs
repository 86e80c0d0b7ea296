//! Two-phase runs over deduplication records: begin, work, complete (article 3; contract section 4).

use std::time::Duration;

use async_trait::async_trait;

use crate::contract::dedup_repo::Entry;
use crate::values::error::Result;
use crate::values::time::Retention;
use crate::values::value::{DedupId, Fingerprint, OpId, Payload};

/// A number that grows with every lease on an id and never repeats. Other systems use it to fence off older holders
/// (D-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fence(u64);

impl Fence {
    /// Creates a fence from the backend's number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number to pass to a system that must refuse an older holder.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// The right to run the work of an id. It is plain data: it can be stored and passed on, and dropping it does nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Lease {
    /// The leased id.
    pub id: DedupId,
    /// The operation that began the lease.
    pub op: OpId,
    /// The number of the lease.
    pub fence: Fence,
}

/// Leases over the records of the [`DedupRepo`](crate::DedupRepo) of the same name.
///
/// Most callers want [`run`](crate::run()), which begins, extends and completes by itself.
///
/// # Guarantees
///
/// - D-5 *fenced*: a lease that lapsed and was then begun by another operation can no longer complete, extend or abort.
///   The number of a lease only grows, even across [`forget`](crate::DedupRepo::forget).
/// - D-6 the same id with another fingerprint returns `Mismatch`, never the result of the other request. The
///   fingerprint outlives a lease that lapsed, because its work may have had an effect.
/// - D-7 failures are not remembered: an aborted lease leaves the id free for another operation.
///
/// # Cancel safety
///
/// Every method is one atomic step, never half of one. A call whose future was dropped is done, is not done, or is
/// still in progress and done later. Repeat the call with the same operation or lease to find out, as after
/// `OutcomeUnknown`.
///
/// # Errors
///
/// `Contention`, `Throttled` and `Unavailable` mean that nothing changed. After `OutcomeUnknown`, make the same call
/// again.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use std::time::Duration;
/// use storagebox_core::{Backend, Begun, Completed, DedupId, LeaseRepo, OpId, Payload, Retention};
/// use storagebox_memory::MemoryStore;
///
/// let jobs = MemoryStore::new().lease_repo(&"jobs".parse()?)?;
/// let (id, op) = (DedupId::new("invoice-7")?, OpId::new("worker-1")?);
/// let Begun::Started(lease) = jobs.begin(&id, &op, Duration::from_secs(30), None).await? else {
///     unreachable!("nobody else is here")
/// };
/// let completed = jobs.complete(&lease, &Payload::try_from("sent")?, Retention::Forever).await?;
/// assert!(matches!(completed, Completed::Completed(_)));
///
/// let other = OpId::new("worker-2")?;
/// let Begun::Done(result) = jobs.begin(&id, &other, Duration::from_secs(30), None).await? else {
///     unreachable!("it is done")
/// };
/// assert_eq!(result.value.as_bytes(), b"sent");
/// # Ok(()) }
/// ```
#[async_trait]
pub trait LeaseRepo: Send + Sync {
    /// Begins a lease on the id, or returns what is known about the id.
    ///
    /// # Guarantees
    ///
    /// - D-5 `op` names one runner. While its lease is alive, the runner gets the same lease again. After the lease
    ///   lapsed, the runner gets a new lease with a greater fence. After the runner aborted, or its result was
    ///   forgotten or expired, the call returns `Fenced`. Beginning again does not extend the lease.
    /// - D-6 if both the caller and the id have a fingerprint and they differ, the call returns `Mismatch`, whether the
    ///   id has a live lease, a lapsed lease or a result. A lease that takes the place of a lapsed lease inherits the
    ///   fingerprint of the lapsed lease, even if this call names no fingerprint. A lapsed lease's fingerprint ends
    ///   when its own runner [aborts](LeaseRepo::abort) it, when a result is recorded and then
    ///   [forgotten](crate::DedupRepo::forget), or when operation ids are forgotten, by default seven days after the
    ///   id's last lease ended.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the term is shorter than 1 ms or longer than a hundred years.
    async fn begin(&self, id: &DedupId, op: &OpId, term: Duration, fingerprint: Option<&Fingerprint>) -> Result<Begun>;

    /// Records the result and ends the lease.
    ///
    /// # Guarantees
    ///
    /// - D-5: if another operation has begun in the meantime, the call returns `Fenced`. If the lease lapsed but no
    ///   other operation has begun, the call still records the result, for as long as operation ids are remembered.
    /// - D-3: a retry of the call returns `Again` with the current record, which
    ///   [`replace`](crate::DedupRepo::replace) may have changed since.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the retention is shorter than 1 ms or longer than a hundred years.
    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed>;

    /// Ends the lease without a result, so that another operation can use the id.
    ///
    /// # Guarantees
    ///
    /// - D-7: nothing is remembered except the fence against late calls of this operation. The call is idempotent: a
    ///   lease that is no longer held does not change.
    /// - D-6: the abort says that the work of *this* lease had no effect. If this lease took the place of a lapsed
    ///   lease, the id keeps the fingerprint, even if one operation began both leases.
    async fn abort(&self, lease: &Lease) -> Result<Aborted>;

    /// Extends the lease until now plus the term; it never shortens the lease.
    ///
    /// # Guarantees
    ///
    /// - D-5: if another operation has begun in the meantime, the call returns `Fenced`. If the lease lapsed but no
    ///   other operation has begun, the lease becomes live again.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the term is shorter than 1 ms or longer than a hundred years.
    async fn extend(&self, lease: &Lease, term: Duration) -> Result<LeaseExtended>;
}

/// The outcome of `begin`, the start of a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "another caller may have the lease"]
pub enum Begun {
    /// The caller has the lease: a new lease, or the lease that the caller already had.
    Started(Lease),
    /// Another operation has the lease. The lease ends within this time unless it is extended.
    InFlight {
        /// The remaining time of the lease by the store's clock.
        remaining: Duration,
    },
    /// The work was done before; this is the result.
    Done(Entry),
    /// The result or the lease of the id belongs to a request with another fingerprint. A lapsed lease counts too, if
    /// its work may have had an effect.
    Mismatch,
    /// This operation is over: it aborted, or its result was forgotten or expired. It can no longer begin a lease.
    Fenced,
}

/// The outcome of `complete` on a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the lease may have been lost"]
pub enum Completed {
    /// The result is recorded.
    Completed(Entry),
    /// This lease completed before; this is the current record.
    Again(Entry),
    /// Another operation has begun since, or the record was forgotten; nothing changed.
    Fenced,
}

/// The outcome of `abort` on a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the lease may have been lost"]
pub enum Aborted {
    /// The operation is over: this call or an earlier call ended it, or the operation completed and its record was then
    /// forgotten or expired.
    Aborted,
    /// The operation completed and its result is still recorded, or another operation has begun since; nothing changed.
    Fenced,
}

/// The outcome of `extend` on a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the lease may have been lost"]
pub enum LeaseExtended {
    /// The lease lasts at least as long as requested.
    Extended,
    /// The lease completed or was aborted, or another operation has begun since; nothing changed.
    Fenced,
}

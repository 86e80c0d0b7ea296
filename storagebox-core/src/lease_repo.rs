//! Two-phase runs over deduplication records: begin, work, complete (article 3; contract section 4).

use std::time::Duration;

use async_trait::async_trait;

use crate::dedup_repo::Entry;
use crate::error::Result;
use crate::time::Retention;
use crate::value::{DedupId, Fingerprint, OpId, Payload};

/// A number that grows with every lease on an id and never repeats, for the outside world to fence with (D-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fence(u64);

impl Fence {
    /// A fence as a backend counts it.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number to hand to whatever must refuse an older holder.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// The right to run what an id stands for. Plain data: it can be stored and handed on, and dropping it does nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Lease {
    /// What is leased.
    pub id: DedupId,
    /// Who began it.
    pub op: OpId,
    /// Its number.
    pub fence: Fence,
}

/// Leases over the records of the [`DedupRepo`](crate::DedupRepo) of the same name.
///
/// Most callers want [`run`](crate::run()), which begins, extends and completes by itself.
///
/// # Guarantees
///
/// - D-5 *fenced*: a lease that lapsed and was begun by another cannot complete, extend or abort any more. The
///   number of a lease only grows, also across [`forget`](crate::DedupRepo::forget).
/// - D-6 the same id with another fingerprint is `Mismatch`, never the other's result.
/// - D-7 failures are not remembered: an aborted lease leaves the id free for another operation.
///
/// # Cancel safety
///
/// Every method is one atomic step, so a dropped future leaves it wholly done or wholly not done. Call again with
/// the same operation or lease to learn which.
///
/// # Errors
///
/// `Contention`, `Throttled` and `Unavailable` changed nothing; `OutcomeUnknown` asks for the same call again.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use std::time::Duration;
/// use storagebox_core::{BackendExt, Begun, DedupId, LeaseRepo, OpId, Payload, Retention};
/// use storagebox_memory::MemoryStore;
///
/// let jobs = MemoryStore::new().leases("jobs")?;
/// let (id, op) = (DedupId::new("invoice-7")?, OpId::new("worker-1")?);
/// let Begun::Started(lease) = jobs.begin(&id, &op, Duration::from_secs(30), None).await? else {
///     unreachable!("nobody else is here")
/// };
/// jobs.complete(&lease, &Payload::try_from("sent")?, Retention::Forever).await?;
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
    /// Begins to work on the id, or answers what is known of it.
    ///
    /// # Guarantees
    ///
    /// - D-5 `op` names one runner: while its lease lives it gets the same lease again; after the lease lapsed it
    ///   gets a new one with a greater fence; after it aborted, or its result was forgotten or expired, it is
    ///   `Fenced`. Beginning again does not prolong the lease.
    /// - D-6 where both the caller and the record name a fingerprint and they differ, it is `Mismatch`; also where
    ///   the record is a lease that lives. A lease that lapsed is begun anew, whatever its fingerprint.
    ///
    /// # Cancel safety
    ///
    /// Safe. Begin again with the same `op`.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the duration is shorter than 1 ms or longer than a hundred years.
    async fn begin(
        &self,
        id: &DedupId,
        op: &OpId,
        duration: Duration,
        fingerprint: Option<&Fingerprint>,
    ) -> Result<Begun>;

    /// Records the result and ends the lease.
    ///
    /// # Guarantees
    ///
    /// - D-5: a lease that was begun by another meanwhile is `Fenced`; one that lapsed unnoticed still completes.
    ///   Its own retry is `Again` with the first result.
    ///
    /// # Cancel safety
    ///
    /// Safe. Complete again with the same lease.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the retention is shorter than 1 ms or longer than a hundred years.
    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed>;

    /// Ends the lease without a result; the id is free for another operation.
    ///
    /// # Guarantees
    ///
    /// - D-7: nothing is remembered but the fence against this operation's own late calls. It is idempotent: a lease
    ///   that is not held any more is left as it is.
    ///
    /// # Cancel safety
    ///
    /// Safe. Abort again with the same lease.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn abort(&self, lease: &Lease) -> Result<Aborted>;

    /// Makes the lease last until now plus the duration; it never shortens it.
    ///
    /// # Guarantees
    ///
    /// - D-5: a lease that was begun by another meanwhile is `Fenced`; one that lapsed unnoticed lives again.
    ///
    /// # Cancel safety
    ///
    /// Safe. Extend again with the same lease.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the duration is shorter than 1 ms or longer than a hundred years.
    async fn extend(&self, lease: &Lease, duration: Duration) -> Result<LeaseExtended>;
}

/// The outcome of [`LeaseRepo::begin`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "another may have the lease"]
pub enum Begun {
    /// The caller has the lease, anew or still.
    Started(Lease),
    /// Another has it; it ends in at most this long unless it is extended.
    InFlight {
        /// What is left of the lease by the store's clock.
        remaining: Duration,
    },
    /// It was done before; here is the result.
    Done(Entry),
    /// The id was used with another fingerprint.
    Mismatch,
    /// This operation is over: it aborted, or its result was forgotten or expired. It begins nothing any more.
    Fenced,
}

/// The outcome of [`LeaseRepo::complete`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the lease may have been lost"]
pub enum Completed {
    /// The result is recorded.
    Completed(Entry),
    /// This lease completed before; here is its result.
    Again(Entry),
    /// Another has begun since, or the record was forgotten; nothing changed.
    Fenced,
}

/// The outcome of [`LeaseRepo::abort`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the lease may have been lost"]
pub enum Aborted {
    /// The operation is over: by this call or an earlier one, or because it completed and its record was then
    /// forgotten or expired.
    Aborted,
    /// It completed and its result stands, or another has begun since; nothing changed.
    Fenced,
}

/// The outcome of [`LeaseRepo::extend`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the lease may have been lost"]
pub enum LeaseExtended {
    /// The lease lasts at least as long as was asked for.
    Extended,
    /// It completed, was aborted, or another has begun since; nothing changed.
    Fenced,
}

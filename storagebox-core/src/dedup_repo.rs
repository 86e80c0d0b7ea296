//! What was done for an id, remembered (articles 1 and 3).

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::page::{Cursor, Page};
use crate::time::Retention;
use crate::value::{DedupId, OpId, Payload};

/// The version of a record; it never repeats for an id, also across [`forget`](DedupRepo::forget) (D-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Version(u64);

impl Version {
    /// A version as a backend counts it.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The backend's number.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// Remembers one value for each id: the first one wins.
///
/// # Guarantees
///
/// - D-1 *one winner*: of all calls that record an absent id, however many at once, one is `New`.
/// - D-2 all others see the winner's value, byte for byte.
/// - D-4 retention is judged when the record is read: an expired one is absent, removed or not.
/// - D-7 versions never repeat, and an ended operation stays ended: a late copy of a `record` that was forgotten
///   or has expired is `Fenced`, for as long as operation ids are remembered.
///
/// # Cancel safety
///
/// Every method is one atomic step, so a dropped future leaves it wholly done or wholly not done. Call again with
/// the same operation to learn which.
///
/// # Errors
///
/// `Contention`, `Throttled` and `Unavailable` changed nothing; `OutcomeUnknown` asks for the same call again.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use storagebox_core::{BackendExt, DedupId, DedupRepo, OpId, Payload, Recorded, Retention};
/// use storagebox_memory::MemoryStore;
///
/// let orders = MemoryStore::new().dedup("orders")?;
/// let id = DedupId::new("order-7")?;
/// let (mine, other) = (OpId::new("worker-1/7")?, OpId::new("worker-2/7")?);
///
/// let first = orders.record(&id, &Payload::try_from("paid")?, &mine, Retention::Forever).await?;
/// let second = orders.record(&id, &Payload::try_from("refused")?, &other, Retention::Forever).await?;
/// assert!(matches!(first, Recorded::New(_)));
/// assert!(matches!(second, Recorded::Existing(entry) if entry.value.as_bytes() == b"paid"));
/// # Ok(()) }
/// ```
#[async_trait]
pub trait DedupRepo: Send + Sync {
    /// Records the value unless there is one.
    ///
    /// # Guarantees
    ///
    /// - D-1, D-2 above.
    /// - D-3 the winner's own retry, known by its `op`, is `Again` with the first value, not `Existing`.
    /// - D-8 during a lease, of whatever operation, it is `InFlight`, because the lease's result is the one to be recorded.
    ///
    /// # Cancel safety
    ///
    /// Safe. Record again with the same `op`.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the retention is shorter than 1 ms or longer than a hundred years.
    async fn record(
        &self,
        id: &DedupId,
        value: &Payload,
        op: &OpId,
        retention: Retention,
    ) -> Result<Recorded>;

    /// The record with its version, or `None`.
    ///
    /// # Guarantees
    ///
    /// - D-4: an expired record is absent. A lease that has no result yet is not a record.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn get(&self, id: &DedupId) -> Result<Option<Entry>>;

    /// Compare-and-set: puts the new value if the record still has this version. Its retention stays.
    ///
    /// # Guarantees
    ///
    /// - D-1: of all calls that name one version, one is `Replaced`; its own retry, known by its `op`, is `Again`
    ///   until a later change, and then `Stale`, which does not say whether it was once applied.
    ///
    /// # Cancel safety
    ///
    /// Safe. Replace again with the same version and `op`.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn replace(&self, id: &DedupId, version: Version, value: &Payload, op: &OpId) -> Result<Replaced>;

    /// Removes the record if it still has this version, so that the id may be used anew.
    ///
    /// # Guarantees
    ///
    /// - D-7: it leaves a fence, so that late copies of the calls that made the record change nothing. The caller
    ///   vouches that no call which was answered `Existing` is still under way: those leave no trace to fence.
    ///
    /// # Cancel safety
    ///
    /// Safe. Forget again with the same version.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn forget(&self, id: &DedupId, version: Version) -> Result<Forgotten>;

    /// The records, a page at a time; at most `limit` entries.
    ///
    /// # Guarantees
    ///
    /// - D-4: no expired record is shown. One that does not change meanwhile is shown exactly once.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a limit of 0 or a cursor that this repository did not make.
    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>>;
}

/// Sugar for every [`DedupRepo`].
pub trait DedupRepoExt: DedupRepo {
    /// [`record`](DedupRepo::record) with any texts and bytes.
    ///
    /// # Guarantees
    ///
    /// Those of [`record`](DedupRepo::record).
    ///
    /// # Cancel safety
    ///
    /// Safe. Record again with the same `op`.
    ///
    /// # Errors
    ///
    /// `InvalidInput` or `TooLarge` if an argument breaks its limit.
    fn remember<I, V, O>(
        &self,
        id: I,
        value: V,
        op: O,
        retention: Retention,
    ) -> impl Future<Output = Result<Recorded>> + Send
    where
        I: TryInto<DedupId>,
        V: TryInto<Payload>,
        O: TryInto<OpId>,
        Error: From<I::Error> + From<V::Error> + From<O::Error>,
    {
        let id = id.try_into().map_err(Error::from);
        let value = value.try_into().map_err(Error::from);
        let op = op.try_into().map_err(Error::from);
        async move { self.record(&id?, &value?, &op?, retention).await }
    }
}

impl<R: DedupRepo + ?Sized> DedupRepoExt for R {}

/// What is recorded for an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The value.
    pub value: Payload,
    /// Its version, for [`replace`](DedupRepo::replace) and [`forget`](DedupRepo::forget).
    pub version: Version,
}

/// The outcome of [`DedupRepo::record`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "another operation may have been first"]
pub enum Recorded {
    /// This call recorded the value.
    New(Version),
    /// This operation recorded it before; here is what stands there now.
    Again(Entry),
    /// Another operation was first.
    Existing(Entry),
    /// Another holds a lease on the id; it ends in at most this long unless it is extended.
    InFlight {
        /// What is left of the lease by the store's clock.
        remaining: std::time::Duration,
    },
    /// This operation ended before (its record was forgotten or has expired, its lease aborted) and changes nothing any more.
    Fenced,
}

/// The outcome of [`DedupRepo::replace`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the record may have changed"]
pub enum Replaced {
    /// This call put the value, at this version.
    Replaced(Version),
    /// This operation put it before, at this version.
    Again(Version),
    /// The record has another version by now, or is gone.
    Stale(Option<Entry>),
}

/// The outcome of [`DedupRepo::forget`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the record may have changed"]
pub enum Forgotten {
    /// The record is removed.
    Forgotten,
    /// There is none, for whatever reason.
    Absent,
    /// It has another version by now.
    Stale(Entry),
}

/// One entry of [`DedupRepo::list`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRecord {
    /// The id.
    pub id: DedupId,
    /// What is recorded for it.
    pub entry: Entry,
}

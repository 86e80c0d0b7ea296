//! Records that remember what was done for an id (articles 1 and 3).

use async_trait::async_trait;

use crate::values::error::Result;
use crate::values::page::{Cursor, Page};
use crate::values::time::Retention;
use crate::values::value::{DedupId, OpId, Payload};

/// The version of a record. It never repeats for an id, even across `forget` (D-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Version(u64);

impl Version {
    /// Creates a version from the backend's number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the backend's number.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// Remembers one value for each id: the first one wins.
///
/// # Guarantees
///
/// - D-1 *one winner*: of all calls that record an id without a record, however many at once, exactly one returns
///   `New`.
/// - D-2 all other calls see the winner's value, byte for byte.
/// - D-4 retention is checked when the record is read: an expired record is absent, whether it was deleted or not.
/// - D-7 versions never repeat, and an ended operation stays ended: a late copy of a `record` call whose record was
///   forgotten or has expired is `Fenced`, for as long as operation ids are remembered.
///
/// # Cancel safety
///
/// Every method is one atomic step, never half of one. A call whose future was dropped is done, is not done, or is
/// still in progress and done later. Repeat the call with the same operation to find out, as after `OutcomeUnknown`.
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
/// use storagebox_core::{Backend, DedupId, DedupRepo, OpId, Payload, Recorded, Retention};
/// use storagebox_memory::MemoryStore;
///
/// let orders = MemoryStore::new().dedup_repo(&"orders".parse()?)?;
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
    /// Records the value if the id has no record.
    ///
    /// # Guarantees
    ///
    /// - D-1, D-2 above.
    /// - D-3 the winner's own retry, recognised by its `op`, returns `Again` with the first value, not `Existing`.
    /// - D-8 while any operation holds a lease on the id, the call returns `InFlight`, because the lease's result is
    ///   the value to record.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the retention is shorter than 1 ms or longer than a hundred years.
    async fn record(&self, id: &DedupId, value: &Payload, op: &OpId, retention: Retention) -> Result<Recorded>;

    /// Returns the record with its version, or `None`.
    ///
    /// # Guarantees
    ///
    /// - D-4: an expired record is absent. A lease that has no result yet is not a record.
    async fn get(&self, id: &DedupId) -> Result<Option<Entry>>;

    /// Replaces the value if the record still has this version (compare-and-set). The retention does not change.
    ///
    /// # Guarantees
    ///
    /// - D-1: of all calls that name the same version, exactly one returns `Replaced`. A retry of that call, recognised
    ///   by its `op`, returns `Again` until a later change, and then `Stale`, which does not say whether the call was
    ///   once applied.
    async fn replace(&self, id: &DedupId, version: Version, value: &Payload, op: &OpId) -> Result<Replaced>;

    /// Deletes the record if it still has this version, so that the id can be used again.
    ///
    /// # Guarantees
    ///
    /// - D-7: the call leaves a fence, so that late copies of the calls that created the record change nothing. The
    ///   caller must make sure that no call that got `Existing` is still in progress: such calls leave no trace to
    ///   fence.
    async fn forget(&self, id: &DedupId, version: Version) -> Result<Forgotten>;

    /// Lists the records in pages of at most `limit` entries.
    ///
    /// # Guarantees
    ///
    /// - D-4: no expired record is listed. A record that does not change during the listing is listed exactly once.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the limit is 0 or the cursor cannot be read.
    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>>;
}

/// The record of an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The value.
    pub value: Payload,
    /// Its version, for `replace` and `forget`.
    pub version: Version,
}

/// The outcome of `record`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "another operation may have been first"]
pub enum Recorded {
    /// This call recorded the value.
    New(Version),
    /// This operation recorded a value before; this is the current record.
    Again(Entry),
    /// Another operation was first.
    Existing(Entry),
    /// Another operation holds a lease on the id. The lease ends within this time unless it is extended.
    InFlight {
        /// The remaining time of the lease by the store's clock.
        remaining: std::time::Duration,
    },
    /// This operation ended before and can no longer change anything: its record was forgotten or has expired, or its
    /// lease was aborted.
    Fenced,
}

/// The outcome of `replace` on a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the record may have changed"]
pub enum Replaced {
    /// This call replaced the value; the record now has this version.
    Replaced(Version),
    /// This operation replaced the value before; the record then got this version.
    Again(Version),
    /// The record has another version now, or no longer exists.
    Stale(Option<Entry>),
}

/// The outcome of `forget` on a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the record may have changed"]
pub enum Forgotten {
    /// The record is deleted.
    Forgotten,
    /// The record does not exist.
    Absent,
    /// The record has another version now.
    Stale(Entry),
}

/// One entry of `list` on deduplication records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRecord {
    /// The id.
    pub id: DedupId,
    /// The record of the id.
    pub entry: Entry,
}

//! Values that an older write never overwrites (article 4).

use std::time::Duration;

use async_trait::async_trait;

use super::promises::Maintained;
use crate::values::error::Result;
use crate::values::page::{Cursor, Page};
use crate::values::time::checked_duration;
use crate::values::value::{Key, Payload, WriterId};

/// The time and the writer of a write. Retries and hedged writes reuse the stamp of the first attempt.
///
/// # Guarantees
///
/// - O-2 stamps are totally ordered: by `at`, then by writer (bytewise), then a delete over a put. So writes with the
///   same time converge to the same winner everywhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stamp {
    /// Milliseconds since 1970 under [`Stamping::Time`], any growing number under [`Stamping::Sequence`]. Two writes of
    /// one writer within the unit count as one: do not round times to seconds.
    pub at: i64,
    /// The writer.
    pub writer: WriterId,
}

impl Stamp {
    /// Creates a stamp.
    pub fn new(at: i64, writer: WriterId) -> Self {
        Self { at, writer }
    }
}

/// A namespace of values, each guarded by the stamp of its last write.
///
/// # Guarantees
///
/// - O-1 an older stamp never overwrites a newer one, in whatever order the writes arrive, including retries and hedged
///   writes.
/// - O-3 a delete leaves a tombstone: older writes cannot restore the key, and reads never show the tombstone.
/// - O-4 under [`Stamping::Time`] a stamp further ahead of the store's clock than `max_skew`, which is a day unless the
///   options say otherwise, is refused. So a stamp in microseconds cannot lock its key against all later writes.
/// - O-5 under [`Stamping::Sequence`] no clock is read at all.
/// - O-6 [`reset`](OrderedStore::reset) frees a key from a stamp that is too far ahead.
///
/// # Cancel safety
///
/// Every method is one atomic step, never half of one. A call whose future was dropped is done, is not done, or is
/// still in progress and done later. Repeat the call with the same stamp to find out, as after `OutcomeUnknown`.
///
/// # Errors
///
/// `Contention`, `Throttled` and `Unavailable` mean that nothing changed. After `OutcomeUnknown`, make the same call
/// again. `Misconfigured` if the namespace was created with other options; the error names both.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use storagebox_core::{Backend, OrderedOptions, OrderedStore, Stamp, Written};
/// use storagebox_memory::MemoryStore;
///
/// let ratings = MemoryStore::new().ordered_store(&"ratings".parse()?, OrderedOptions::sequence())?;
/// let (phone, laptop) = (Stamp::new(20, "phone".parse()?), Stamp::new(10, "laptop".parse()?));
/// assert_eq!(ratings.put(&"movie-a".parse()?, &"5 stars".try_into()?, &phone).await?, Written::Applied);
/// let late = ratings.put(&"movie-a".parse()?, &"3 stars".try_into()?, &laptop).await?;
/// assert!(matches!(late, Written::Stale { current } if current.at == 20));
/// # Ok(()) }
/// ```
#[async_trait]
pub trait OrderedStore: Send + Sync {
    /// Writes the value unless the key has a newer write.
    ///
    /// # Guarantees
    ///
    /// - O-1: `Stale` names the stamp that won; it does not say whether this write was once applied.
    /// - O-1: `Duplicate` is the writer's own retry; the same stamp and writer with another value returns `Mismatch`.
    /// - O-2: after a [`delete`](OrderedStore::delete) with the same stamp the call returns `Stale`, which names that
    ///   stamp.
    /// - O-3: under [`Stamping::Time`] a stamp older than the purge horizon returns `TooOld`, which names the horizon,
    ///   unless the existing write already decides the outcome. This includes a key that was never written:
    ///   [`OrderedOptions`] explains how to load old rows.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the stamp is further ahead of the store's clock than the options allow (O-4).
    async fn put(&self, key: &Key, value: &Payload, stamp: &Stamp) -> Result<Written>;

    /// Deletes the value unless the key has a newer write, and leaves a tombstone.
    ///
    /// # Guarantees
    ///
    /// - O-1, O-3: as for [`put`](OrderedStore::put), even if there is nothing to delete.
    /// - O-2: the call replaces a put with the same stamp, and returns `Applied`.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the stamp is further ahead of the store's clock than the options allow (O-4).
    async fn delete(&self, key: &Key, stamp: &Stamp) -> Result<Written>;

    /// Returns the value with its stamp, or `None`.
    ///
    /// # Guarantees
    ///
    /// - O-3: for a tombstone the call returns `None`.
    async fn get(&self, key: &Key) -> Result<Option<Versioned>>;

    /// Lists the values whose keys begin with `prefix`, in no promised order, in pages of at most `limit` entries.
    ///
    /// # Guarantees
    ///
    /// - O-3: no tombstone is listed. A value that does not change during the listing is listed exactly once.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the limit is 0 or the cursor cannot be read.
    async fn list(&self, prefix: Option<&Key>, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedValue>>;

    /// Removes the value or the tombstone of the key, and its stamp, if the key has exactly this stamp. Use the call if
    /// the stamp is too far ahead, so that the key refuses every later write.
    ///
    /// Pass the stamp in `Stale`, the answer to the refused writes; [`get`](OrderedStore::get) shows the stamp of a
    /// value. The key then refuses no write, so an older write that is still in progress, or is repeated, is applied.
    /// Put the right value with a right stamp at once, and do not use the removed stamp again.
    ///
    /// # Guarantees
    ///
    /// - O-6: if the key has another stamp, newer or older, the call returns `Stale` with that stamp and changes
    ///   nothing. So no write that came in the meantime is undone.
    ///
    /// # Cancel safety
    ///
    /// Safe. Reset again with the same stamp; `Absent` may then be the result of the first attempt.
    async fn reset(&self, key: &Key, stamp: &Stamp) -> Result<Reset>;

    /// Deletes at most `limit` tombstones that arrived at least `age` ago (any duration, including zero).
    ///
    /// # Guarantees
    ///
    /// - O-3: under [`Stamping::Time`] no tombstone is deleted before the namespace's tombstone age, nor while an older
    ///   stamp would still be accepted. Under [`Stamping::Sequence`] only this call deletes tombstones: the caller must
    ///   make sure that no older write is still in progress.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part may have been removed; purge again.
    async fn purge(&self, age: Duration, limit: usize) -> Result<Maintained>;
}

/// The kind of stamps of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stamping {
    /// Milliseconds since 1970.
    Time {
        /// How far a stamp may be ahead of the store's clock; `None` means no limit (O-4). The limit applies to the
        /// writes of this handle and is not stored with the namespace. So the limit can be changed at any time, and
        /// programs with different limits can use a namespace at once.
        max_skew: Option<Duration>,
    },
    /// Numbers that the writers count themselves; no clock is read (O-5).
    Sequence,
}

/// How ordered values check their writes. The options are chosen when the namespace is opened and stored with it,
/// except for `max_skew`.
///
/// How to load old rows: a key without a row may be a key whose tombstone was purged, so under [`Stamping::Time`] a
/// stamp older than `tombstone_age` returns `TooOld` for every key. To load older rows, create the namespace with an
/// age that is greater than the age of the oldest row when it is loaded. The age is stored with the namespace (S-4):
/// from then on deletes are remembered for that long, and an existing namespace cannot take rows older than it was
/// created for. Rows of any age fit into a namespace with [`Stamping::Sequence`], with their times as numbers; only
/// `purge` deletes its tombstones.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
/// use std::time::Duration;
/// use storagebox::ordered::OrderedOptions;
/// use storagebox::{Store, Written};
///
/// const YEAR: Duration = Duration::from_secs(365 * 24 * 3_600);
/// let (store, rated_at) = (Store::open("memory:").await?, 1_721_769_060_000);
///
/// let refused = store.ordered("recent")?.put("movie-a", "3 stars").at(rated_at).by("import").await?;
/// assert!(matches!(refused, Written::TooOld { horizon } if horizon > rated_at));
///
/// let options = OrderedOptions { tombstone_age: 50 * YEAR, ..OrderedOptions::time() };
/// let all = store.ordered_with("all", options)?;
/// assert_eq!(all.put("movie-a", "3 stars").at(rated_at).by("import").await?, Written::Applied);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OrderedOptions {
    /// The kind of the stamps.
    pub stamping: Stamping,
    /// The minimum time that a tombstone is kept, from its arrival. It is also the purge horizon of O-3: under
    /// [`Stamping::Time`] older stamps are not accepted.
    pub tombstone_age: Duration,
}

impl OrderedOptions {
    /// The default tombstone age: seven days, as in article 4.
    pub const TOMBSTONE_AGE: Duration = Duration::from_secs(7 * 24 * 3600);

    /// The default maximum skew: one day. A stamp in microseconds is tens of thousands of years ahead.
    pub const MAX_SKEW: Duration = Duration::from_secs(24 * 3600);

    /// Creates options for time stamps in milliseconds: at most a day ahead of the store's clock, and at most seven
    /// days behind it.
    pub const fn time() -> Self {
        Self { stamping: Stamping::Time { max_skew: Some(Self::MAX_SKEW) }, tombstone_age: Self::TOMBSTONE_AGE }
    }

    /// Creates options for sequence numbers.
    pub const fn sequence() -> Self {
        Self { stamping: Stamping::Sequence, tombstone_age: Self::TOMBSTONE_AGE }
    }

    /// Returns the options after checking their durations.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if a duration is below one millisecond or above a hundred years.
    pub fn checked(self) -> Result<Self> {
        checked_duration("tombstone age", self.tombstone_age)?;
        if let Stamping::Time { max_skew: Some(skew) } = self.stamping {
            checked_duration("max skew", skew)?;
        }
        Ok(self)
    }
}

impl Default for OrderedOptions {
    fn default() -> Self {
        Self::time()
    }
}

/// A value with the stamp of its last write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned {
    /// The value.
    pub value: Payload,
    /// The stamp of the write that set the value.
    pub stamp: Stamp,
}

/// The outcome of `put` and `delete` on an ordered value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a newer write may have won"]
pub enum Written {
    /// This is the newest write.
    Applied,
    /// The key has a newer write, or this is a put and the key has a delete with the same stamp; nothing changed.
    Stale {
        /// The stamp that the key has.
        current: Stamp,
    },
    /// This write was already applied.
    Duplicate,
    /// The key has a put with the same stamp and writer but another value; nothing changed.
    Mismatch,
    /// The stamp is older than the purge horizon; nothing changed. [`OrderedOptions`] explains how to load old rows.
    TooOld {
        /// The oldest time that is accepted now: the store's clock minus the namespace's `tombstone_age`.
        horizon: i64,
    },
}

/// The outcome of `reset` on an ordered value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the key may have another stamp"]
pub enum Reset {
    /// The key has no stamp any more: the next write is applied.
    Reset,
    /// The key has neither value nor tombstone.
    Absent,
    /// The key has another stamp; nothing changed.
    Stale {
        /// The stamp that the key has.
        current: Stamp,
    },
}

/// One entry of `list` on ordered values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedValue {
    /// The key.
    pub key: Key,
    /// The value and its stamp.
    pub versioned: Versioned,
}

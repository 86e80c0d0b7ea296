//! Values that an older write never overwrites (article 4).

use std::time::Duration;

use async_trait::async_trait;

use crate::backend::Maintained;
use crate::error::{Error, Result};
use crate::page::{Cursor, Page};
use crate::time::checked_duration;
use crate::value::{Key, Payload, WriterId};

/// When a write counts as made, and by whom. Retries and hedged writes reuse the stamp of the first attempt.
///
/// # Guarantees
///
/// - O-2 stamps are totally ordered: by `at`, then by writer (bytewise), then a delete over a put. So writes of
///   one instant converge to one winner everywhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stamp {
    /// Milliseconds since 1970 under [`Stamping::Time`], any growing number under [`Stamping::Sequence`].
    pub at: i64,
    /// Who wrote.
    pub writer: WriterId,
}

impl Stamp {
    /// A stamp of this writer.
    pub fn new(at: i64, writer: WriterId) -> Self {
        Self { at, writer }
    }
}

/// A box of values, each guarded by the stamp of its last write.
///
/// # Guarantees
///
/// - O-1 an older stamp never overwrites a newer one, whatever the order of arrival, also through retries and
///   hedged writes.
/// - O-3 a delete leaves a tombstone: older writes cannot bring the key back, and reads never show it.
/// - O-5 under [`Stamping::Sequence`] no clock is asked at all.
///
/// # Cancel safety
///
/// Every method is one atomic step, so a dropped future leaves it wholly done or wholly not done. Call again with
/// the same stamp to learn which.
///
/// # Errors
///
/// `Contention`, `Throttled` and `Unavailable` changed nothing; `OutcomeUnknown` asks for the same call again.
/// `Misconfigured` if the box was created with other options; it names both.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use storagebox_core::{BackendExt, Key, OrderedOptions, OrderedStore, OrderedStoreExt, Written};
/// use storagebox_memory::MemoryStore;
///
/// let ratings = MemoryStore::new().ordered("ratings", OrderedOptions::sequence())?;
/// assert_eq!(ratings.put_at("movie-a", "5 stars", 20, "phone").await?, Written::Applied);
/// let late = ratings.put_at("movie-a", "3 stars", 10, "laptop").await?;
/// assert!(matches!(late, Written::Stale { current } if current.at == 20));
/// # Ok(()) }
/// ```
#[async_trait]
pub trait OrderedStore: Send + Sync {
    /// Writes the value unless a newer write is there.
    ///
    /// # Guarantees
    ///
    /// - O-1: `Stale` names the stamp that won; it does not say whether this write was once applied.
    /// - O-1: `Duplicate` is one's own retry; the same stamp and writer with other content is `Mismatch`.
    /// - O-3: under [`Stamping::Time`] a stamp older than the purge horizon is `TooOld`, which names the horizon, unless
    ///   what is there already decides it. So is it for a key that was never written: [`OrderedOptions`] says how old rows
    ///   are loaded.
    ///
    /// # Cancel safety
    ///
    /// Safe. Put again with the same stamp.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the stamp is further ahead of the store's clock than the options allow (O-4).
    async fn put(&self, key: &Key, value: &Payload, stamp: &Stamp) -> Result<Written>;

    /// Deletes the value unless a newer write is there, and leaves a tombstone.
    ///
    /// # Guarantees
    ///
    /// - O-1, O-3: as for [`put`](OrderedStore::put), also where there is nothing to delete.
    ///
    /// # Cancel safety
    ///
    /// Safe. Delete again with the same stamp.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the stamp is further ahead of the store's clock than the options allow (O-4).
    async fn delete(&self, key: &Key, stamp: &Stamp) -> Result<Written>;

    /// The value with its stamp, or `None`.
    ///
    /// # Guarantees
    ///
    /// - O-3: a tombstone is `None`.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn get(&self, key: &Key) -> Result<Option<Versioned>>;

    /// The values whose keys begin with `prefix`, a page at a time, in no promised order; at most `limit` entries.
    ///
    /// # Guarantees
    ///
    /// - O-3: no tombstone is shown. A value that does not change meanwhile is shown exactly once.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a limit of 0 or a cursor that this store did not make.
    async fn list(
        &self,
        prefix: Option<&Key>,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<ListedValue>>;

    /// Removes tombstones that arrived at least `age` ago (any duration, zero included), at most `limit` of them.
    ///
    /// # Guarantees
    ///
    /// - O-3: under [`Stamping::Time`] none goes before the box's tombstone age, nor while an older stamp would
    ///   still be accepted. Under [`Stamping::Sequence`] they go by this call alone: the caller vouches that no
    ///   older write is still under way.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part may have been removed; purge again.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn purge(&self, age: Duration, limit: usize) -> Result<Maintained>;
}

/// Sugar for every [`OrderedStore`].
pub trait OrderedStoreExt: OrderedStore {
    /// [`put`](OrderedStore::put) with any texts and bytes.
    ///
    /// # Guarantees
    ///
    /// Those of [`put`](OrderedStore::put).
    ///
    /// # Cancel safety
    ///
    /// Safe. Put again with the same time and writer.
    ///
    /// # Errors
    ///
    /// `InvalidInput` or `TooLarge` if an argument breaks its limit.
    fn put_at<K, V, W>(
        &self,
        key: K,
        value: V,
        at: i64,
        writer: W,
    ) -> impl Future<Output = Result<Written>> + Send
    where
        K: TryInto<Key>,
        V: TryInto<Payload>,
        W: TryInto<WriterId>,
        Error: From<K::Error> + From<V::Error> + From<W::Error>,
    {
        let key = key.try_into().map_err(Error::from);
        let value = value.try_into().map_err(Error::from);
        let writer = writer.try_into().map_err(Error::from);
        async move { self.put(&key?, &value?, &Stamp::new(at, writer?)).await }
    }

    /// [`delete`](OrderedStore::delete) with any texts.
    ///
    /// # Guarantees
    ///
    /// Those of [`delete`](OrderedStore::delete).
    ///
    /// # Cancel safety
    ///
    /// Safe. Delete again with the same time and writer.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if an argument breaks its limit.
    fn delete_at<K, W>(&self, key: K, at: i64, writer: W) -> impl Future<Output = Result<Written>> + Send
    where
        K: TryInto<Key>,
        W: TryInto<WriterId>,
        Error: From<K::Error> + From<W::Error>,
    {
        let key = key.try_into().map_err(Error::from);
        let writer = writer.try_into().map_err(Error::from);
        async move { self.delete(&key?, &Stamp::new(at, writer?)).await }
    }
}

impl<S: OrderedStore + ?Sized> OrderedStoreExt for S {}

/// What the stamps of a box are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stamping {
    /// Milliseconds since 1970.
    Time {
        /// How far a stamp may be ahead of the store's clock; `None` for as far as it likes (O-4).
        max_skew: Option<Duration>,
    },
    /// Numbers that the writers count themselves; no clock is asked (O-5).
    Sequence,
}

/// How an [`OrderedStore`] judges its writes; chosen when the box is opened and kept with it.
///
/// How old rows are loaded: a key without a row may be one whose tombstone was purged, so under [`Stamping::Time`] a stamp
/// that is older than `tombstone_age` is `TooOld` for every key. A box that is to take older rows is created with an age
/// that is greater than the oldest of them is old when it is loaded. It is kept with the box (S-4): deletes are remembered
/// as long ever after, and a box that is there cannot take older rows than it was created for. Rows of any age go into a
/// box of [`Stamping::Sequence`], with their times as numbers; its tombstones go by [`purge`](OrderedStore::purge) alone.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use std::time::Duration;
/// use storagebox_core::{BackendExt, OrderedOptions, OrderedStoreExt, Written};
/// use storagebox_memory::MemoryStore;
///
/// const YEAR: Duration = Duration::from_secs(365 * 24 * 3_600);
/// let (store, rated_at) = (MemoryStore::new(), 1_721_769_060_000);
///
/// let recent = store.ordered("recent", OrderedOptions::time())?;
/// let refused = recent.put_at("movie-a", "3 stars", rated_at, "import").await?;
/// assert!(matches!(refused, Written::TooOld { horizon } if horizon > rated_at));
///
/// let options = OrderedOptions { tombstone_age: 50 * YEAR, ..OrderedOptions::time() };
/// let all = store.ordered("all", options)?;
/// assert_eq!(all.put_at("movie-a", "3 stars", rated_at, "import").await?, Written::Applied);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OrderedOptions {
    /// What the stamps are.
    pub stamping: Stamping,
    /// How long a tombstone is kept at least, counted from its arrival. It is also the purge horizon of O-3: under
    /// [`Stamping::Time`] nothing older is taken.
    pub tombstone_age: Duration,
}

impl OrderedOptions {
    /// Seven days, as in article 4.
    pub const TOMBSTONE_AGE: Duration = Duration::from_secs(7 * 24 * 3600);

    /// Time stamps in milliseconds, as far ahead as they like, and at most seven days behind.
    pub const fn time() -> Self {
        Self { stamping: Stamping::Time { max_skew: None }, tombstone_age: Self::TOMBSTONE_AGE }
    }

    /// Sequence numbers.
    pub const fn sequence() -> Self {
        Self { stamping: Stamping::Sequence, tombstone_age: Self::TOMBSTONE_AGE }
    }

    /// The options, with their durations checked.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a duration below one millisecond or above a hundred years.
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
    /// The stamp of the write that put it.
    pub stamp: Stamp,
}

/// The outcome of [`OrderedStore::put`] and [`OrderedStore::delete`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a newer write may have won"]
pub enum Written {
    /// It is the newest write.
    Applied,
    /// A newer write is there; nothing changed.
    Stale {
        /// The stamp that won.
        current: Stamp,
    },
    /// This very write is there already.
    Duplicate,
    /// A write of this stamp and writer is there, with other content; nothing changed.
    Mismatch,
    /// The stamp is older than the purge horizon; nothing changed. [`OrderedOptions`] says how old rows are loaded.
    TooOld {
        /// The oldest time that is taken now: the store's clock less the box's `tombstone_age`.
        horizon: i64,
    },
}

/// One entry of [`OrderedStore::list`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedValue {
    /// The key.
    pub key: Key,
    /// What stands there.
    pub versioned: Versioned,
}

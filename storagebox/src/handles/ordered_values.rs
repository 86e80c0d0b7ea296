//! The handle of ordered values.

use std::time::Duration;

use storagebox_core::{
    Cursor, Key, ListedValue, Maintained, OrderedStore, Page, Payload, Reset, Result, Stamp, Versioned, WriterId,
    Written,
};

use crate::handles::{IntoValue, handle};

handle! {
    /// Values that an older write never overwrites (article 4).
    ///
    /// The stamp of a write is its writer and its time, in milliseconds since 1970. A time more than a day ahead of the
    /// store's clock is refused, so that one in microseconds does not lock its key;
    /// [`OrderedOptions`](crate::ordered::OrderedOptions) sets another limit or none. With
    /// [`Stamping::Sequence`](crate::ordered::Stamping::Sequence), any growing number takes the place of the time.
    /// [`OrderedStore`](crate::parts::OrderedStore) lists the guarantees. After any error or a dropped future, make the
    /// same call again, with the same stamp.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if a key or a writer breaks its limit, and `TooLarge` if a value is over 256 KiB, before
    /// any I/O.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
    /// use storagebox::ordered::OrderedOptions;
    /// use storagebox::{Store, Written};
    ///
    /// let store = Store::open("memory:").await?;
    /// let ratings = store.ordered_with("ratings", OrderedOptions::sequence())?;
    /// assert_eq!(ratings.put("movie-a", "5 stars", 20, "phone").await?, Written::Applied);
    /// let late = ratings.put("movie-a", "3 stars", 10, "laptop").await?;
    /// assert!(matches!(late, Written::Stale { current } if current.at == 20));
    /// # Ok(()) }
    /// ```
    OrderedValues of OrderedStore
}

impl OrderedValues {
    /// Writes the value unless a newer write exists (O-1, O-3).
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the time is further ahead of the store's clock than the options allow (O-4).
    pub async fn put(
        &self,
        key: impl IntoValue<Key>,
        value: impl IntoValue<Payload>,
        at: i64,
        writer: impl IntoValue<WriterId>,
    ) -> Result<Written> {
        let stamp = Stamp::new(at, writer.into_value()?);
        self.part.put(&key.into_value()?, &value.into_value()?, &stamp).await
    }

    /// Deletes the value unless a newer write exists, and leaves a tombstone (O-1, O-3).
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the time is further ahead of the store's clock than the options allow (O-4).
    pub async fn delete(&self, key: impl IntoValue<Key>, at: i64, writer: impl IntoValue<WriterId>) -> Result<Written> {
        let stamp = Stamp::new(at, writer.into_value()?);
        self.part.delete(&key.into_value()?, &stamp).await
    }

    /// Returns the value with its stamp, or `None` if the value does not exist or was deleted (O-3).
    pub async fn get(&self, key: impl IntoValue<Key>) -> Result<Option<Versioned>> {
        self.part.get(&key.into_value()?).await
    }

    /// Lists at most `limit` values whose keys begin with `prefix`, from the start or from a cursor. The order is not
    /// guaranteed (O-3).
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the limit is 0 or the cursor cannot be read.
    pub async fn list(&self, prefix: Option<&str>, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedValue>> {
        let prefix = prefix.map(Key::try_from).transpose()?;
        self.part.list(prefix.as_ref(), cursor, limit).await
    }

    /// Removes the value or the tombstone of the key, if it has exactly this stamp: the way out of a stamp that is too far
    /// ahead and refuses every later write. The key then refuses no write, also none that is older (O-6).
    pub async fn reset(&self, key: impl IntoValue<Key>, at: i64, writer: impl IntoValue<WriterId>) -> Result<Reset> {
        let stamp = Stamp::new(at, writer.into_value()?);
        self.part.reset(&key.into_value()?, &stamp).await
    }

    /// Deletes at most `limit` tombstones that arrived at least `age` ago. If stamps are sequence numbers, the caller
    /// guarantees that no older write is still in progress (O-3).
    pub async fn purge(&self, age: Duration, limit: usize) -> Result<Maintained> {
        self.part.purge(age, limit).await
    }
}

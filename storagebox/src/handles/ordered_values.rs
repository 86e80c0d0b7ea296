//! The handle of ordered values.

use std::time::Duration;

use storagebox_core::{
    Key, ListedValue, Listing, Maintained, OrderedStore, Payload, Reset, Result, Versioned, Written,
};

use crate::handles::{IntoValue, Write, handle};

handle! {
    /// Values that an older write never overwrites (article 4).
    ///
    /// The stamp of a write is its writer and its time, in milliseconds since 1970. A time more than a day ahead of the
    /// store's clock is refused, so that a time in microseconds does not lock its key;
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
    /// assert_eq!(ratings.put("movie-a", "5 stars").at(20).by("phone").await?, Written::Applied);
    /// let late = ratings.put("movie-a", "3 stars").at(10).by("laptop").await?;
    /// assert!(matches!(late, Written::Stale { current } if current.at == 20));
    /// # Ok(()) }
    /// ```
    OrderedValues of OrderedStore
}

impl<P: OrderedStore + ?Sized> OrderedValues<P> {
    /// Prepares to write the value, unless a newer write exists (O-1, O-3): `put(key, value).at(time).by(writer)`.
    ///
    /// # Errors
    ///
    /// The write returns `InvalidInput` if its time is further ahead of the store's clock than the options allow (O-4).
    pub fn put(&self, key: impl IntoValue<Key>, value: impl IntoValue<Payload>) -> Write<'_, Written> {
        let (key, value) = (key.into_value(), value.into_value());
        Write::new(move |stamp| Box::pin(async move { self.part.put(&key?, &value?, &stamp).await }))
    }

    /// Prepares to delete the value, unless a newer write exists, and to leave a tombstone (O-1, O-3):
    /// `delete(key).at(time).by(writer)`.
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put).
    pub fn delete(&self, key: impl IntoValue<Key>) -> Write<'_, Written> {
        let key = key.into_value();
        Write::new(move |stamp| Box::pin(async move { self.part.delete(&key?, &stamp).await }))
    }

    /// Returns the value with its stamp, or `None` if the value does not exist or was deleted (O-3).
    pub async fn get(&self, key: impl IntoValue<Key>) -> Result<Option<Versioned>> {
        self.part.get(&key.into_value()?).await
    }

    /// Lists the values that were not deleted (O-3).
    pub fn list(&self) -> Listing<'_, ListedValue> {
        Listing::new(move |after, limit| Box::pin(async move { self.part.list(None, after.as_ref(), limit).await }))
    }

    /// Lists the values whose keys begin with this text (O-3).
    pub fn list_prefix(&self, prefix: impl IntoValue<Key>) -> Listing<'_, ListedValue> {
        Listing::of(prefix.into_value(), |prefix| {
            move |after, limit| {
                let prefix = prefix.clone();
                Box::pin(async move { self.part.list(Some(&prefix), after.as_ref(), limit).await })
            }
        })
    }

    /// Prepares to remove the value or the tombstone of the key, if it has exactly this stamp: the way out of a stamp that
    /// is too far ahead and refuses every later write. The key then refuses no write, also none that is older (O-6):
    /// `reset(key).at(time).by(writer)`.
    pub fn reset(&self, key: impl IntoValue<Key>) -> Write<'_, Reset> {
        let key = key.into_value();
        Write::new(move |stamp| Box::pin(async move { self.part.reset(&key?, &stamp).await }))
    }

    /// Deletes at most `limit` tombstones that arrived at least `age` ago. If stamps are sequence numbers, the caller
    /// guarantees that no older write is still in progress (O-3).
    pub async fn purge(&self, age: Duration, limit: usize) -> Result<Maintained> {
        self.part.purge(age, limit).await
    }
}

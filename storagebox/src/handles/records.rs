//! The handle of deduplication records.

use storagebox_core::{
    Cursor, DedupId, DedupRepo, Entry, Forgotten, ListedRecord, OpId, Page, Payload, Recorded, Replaced, Result,
    Retention, Version,
};

use crate::handles::{IntoValue, handle};

handle! {
    /// Records of completed work, one value per id. The first value wins (articles 1 and 3).
    ///
    /// [`DedupRepo`](crate::parts::DedupRepo) lists the guarantees. After any error or a dropped future, make the same
    /// call again, with the same `op`.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if an id or an `op` breaks its limit, and `TooLarge` if a value is over 256 KiB, before
    /// any I/O.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
    /// use storagebox::{Recorded, Retention, Store};
    ///
    /// let orders = Store::open("memory:").await?.records("orders")?;
    /// let first = orders.record("order-7", "paid", "worker-1/7", Retention::DEFAULT).await?;
    /// let second = orders.record("order-7", "refused", "worker-2/7", Retention::DEFAULT).await?;
    /// assert!(matches!(first, Recorded::New(_)));
    /// assert!(matches!(second, Recorded::Existing(entry) if entry.value.as_bytes() == b"paid"));
    /// # Ok(()) }
    /// ```
    Records of DedupRepo
}

impl Records {
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
        self.part.record(&id.into_value()?, &value.into_value()?, &op.into_value()?, retention).await
    }

    /// Returns the record with its version, or `None` if the record does not exist or has expired (D-4).
    pub async fn get(&self, id: impl IntoValue<DedupId>) -> Result<Option<Entry>> {
        self.part.get(&id.into_value()?).await
    }

    /// Returns whether the id has a record that has not expired (D-4). Reads the value as [`get`](Self::get) does.
    pub async fn exists(&self, id: impl IntoValue<DedupId>) -> Result<bool> {
        self.get(id).await.map(|entry| entry.is_some())
    }

    /// Replaces the value if the record still has this version. The retention stays unchanged.
    pub async fn replace(
        &self,
        id: impl IntoValue<DedupId>,
        version: Version,
        value: impl IntoValue<Payload>,
        op: impl IntoValue<OpId>,
    ) -> Result<Replaced> {
        self.part.replace(&id.into_value()?, version, &value.into_value()?, &op.into_value()?).await
    }

    /// Deletes the record if it still has this version, so that the id can be used again. The caller guarantees that no
    /// call that got `Existing` is still in progress (D-7).
    pub async fn forget(&self, id: impl IntoValue<DedupId>, version: Version) -> Result<Forgotten> {
        self.part.forget(&id.into_value()?, version).await
    }

    /// Lists at most `limit` records, from the start or from a cursor (D-4).
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the limit is 0 or the cursor cannot be read.
    pub async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>> {
        self.part.list(cursor, limit).await
    }
}

//! The handle of entities.

use storagebox_core::{Cursor, EntityLedger, EntryId, Key, MessageId, Page, Payload, Result};

use crate::handles::{IntoValue, handle};

handle! {
    /// The entities that a [`Processor`](crate::Processor) changes (article 2), to be looked at. Messages alone change
    /// them.
    ///
    /// [`EntityLedger`](crate::parts::EntityLedger) lists the guarantees.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if a key breaks its limit, before any I/O.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
    /// use storagebox::Store;
    ///
    /// let payments = Store::open("memory:").await?.entities("payments")?;
    /// assert_eq!(payments.get("order-7").await?, None);
    /// assert!(payments.pending(None, 100).await?.entries.is_empty());
    /// # Ok(()) }
    /// ```
    Entities of EntityLedger
}

impl Entities {
    /// Returns the state of an entity; `None` if there is none (E-5).
    pub async fn get(&self, entity: impl IntoValue<Key>) -> Result<Option<Payload>> {
        // An entity is opened for a message, and no message has an entry under this id.
        let nobody = MessageId::new("-")?;
        Ok(self.part.open(&entity.into_value()?, &nobody, None).await?.state)
    }

    /// Lists the messages that have changed their entities and are not finished, in pages of at most `limit` (E-5).
    /// Entries that stay belong to workers that crashed: [`resume`](crate::Processor::resume) them.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the limit is 0 or the cursor cannot be read.
    pub async fn pending(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<EntryId>> {
        self.part.pending(cursor, limit).await
    }
}

//! The handle of a ledger.

use std::time::Duration;

use storagebox_core::{
    Cancelled, Counted, CounterPromise, Cursor, Key, Ledger as Part, LedgerEntry, Maintained, OpId, Page, Result,
};

use crate::handles::Apply;
use crate::handles::{IntoValue, handle};

handle! {
    /// Counters that store every change as a separate entry (article 5, approach 6).
    ///
    /// The part trait [`Ledger`](crate::parts::Ledger) lists the guarantees. After any error or a dropped future, make
    /// the same call again, with the same `op`.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if a key or an `op` breaks its limit, before any I/O.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
    /// use std::time::Duration;
    /// use storagebox::counters::LedgerEntry;
    /// use storagebox::{Counted, Store};
    ///
    /// let balances = Store::open("memory:").await?.ledger("balances")?;
    /// let deposit = balances.apply("customer-1", "deposit-1", 30).because("opening balance").await?;
    /// let withdrawal = balances.add("customer-1", "withdrawal-1", -5).await?;
    /// assert!(matches!((deposit, withdrawal), (Counted::Applied { .. }, Counted::Applied { .. })));
    /// assert_eq!(balances.log("customer-1", None, 100).await?.entries.len(), 2);
    ///
    /// assert_eq!(balances.compact("customer-1", Duration::ZERO, 100).await?.deleted, 2);
    /// let log = balances.log("customer-1", None, 100).await?.entries;
    /// assert!(matches!(log[..], [LedgerEntry::Sum { delta: 25, changes: 2, .. }]));
    /// # Ok(()) }
    /// ```
    Ledger of Part
}

impl Ledger {
    /// Adds the delta to the counter, once per operation (C-1).
    pub async fn add(&self, key: impl IntoValue<Key>, op: impl IntoValue<OpId>, delta: i64) -> Result<Counted> {
        self.apply(key, op, delta).await
    }

    /// Prepares a change, with an optional [reason](Apply::because). Awaiting it makes the change, once per operation
    /// (C-1, C-9).
    ///
    /// # Errors
    ///
    /// Returns `Unsupported` if the change has bounds: a ledger has no stored value to check against them.
    pub fn apply(&self, key: impl IntoValue<Key>, op: impl IntoValue<OpId>, delta: i64) -> Apply<'_> {
        Apply::new(&*self.part, key, op, delta)
    }

    /// Fences the operation: after this call, the operation either was applied or never will be (C-8).
    ///
    /// # Errors
    ///
    /// Returns `Unsupported` if the ledger is used in several regions.
    pub async fn cancel(&self, key: impl IntoValue<Key>, op: impl IntoValue<OpId>) -> Result<Cancelled> {
        self.part.cancel(&key.into_value()?, &op.into_value()?).await
    }

    /// Returns the counter's value. The value of an absent counter is 0 (C-6, C-7).
    pub async fn value(&self, key: impl IntoValue<Key>) -> Result<i64> {
        self.part.value(&key.into_value()?).await
    }

    /// Returns the counter's value as of at most `max_age` ago, as this process knows it (C-6).
    pub async fn value_within(&self, key: impl IntoValue<Key>, max_age: Duration) -> Result<i64> {
        self.part.value_within(&key.into_value()?, max_age).await
    }

    /// Lists at most `limit` entries of a key, from the start or from a cursor: first the sum of the compacted changes,
    /// then the changes by time and operation (C-7, C-8, C-9).
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the limit is 0 or the cursor cannot be read.
    pub async fn log(
        &self,
        key: impl IntoValue<Key>,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<LedgerEntry>> {
        self.part.log(&key.into_value()?, cursor, limit).await
    }

    /// Merges at most `limit` changes that are at least `older_than` old into one sum, the oldest first. The caller
    /// guarantees that no attempt of an operation of that age is still in progress (C-7).
    ///
    /// # Errors
    ///
    /// Returns `Unsupported` if the ledger is used in several regions.
    pub async fn compact(&self, key: impl IntoValue<Key>, older_than: Duration, limit: usize) -> Result<Maintained> {
        self.part.compact(&key.into_value()?, older_than, limit).await
    }

    /// Returns what the ledger guarantees on this backend.
    pub fn promise(&self) -> CounterPromise {
        self.part.promise()
    }
}

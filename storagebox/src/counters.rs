//! The handle of counters.

use storagebox_core::{Cancelled, Counted, Counter, CounterPromise, Error, Key, OpId, Result};

use crate::apply::Apply;
use crate::handle::{checked, handle};

handle! {
    /// Counters whose changes are applied once each (articles 3 and 5).
    ///
    /// The promises are those of [`Counter`](crate::Counter). After any error or a dropped future, make the same call again,
    /// with the same `op`, if the error is [retryable](crate::Error::is_retryable).
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a key or an `op` that breaks its limit, before any I/O.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
    /// use storagebox::{Bounds, Counted, Store};
    ///
    /// let stock = Store::open("memory:").await?.counters("stock")?;
    /// stock.add("red-shoes", "delivery-1", 1).await?;
    /// let sold = stock.apply("red-shoes", "order-1", -1).within(Bounds::at_least(0)).await?;
    /// assert_eq!(sold, Counted::Applied { value: Some(0) });
    /// let none_left = stock.apply("red-shoes", "order-2", -1).within(Bounds::at_least(0)).await?;
    /// assert_eq!(none_left, Counted::OutOfBounds);
    /// # Ok(()) }
    /// ```
    Counters of Counter
}

impl Counters {
    /// Adds the delta to the counter, once for each operation (C-1, C-4).
    pub async fn add(
        &self,
        key: impl TryInto<Key, Error: Into<Error>>,
        op: impl TryInto<OpId, Error: Into<Error>>,
        delta: i64,
    ) -> Result<Counted> {
        self.apply(key, op, delta).await
    }

    /// Prepares a change that may have [bounds](Apply::within) and a [reason](Apply::because). Awaiting it makes the change,
    /// once for each operation, if the result is within the bounds (C-1, C-2, C-8).
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the counters have bounds of their own and the change names others; `Unsupported` for bounds or a
    /// reason that the strategy cannot keep.
    pub fn apply(
        &self,
        key: impl TryInto<Key, Error: Into<Error>>,
        op: impl TryInto<OpId, Error: Into<Error>>,
        delta: i64,
    ) -> Apply<'_> {
        Apply::new(&*self.part, key, op, delta)
    }

    /// Fences the operation: afterwards it was applied, or never will be (C-8).
    ///
    /// # Errors
    ///
    /// `Unsupported` for strategies that remember no operation for long enough.
    pub async fn cancel(
        &self,
        key: impl TryInto<Key, Error: Into<Error>>,
        op: impl TryInto<OpId, Error: Into<Error>>,
    ) -> Result<Cancelled> {
        self.part.cancel(&checked(key)?, &checked(op)?).await
    }

    /// Returns the counter's value; an absent counter is 0 (C-6, C-7).
    pub async fn value(&self, key: impl TryInto<Key, Error: Into<Error>>) -> Result<i64> {
        self.part.value(&checked(key)?).await
    }

    /// Returns what the strategy guarantees on this backend.
    pub fn promise(&self) -> CounterPromise {
        self.part.promise()
    }
}

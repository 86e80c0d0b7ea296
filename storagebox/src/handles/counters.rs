//! The handle of counters.

use storagebox_core::{Cancelled, Counted, Counter, CounterPromise, Key, OpId, Result};

use crate::handles::Apply;
use crate::handles::{IntoValue, handle};

handle! {
    /// Counters that apply each change once (articles 3 and 5).
    ///
    /// [`Counter`](crate::parts::Counter) lists the guarantees. After a dropped future or a
    /// [retryable](crate::Error::is_retryable) error, make the same call again, with the same `op`.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if a key or an `op` breaks its limit, before any I/O.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
    /// use storagebox::counters::Bounds;
    /// use storagebox::{Counted, Store};
    ///
    /// let stock = Store::open("memory:").await?.counters("stock")?;
    /// assert_eq!(stock.add("red-shoes", "delivery-1", 1).await?, Counted::Applied { value: Some(1) });
    /// let sold = stock.apply("red-shoes", "order-1", -1).within(Bounds::at_least(0)).await?;
    /// assert_eq!(sold, Counted::Applied { value: Some(0) });
    /// let none_left = stock.apply("red-shoes", "order-2", -1).within(Bounds::at_least(0)).await?;
    /// assert_eq!(none_left, Counted::OutOfBounds);
    /// # Ok(()) }
    /// ```
    Counters of Counter
}

impl Counters {
    /// Adds the delta to the counter, once per operation (C-1, C-4).
    pub async fn add(&self, key: impl IntoValue<Key>, op: impl IntoValue<OpId>, delta: i64) -> Result<Counted> {
        self.apply(key, op, delta).await
    }

    /// Prepares a change, with optional [bounds](Apply::within) and an optional [reason](Apply::because). Awaiting it
    /// makes the change, once per operation, if the result is within the bounds (C-1, C-2, C-8).
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the counters have bounds of their own and the change names other bounds. Returns
    /// `Unsupported` if the strategy cannot keep bounds or a reason.
    pub fn apply(&self, key: impl IntoValue<Key>, op: impl IntoValue<OpId>, delta: i64) -> Apply<'_> {
        Apply::new(&*self.part, key, op, delta)
    }

    /// Fences the operation: after this call, the operation either was applied or never will be (C-8).
    ///
    /// # Errors
    ///
    /// Returns `Unsupported` if the strategy does not remember operations for long enough.
    pub async fn cancel(&self, key: impl IntoValue<Key>, op: impl IntoValue<OpId>) -> Result<Cancelled> {
        self.part.cancel(&key.into_value()?, &op.into_value()?).await
    }

    /// Returns the counter's value. The value of an absent counter is 0 (C-6, C-7).
    pub async fn value(&self, key: impl IntoValue<Key>) -> Result<i64> {
        self.part.value(&key.into_value()?).await
    }

    /// Returns what the strategy guarantees on this backend.
    pub fn promise(&self) -> CounterPromise {
        self.part.promise()
    }
}

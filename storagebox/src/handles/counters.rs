//! The handle of counters.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, Cancelled, Counter, CounterPromise, Error, Key, Ledger, LedgerEntry, Listing, Maintained, Namespace,
    Result, Strategy,
};

use crate::handles::{Add, IntoValue, Operation};

/// Counters that apply each change once (articles 3 and 5).
///
/// With [`Strategy::Ledger`] they also store every change as a separate entry. [`Counter`](crate::parts::Counter) and
/// [`Ledger`](crate::parts::Ledger) list the guarantees. After a dropped future or a
/// [retryable](crate::Error::is_retryable) error, make the same call again, with the same operation.
///
/// Cheap to clone: clones share one part. Calls are retried and have a deadline, as [`Store`](crate::Store) describes;
/// [within a transaction](crate::Within) they are made once.
///
/// # Errors
///
/// Returns `InvalidInput` if a key or an operation breaks its limit, before any I/O.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
/// use storagebox::{Counted, Store};
///
/// let stock = Store::open("memory:").await?.counters("stock")?;
/// assert_eq!(stock.add("red-shoes", 1).by("delivery-1").await?, Counted::Applied { value: Some(1) });
/// assert_eq!(stock.add("red-shoes", -1).within(0..).by("order-1").await?, Counted::Applied { value: Some(0) });
/// assert_eq!(stock.add("red-shoes", -1).within(0..).by("order-2").await?, Counted::OutOfBounds);
/// # Ok(()) }
/// ```
pub struct Counters<P: ?Sized = dyn Counter, L: ?Sized = dyn Ledger> {
    part: Arc<P>,
    /// The same counters as a ledger; `None` if the strategy keeps no log.
    ledger: Option<Arc<L>>,
    name: Namespace,
}

impl Counters {
    pub(crate) fn open(backend: &dyn Backend, name: Namespace, strategy: Strategy) -> Result<Self> {
        if strategy == Strategy::Ledger {
            let ledger = backend.ledger(&name)?;
            return Ok(Self { part: Arc::clone(&ledger) as _, ledger: Some(ledger), name });
        }
        Ok(Self { part: backend.counter(&name, strategy)?, ledger: None, name })
    }
}

impl<P: Counter, L: Ledger> Counters<P, L> {
    pub(crate) fn new(name: Namespace, part: P, ledger: Option<L>) -> Self {
        Self { part: Arc::new(part), ledger: ledger.map(Arc::new), name }
    }
}

impl<P: Counter + ?Sized, L: Ledger + ?Sized> Counters<P, L> {
    /// Prepares a change, optionally [within](Add::within) a range and with a [reason](Add::because). [`by`](Add::by)
    /// names the operation and makes the change once per operation, if the result is in the range (C-1, C-2, C-4, C-8,
    /// C-9).
    pub fn add(&self, key: impl IntoValue<Key>, delta: i64) -> Add<'_> {
        let change = move |key, change| Box::pin(async move { self.part.apply(&key, &change).await }) as _;
        Add::new(change, key.into_value(), delta)
    }

    /// Prepares to fence an operation: after this call, the operation either was applied or never will be (C-8).
    /// [`by`](Operation::by) names the operation and fences it.
    ///
    /// # Errors
    ///
    /// Returns `Unsupported` if the strategy does not remember operations for long enough, or if a ledger is used in
    /// several regions.
    pub fn cancel(&self, key: impl IntoValue<Key>) -> Operation<'_, Cancelled> {
        let key = key.into_value();
        Operation::new(move |op| Box::pin(async move { self.part.cancel(&key?, &op).await }))
    }

    /// Returns the counter's value. The value of an absent counter is 0 (C-6, C-7).
    pub async fn value(&self, key: impl IntoValue<Key>) -> Result<i64> {
        self.part.value(&key.into_value()?).await
    }

    /// Returns the counter's value as of at most `max_age` ago, as this process knows it (C-6).
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the strategy is not [`Strategy::Ledger`]: only its values take long to read.
    pub async fn value_within(&self, key: impl IntoValue<Key>, max_age: Duration) -> Result<i64> {
        self.ledger()?.value_within(&key.into_value()?, max_age).await
    }

    /// Lists at most `limit` entries of a key, from the start or from a cursor: first the sum of the compacted changes,
    /// then the changes by time and operation (C-7, C-8, C-9).
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the strategy is not [`Strategy::Ledger`]. Returns `InvalidInput` if the limit is 0 or
    /// the cursor cannot be read.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
    /// use std::time::Duration;
    /// use storagebox::counters::LedgerEntry;
    /// use storagebox::{Counted, Store, Strategy};
    ///
    /// let balances = Store::open("memory:").await?.counters_with("balances", Strategy::Ledger)?;
    /// let deposit = balances.add("customer-1", 30).because("opening balance").by("deposit-1").await?;
    /// let withdrawal = balances.add("customer-1", -5).by("withdrawal-1").await?;
    /// assert!(matches!((deposit, withdrawal), (Counted::Applied { .. }, Counted::Applied { .. })));
    /// assert_eq!(balances.log("customer-1").all().await?.len(), 2);
    ///
    /// assert_eq!(balances.compact("customer-1", Duration::ZERO, 100).await?.deleted, 2);
    /// let log = balances.log("customer-1").all().await?;
    /// assert!(matches!(log[..], [LedgerEntry::Sum { delta: 25, changes: 2, .. }]));
    /// # Ok(()) }
    /// ```
    pub fn log(&self, key: impl IntoValue<Key>) -> Listing<'_, LedgerEntry> {
        let of = key.into_value().and_then(|key| Ok((key, self.ledger()?)));
        Listing::of(of, |(key, ledger)| {
            move |after, limit| {
                let key = key.clone();
                Box::pin(async move { ledger.log(&key, after.as_ref(), limit).await })
            }
        })
    }

    /// Merges at most `limit` changes that are at least `older_than` old into one sum, the oldest first. The caller
    /// guarantees that no attempt of an operation of that age is still in progress (C-7).
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the strategy is not [`Strategy::Ledger`]. Returns `Unsupported` if the ledger is used
    /// in several regions.
    pub async fn compact(&self, key: impl IntoValue<Key>, older_than: Duration, limit: usize) -> Result<Maintained> {
        self.ledger()?.compact(&key.into_value()?, older_than, limit).await
    }

    /// Returns what the strategy guarantees on this backend.
    pub fn promise(&self) -> CounterPromise {
        self.part.promise()
    }

    fn ledger(&self) -> Result<&L> {
        let other = || Error::misconfigured("strategy", "keeps no log: open the counters with Strategy::Ledger");
        self.ledger.as_deref().ok_or_else(other)
    }
}

impl<P: ?Sized, L: ?Sized> Clone for Counters<P, L> {
    fn clone(&self) -> Self {
        Self { part: Arc::clone(&self.part), ledger: self.ledger.clone(), name: self.name.clone() }
    }
}

impl<P: ?Sized, L: ?Sized> fmt::Debug for Counters<P, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counters").field("name", &self.name).finish_non_exhaustive()
    }
}

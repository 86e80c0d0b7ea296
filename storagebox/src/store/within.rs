//! The handles of a store within a transaction of the caller.

use std::any::Any;
use std::fmt;

use storagebox_core::{
    CommitState, Counter, DedupRepo, ErrorKind, InTransaction, ItemBank, LeaseRepo, Ledger, Namespace, OrderedOptions,
    OrderedStore, Receipt, Result, Strategy, TokenStore, TransactionPart, settle,
};

use super::Store;
use crate::handles::{Bank, Counters, Dedup, IntoValue, OrderedValues, Tokens};

/// A store within a transaction of the caller: its calls and the caller's own writes are committed together, or none of
/// them.
///
/// Its handles have the same calls and the same outcomes as those of the [`Store`], and each call is made once, by the
/// caller's connection: nothing is retried, combined or bounded by a deadline. Composites that need several
/// transactions, such as a run or a processor, have no handle here.
///
/// A call holds its rows until the transaction ends. Make your own writes first, then the calls of this store, and
/// commit; if a transaction makes several calls, make them in this order: banks, records, tokens, counters, ordered
/// values, and by id within a part. Transactions with another order can wait for each other, until the store ends one.
///
/// # Guarantees
///
/// - J-1: a call takes effect when the transaction commits, together with everything else in it, or not at all.
/// - J-2: each call is made once. After any error, roll the transaction back.
/// - J-3: a connection that is not in a transaction, or in one of another isolation level than READ COMMITTED, is refused
///   before anything is applied.
/// - J-4: `complete` with a lease that is over ends the transaction, which then cannot be committed.
///
/// # Cancel safety
///
/// A call that is dropped before its end leaves the transaction unusable for the store: roll it back.
///
/// # Errors
///
/// A batch of more than 1,000 entries returns `InvalidInput`; `compact` and `purge` return `Unsupported`. A call returns
/// `Contention` while another call of the same transaction is in progress, and after one that was dropped. `complete` with
/// a lease that is over returns `Fenced`.
///
/// # Example
///
/// A test of code that calls the store within its own transaction, without a server: a `MemoryTransaction` takes the
/// place of the connection.
///
/// ```
/// # #[cfg(feature = "memory")] #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
/// use std::any::Any;
/// use storagebox::memory::MemoryTransaction;
/// use storagebox::{Result, Store};
///
/// /// The code under test. In production the connection is `&mut *tx` of sqlx.
/// async fn order<C: Any + Send>(store: &Store, connection: &mut C, email: &str) -> Result<bool> {
///     Ok(store.within(connection)?.bank("vouchers")?.assign(email).await?.item().is_some())
/// }
///
/// let store = Store::open("memory:").await?;
/// let vouchers = store.bank("vouchers")?;
/// vouchers.add(["VOUCHER-1"]).await?;
///
/// let mut failed = MemoryTransaction::begin();
/// assert!(order(&store, &mut failed, "ada@example.com").await?);
/// failed.rollback();
/// assert_eq!(vouchers.counts().await?.free, 1);
///
/// let mut transaction = MemoryTransaction::begin();
/// assert!(order(&store, &mut transaction, "bob@example.com").await?);
/// transaction.commit()?;
/// assert_eq!(vouchers.counts().await?.free, 0);
/// # Ok(()) }
/// # #[cfg(not(feature = "memory"))] fn main() {}
/// ```
pub struct Within<'t> {
    store: Store,
    parts: InTransaction<'t>,
}

type Part<'t, P> = TransactionPart<'t, P>;

impl Store {
    /// Joins a transaction of the caller, which is open on this connection: `&mut *tx` of sqlx, or any `PgConnection`
    /// or `SqliteConnection` on which a transaction was begun. It must be a transaction of the database that holds the
    /// store. A store in memory joins a `MemoryTransaction`. Sends nothing.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the connection is not one of the store's kind, and `Unsupported` if the backend joins
    /// no transactions.
    pub fn within<'t, C: Any + Send>(&self, connection: &'t mut C) -> Result<Within<'t>> {
        Ok(Within { store: self.clone(), parts: self.inner.within(connection)? })
    }

    /// Returns whether the transaction that wrote the [receipt](Within::receipt) was committed: the answer after a COMMIT
    /// whose reply was lost.
    ///
    /// The answer is exact and stays the same (J-5). `NotCommitted` fences the transaction, so that it can never commit any
    /// more, also if the server still works on it. Ask the store that wrote the receipt, outside the transaction: another
    /// store has no record of it, and says `NotCommitted`.
    ///
    /// # Cancel safety
    ///
    /// Safe: call again.
    ///
    /// # Errors
    ///
    /// Returns `Contention` while the transaction is still open: ask again. Returns `Unsupported` for a receipt of more than
    /// 84 hours ago.
    pub async fn settle(&self, receipt: &Receipt) -> Result<CommitState> {
        let name = Receipt::namespace()?;
        let once = self.clone().without_retry();
        match settle(&*once.backend.dedup_repo(&name)?, receipt).await {
            // The caller decides how often to ask about an open transaction.
            Err(error) if error.is_retryable() && error.kind() != ErrorKind::Contention => {
                settle(&*self.backend.dedup_repo(&name)?, receipt).await
            }
            answer => answer,
        }
    }
}

/// Opens the parts of the store within the transaction.
///
/// # Errors
///
/// As for the parts of the [`Store`].
impl<'t> Within<'t> {
    /// Opens the bank of this name.
    pub fn bank(&self, name: impl IntoValue<Namespace>) -> Result<Bank<Part<'t, dyn ItemBank>>> {
        let name = name.into_value()?;
        let part = self.parts.item_bank(&name)?;
        Ok(Bank::new(name, part.into()))
    }

    /// Opens the records of this name, and the steps of their leases.
    pub fn dedup(
        &self,
        name: impl IntoValue<Namespace>,
    ) -> Result<Dedup<Part<'t, dyn DedupRepo>, Part<'t, dyn LeaseRepo>>> {
        let name = name.into_value()?;
        let (records, leases) = (self.parts.dedup_repo(&name), self.parts.lease_repo(&name));
        Dedup::within(name, records, leases, &self.store)
    }

    /// Opens the tokens of this name.
    pub fn tokens(&self, name: impl IntoValue<Namespace>) -> Result<Tokens<Part<'t, dyn TokenStore>>> {
        let name = name.into_value()?;
        let part = self.parts.token_store(&name)?;
        Ok(Tokens::new(name, part.into()))
    }

    /// Opens the counters of this name with the default [`Strategy`].
    pub fn counters(
        &self,
        name: impl IntoValue<Namespace>,
    ) -> Result<Counters<Part<'t, dyn Counter>, Part<'t, dyn Ledger>>> {
        self.counters_with(name, Strategy::default())
    }

    /// Opens the counters of this name with a strategy, as [`Store::counters_with`] does.
    pub fn counters_with(
        &self,
        name: impl IntoValue<Namespace>,
        strategy: Strategy,
    ) -> Result<Counters<Part<'t, dyn Counter>, Part<'t, dyn Ledger>>> {
        let name = name.into_value()?;
        let ledger = (strategy == Strategy::Ledger).then(|| self.parts.ledger(&name)).transpose()?;
        let part = self.parts.counter(&name, strategy)?;
        Ok(Counters::new(name, part, ledger))
    }

    /// Opens the ordered values of this name with the default [`OrderedOptions`].
    pub fn ordered(&self, name: impl IntoValue<Namespace>) -> Result<OrderedValues<Part<'t, dyn OrderedStore>>> {
        self.ordered_with(name, OrderedOptions::default())
    }

    /// Opens the ordered values of this name with options, as [`Store::ordered_with`] does.
    pub fn ordered_with(
        &self,
        name: impl IntoValue<Namespace>,
        options: OrderedOptions,
    ) -> Result<OrderedValues<Part<'t, dyn OrderedStore>>> {
        let name = name.into_value()?;
        let part = self.parts.ordered_store(&name, options)?;
        Ok(OrderedValues::new(name, part.into()))
    }

    /// Writes a receipt into the transaction. If the reply to COMMIT is lost, [`Store::settle`] tells by the receipt
    /// whether the transaction was committed (J-5). Keep its text if another process is to ask.
    ///
    /// # Errors
    ///
    /// The errors of the call that writes it.
    pub async fn receipt(&self) -> Result<Receipt> {
        self.parts.receipt().await
    }
}

impl fmt::Debug for Within<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Within").field("backend", &self.store.backend()).finish_non_exhaustive()
    }
}

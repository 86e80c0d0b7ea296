//! Transactions of callers: other callers see the changes of a transaction after its commit.

mod keyed;
mod open;
mod pending;
mod waits;

use std::convert::Infallible;
use std::fmt;
use std::future::pending;

use storagebox_core::{Result, Transaction, async_trait};

pub(crate) use keyed::{Entry, Keyed, each_of};
pub(crate) use open::{End, Ending, Open, Touched};
pub(crate) use pending::Pending;
pub(crate) use waits::Waits;

/// A transaction of a caller on memory, for tests of code that calls a store within its own transaction.
///
/// It takes the place of the connection: [`within`](storagebox_core::Backend::within) joins it, on any number of stores.
/// Dropping it rolls it back.
///
/// # Guarantees
///
/// - J-1: the calls take effect together at the [commit](Self::commit), or never. Until then another caller that
///   changes the same entries gets `Contention`, and a read returns the state before the transaction. A `take` skips an
///   item that an open transaction took; if there is no other, it returns `Contention` and not `Empty`.
/// - J-1: a call within another transaction waits for the end of this one, as on PostgreSQL. Of transactions that wait for
///   each other, one gets `Contention`.
/// - J-4: `complete` with a lease that is over makes the commit impossible.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use storagebox_core::{Backend, Hold, Item, ItemBank};
/// use storagebox_memory::{MemoryStore, MemoryTransaction};
///
/// let store = MemoryStore::new();
/// let bank = store.item_bank(&"vouchers".parse()?)?;
/// bank.add(&[Item::new("VOUCHER-1")?]).await?;
///
/// let mut transaction = MemoryTransaction::begin();
/// let vouchers = store.within(&mut transaction)?.item_bank(&"vouchers".parse()?)?;
/// assert!(vouchers.take(&"ada".parse()?, Hold::Forever).await?.item().is_some());
/// drop(vouchers);
/// assert_eq!(bank.counts().await?.free, 1);
/// transaction.commit()?;
/// assert_eq!(bank.counts().await?.free, 0);
/// # Ok(()) }
/// ```
#[must_use = "dropping a transaction rolls it back"]
pub struct MemoryTransaction(Open);

impl MemoryTransaction {
    /// Begins a transaction.
    pub fn begin() -> Self {
        Self(Open::begin())
    }

    /// Commits: all changes of the calls become visible to other callers at once.
    ///
    /// # Guarantees
    ///
    /// - J-1, J-4: as for the transaction.
    ///
    /// # Errors
    ///
    /// Returns `Fenced` if `complete` was called with a lease that is over. The transaction is then rolled back.
    pub fn commit(self) -> Result<()> {
        self.0.end(End::Commit)
    }

    /// Rolls back: undoes all changes of the calls.
    pub fn rollback(self) {}

    pub(crate) fn open(&self) -> &Open {
        &self.0
    }
}

impl Drop for MemoryTransaction {
    fn drop(&mut self) {
        // After a commit this does nothing.
        let _ended = self.0.end(End::Rollback);
    }
}

impl fmt::Debug for MemoryTransaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryTransaction").finish_non_exhaustive()
    }
}

/// The connection of a transaction. No call sends a request to it, because the calls change the memory themselves.
pub(crate) struct Joined;

#[async_trait]
impl Transaction for Joined {
    async fn serve(&mut self) -> Infallible {
        pending().await
    }
}

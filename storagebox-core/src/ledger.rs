//! The operations of a ledger themselves: their log, their compaction, and reads that may be a little old
//! (article 5, approach 6).

use std::time::Duration;

use async_trait::async_trait;

use crate::backend::Maintained;
use crate::counter::Counter;
use crate::error::Result;
use crate::page::{Cursor, Page};
use crate::value::{Key, OpId, Reason};

/// Counters with [`Strategy::Ledger`](crate::Strategy::Ledger), which keep every change as an entry of its own.
///
/// # Guarantees
///
/// - C-1 each operation is one entry, whatever is repeated, because the entry's key is the operation alone.
/// - C-7 the value is the sum of the entries, before, during and after compaction.
///
/// # Cancel safety
///
/// Every method is safe: call it again.
///
/// # Errors
///
/// `Contention`, `Throttled` and `Unavailable` changed nothing; `OutcomeUnknown` asks for the same call again.
///
/// # Backend notes
///
/// Where the store keeps no sum, [`apply`](Counter::apply) cannot test for an overflow in its one step: a sum beyond `i64`
/// is then `TooLarge` from [`value`](Counter::value), until other changes bring it back.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use std::time::Duration;
/// use storagebox_core::{BackendExt, Counter, CounterExt, Key, Ledger, LedgerEntry};
/// use storagebox_memory::MemoryStore;
///
/// let balances = MemoryStore::new().ledgers("balances")?;
/// let key = Key::new("customer-1")?;
/// balances.add("customer-1", "deposit-1", 30).await?;
/// balances.add("customer-1", "withdrawal-1", -5).await?;
/// assert_eq!(balances.log(&key, None, 100).await?.entries.len(), 2);
///
/// assert_eq!(balances.compact(&key, Duration::ZERO, 100).await?.deleted, 2);
/// let log = balances.log(&key, None, 100).await?.entries;
/// assert!(matches!(log[..], [LedgerEntry::Sum { delta: 25, changes: 2, .. }]));
/// assert_eq!(balances.value(&key).await?, 25);
/// # Ok(()) }
/// ```
#[async_trait]
pub trait Ledger: Counter {
    /// Shows the entries of a key, at most `limit` of them: the sum of what was compacted first, then the changes in
    /// the order of their time, and of their operation where it is the same.
    ///
    /// # Guarantees
    ///
    /// - C-7: an entry that is there throughout is shown exactly once, because the cursor is a place in that order. A
    ///   compaction between two pages may have merged what was still to come.
    /// - C-8: operations that were cancelled are not shown.
    /// - C-9: a change is shown with the reason that it was applied for.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a limit of 0 or a cursor that this box did not make.
    async fn log(&self, key: &Key, cursor: Option<&Cursor>, limit: usize) -> Result<Page<LedgerEntry>>;

    /// Merges changes that are at least `older_than` old (any duration, zero included) into one sum, the oldest first,
    /// at most `limit` of them; [`Maintained::deleted`] counts them. A sum that is there already takes them up, so there are
    /// never two.
    ///
    /// # Guarantees
    ///
    /// - C-7: the value never changes, not even for a moment, because the entries go in the same step as the sum grows.
    ///
    /// An operation that was compacted is forgotten with its reason, and fences of that age may be: the caller vouches that
    /// no attempt of it is under way.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part may have been merged; compact again.
    ///
    /// # Errors
    ///
    /// `Unsupported` for a ledger in several regions, where an attempt may always be under way.
    async fn compact(&self, key: &Key, older_than: Duration, limit: usize) -> Result<Maintained>;

    /// The counter's value as it was at most `max_age` ago, so that a hot key is not added up for each reader.
    ///
    /// # Guarantees
    ///
    /// - C-6: with [`Duration::ZERO`] it is [`value`](Counter::value), a strong read.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    ///
    /// # Backend notes
    ///
    /// What is kept is kept by this handle's process; another process may have an older or a newer one.
    async fn value_within(&self, key: &Key, max_age: Duration) -> Result<i64>;
}

/// One entry of a ledger's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerEntry {
    /// A change that was applied.
    Change {
        /// Its operation.
        op: OpId,
        /// What it added.
        delta: i64,
        /// When, in milliseconds since 1970.
        at_millis: i64,
        /// Why, if the change that was applied said it.
        reason: Option<Reason>,
    },
    /// The changes that were compacted.
    Sum {
        /// What they added together.
        delta: i64,
        /// How many there were.
        changes: u64,
        /// When the last of them was made, in milliseconds since 1970.
        until_millis: i64,
    },
}

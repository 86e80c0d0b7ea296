//! The operations of a ledger: their log, their compaction, and slightly stale reads (article 5, approach 6).

use std::time::Duration;

use async_trait::async_trait;

use super::promises::Maintained;
use crate::contract::counter::Counter;
use crate::values::error::Result;
use crate::values::page::{Cursor, Page};
use crate::values::value::{Key, OpId, Reason};

/// Counters with [`Strategy::Ledger`](crate::Strategy::Ledger), which keep every change as a separate entry.
///
/// # Guarantees
///
/// - C-1 each operation is one entry, however often it is repeated, because the entry's key is the operation alone.
/// - C-7 the value is the sum of the entries, before, during and after compaction.
///
/// # Cancel safety
///
/// Every method is safe: call it again.
///
/// # Errors
///
/// `Contention`, `Throttled` and `Unavailable` mean that nothing changed. After `OutcomeUnknown`, make the same call
/// again.
///
/// # Backend notes
///
/// If the store keeps no sum, [`apply`](Counter::apply) cannot check for an overflow in its one step.
/// [`value`](Counter::value) then returns `TooLarge` for a sum beyond `i64`, until other changes bring the sum back
/// into range.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use std::time::Duration;
/// use storagebox_core::{Backend, Change, Counted, Counter, Key, Ledger, LedgerEntry};
/// use storagebox_memory::MemoryStore;
///
/// let balances = MemoryStore::new().ledger(&"balances".parse()?)?;
/// let key = Key::new("customer-1")?;
/// for (op, delta) in [("deposit-1", 30), ("withdrawal-1", -5)] {
///     let counted = balances.apply(&key, &Change::new(op.parse()?, delta)).await?;
///     assert!(matches!(counted, Counted::Applied { .. }));
/// }
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
    /// Lists at most `limit` entries of a key: first the sum of the compacted changes, then the changes in the order of
    /// their time. Changes of the same time are in the order of their operation.
    ///
    /// # Guarantees
    ///
    /// - C-7: an entry that exists throughout the listing is listed exactly once, because the cursor is a position in
    ///   that order. A compaction between two pages may merge entries that were not listed yet.
    /// - C-8: cancelled operations are not listed.
    /// - C-9: a change is listed with the reason that it was applied with.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the limit is 0 or the cursor cannot be read.
    async fn log(&self, key: &Key, cursor: Option<&Cursor>, limit: usize) -> Result<Page<LedgerEntry>>;

    /// Merges changes that are at least `older_than` old (any duration, including zero) into one sum, the oldest first,
    /// at most `limit` of them. [`Maintained::deleted`] counts them. If a sum already exists, the changes are added to
    /// it, so there are never two sums.
    ///
    /// # Guarantees
    ///
    /// - C-7: the value never changes, not even for a moment, because the same step deletes the entries and updates the
    ///   sum.
    ///
    /// A compacted operation is forgotten together with its reason, and fences of that age may be forgotten as well.
    /// The caller must make sure that no attempt of such an operation is in progress.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part may have been merged; compact again.
    ///
    /// # Errors
    ///
    /// `Unsupported` for a ledger in several regions, because an attempt may always be in progress there.
    async fn compact(&self, key: &Key, older_than: Duration, limit: usize) -> Result<Maintained>;

    /// Returns the counter's value as it was at most `max_age` ago, so that a hot key is not summed up for each reader.
    ///
    /// # Guarantees
    ///
    /// - C-6: with [`Duration::ZERO`] the call is the same as [`value`](Counter::value), a strong read.
    ///
    /// # Backend notes
    ///
    /// The process of this handle caches the value; another process may have an older or a newer value.
    async fn value_within(&self, key: &Key, max_age: Duration) -> Result<i64>;
}

/// One entry of a ledger's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerEntry {
    /// An applied change.
    Change {
        /// The operation.
        op: OpId,
        /// The amount that the operation added.
        delta: i64,
        /// The time of the change, in milliseconds since 1970.
        at_millis: i64,
        /// The reason, if the applied change has one.
        reason: Option<Reason>,
    },
    /// The sum of the compacted changes.
    Sum {
        /// The total amount that the compacted changes added.
        delta: i64,
        /// The number of compacted changes.
        changes: u64,
        /// The time of the last change, in milliseconds since 1970.
        until_millis: i64,
    },
}

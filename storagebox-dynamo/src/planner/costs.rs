//! What every strategy costs, reckoned: which one to choose for so many operations on a key.

use storagebox_core::{Bounds, Retention, Strategy};

use super::UNITS_A_SECOND;
use super::rows::{Rows, units};
use crate::counter::{RECORD_BYTES, most_entries};

const READ_UNIT: u64 = 4_096;
/// What one answer to a query reads; what is left of a unit is lost with each.
const PAGE: u64 = 1 << 20;
/// How often what is written in a transaction is paid for.
const IN_TRANSACTION: u64 = 2;
/// A ledger's entry is written once more, to the index.
const IN_INDEX: u64 = 2;
/// A ledger's sum is read before its entries and after them.
const SUM_READS: u64 = 2;

/// A plan that calculates the cost of a number of operations on one key, made one after another, for each strategy on
/// DynamoDB.
///
/// Costs are in write and read units, as the service counts them: one write unit per KB written, double in a
/// transaction, and one read unit per 4 KB. Refused and repeated attempts are not included.
///
/// # Guarantees
///
/// - C-1 no figure is below what the service charges for a key, operations and reasons as long as the plan says, with
///   numbers of any size.
///
/// # Example
///
/// ```
/// use storagebox_dynamo::CounterPlan;
///
/// let plan = CounterPlan::for_operations(10);
/// let exact = plan.costs().into_iter().filter(|cost| cost.is_exact() && cost.fits);
/// let cheapest = exact.min_by_key(|cost| cost.write_units).unwrap();
/// assert_eq!(format!("{:?}", cheapest.strategy), "TokenSet { max: 10 }");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterPlan {
    operations: u64,
    rows: Rows,
}

/// The cost of a plan's operations with one strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterCost {
    /// The strategy. If it has a size, the size is large enough for the operations.
    pub strategy: Strategy,
    /// Requests for all operations.
    pub requests: u64,
    /// Write units for all operations.
    pub write_units: u64,
    /// Read units for all operations.
    pub read_units: u64,
    /// Read units for reading the value once after all operations.
    pub value_units: u64,
    /// The final size of the counter's row in bytes.
    pub row_bytes: u64,
    /// How many operations per second the key allows in the end.
    pub per_second: u64,
    /// Whether the operations fit in the row, so that a store opens such a counter.
    pub fits: bool,
}

impl CounterCost {
    /// Returns whether a retry is exact, for as long as the strategy guarantees it.
    pub fn is_exact(&self) -> bool {
        let inexact = [Strategy::Atomic, Strategy::Optimistic].contains(&self.strategy)
            || matches!(self.strategy, Strategy::OptimisticHistory { .. });
        !inexact
    }
}

impl CounterPlan {
    /// Creates a plan for this number of operations on one key.
    pub fn for_operations(operations: u64) -> Self {
        Self { operations, rows: Rows::USUAL }
    }

    /// Sets the length of the partition key in bytes. Defaults to 64. The key is in each row. It consists of the
    /// store's prefix, the namespace's name and the key, plus about 30 bytes.
    #[must_use]
    pub fn with_key_bytes(mut self, bytes: u32) -> Self {
        self.rows = self.rows.with_key(bytes);
        self
    }

    /// Sets the length of operation ids in bytes. Defaults to 64. Markers and ledger entries store ids in full.
    #[must_use]
    pub fn with_op_bytes(mut self, bytes: u32) -> Self {
        self.rows = self.rows.with_op(bytes);
        self
    }

    /// Sets the length of reasons in bytes. Defaults to none. Only a ledger accepts reasons.
    #[must_use]
    pub fn with_reason_bytes(mut self, bytes: u32) -> Self {
        self.rows = self.rows.with_reason(bytes);
        self
    }

    /// Returns the cost of each strategy, in the order of article 5, followed by article 3's window and the shards. A
    /// strategy that has a size is as large as the operations need.
    pub fn costs(&self) -> Vec<CounterCost> {
        let count = u32::try_from(self.operations).unwrap_or(u32::MAX).max(1);
        let (len, retention) = (u16::try_from(count).unwrap_or(u16::MAX).min(100), Retention::DEFAULT);
        let lifetime = std::time::Duration::from_secs(3_600);
        let strategies = [
            Strategy::Atomic,
            Strategy::Optimistic,
            Strategy::OptimisticHistory { len },
            Strategy::TransactionToken,
            Strategy::Marker { retention },
            Strategy::Ledger,
            Strategy::TokenSet { max: count },
            Strategy::Window { lifetime, capacity: count },
            Strategy::Sharded { shards: 8, bounds: Bounds::NONE, retention },
        ];
        strategies.into_iter().map(|strategy| self.cost(strategy)).collect()
    }

    /// Returns the cost of the operations with this strategy.
    pub fn cost(&self, strategy: Strategy) -> CounterCost {
        let (row, even) = (units(self.rows.bare()), |each: u64| self.even(strategy, each));
        match strategy {
            Strategy::Atomic => even(row),
            Strategy::TransactionToken => even(IN_TRANSACTION * row),
            Strategy::Marker { .. } => {
                CounterCost { per_second: UNITS_A_SECOND / (IN_TRANSACTION * row), ..even(self.marker()) }
            }
            Strategy::Sharded { shards, .. } => self.sharded(strategy, shards.into()),
            Strategy::Ledger => {
                CounterCost { value_units: self.log_units(), ..even(IN_INDEX * units(self.rows.entry())) }
            }
            Strategy::Optimistic => self.history(strategy, 1),
            Strategy::OptimisticHistory { len } => self.history(strategy, len.into()),
            Strategy::TokenSet { max } => self.entries(strategy, max.into()),
            Strategy::Window { capacity, .. } => self.entries(strategy, capacity.into()),
        }
    }

    /// As many units for each operation, in a row that does not grow.
    fn even(&self, strategy: Strategy, each: u64) -> CounterCost {
        CounterCost {
            strategy,
            requests: self.operations,
            write_units: self.operations.saturating_mul(each),
            read_units: 0,
            value_units: 1,
            row_bytes: self.rows.bare(),
            per_second: UNITS_A_SECOND / each,
            fits: true,
        }
    }

    /// A shard's row and a marker, in a transaction.
    fn sharded(&self, strategy: Strategy, shards: u64) -> CounterCost {
        let row = IN_TRANSACTION * units(self.rows.shard());
        CounterCost {
            per_second: UNITS_A_SECOND / row * shards,
            value_units: shards,
            row_bytes: self.rows.shard(),
            ..self.even(strategy, row + IN_TRANSACTION * units(self.rows.marker()))
        }
    }

    /// Read units of all entries of a ledger, by pages, and of its sum.
    fn log_units(&self) -> u64 {
        let bytes = self.operations.saturating_mul(self.rows.entry());
        SUM_READS + bytes.div_ceil(READ_UNIT).max(1) + bytes / PAGE
    }

    /// A read and a write of a row that has the last writers.
    fn history(&self, strategy: Strategy, len: u64) -> CounterCost {
        let row = |writers: u64| self.rows.with_writers(writers.min(len));
        let bytes = row(self.operations);
        CounterCost {
            requests: self.operations.saturating_mul(2),
            write_units: self.sum(len, |writers| units(row(writers))),
            read_units: self.sum(len, |writers| row(writers - 1).div_ceil(READ_UNIT)),
            ..self.grown(strategy, bytes)
        }
    }

    /// A write of a row that has every operation, up to so many; and one that finds no row yet.
    fn entries(&self, strategy: Strategy, most: u64) -> CounterCost {
        let held = self.operations.min(most);
        let write_units = self.sum(most, |held| self.write_units_with(held.min(most)));
        let (first, row) = (self.operations.min(1), self.row_with(held));
        CounterCost {
            requests: self.operations.saturating_add(first),
            write_units: write_units.saturating_add(first),
            fits: most <= most_entries().into(),
            ..self.grown(strategy, row)
        }
    }

    /// The row as it is in the end.
    fn grown(&self, strategy: Strategy, row_bytes: u64) -> CounterCost {
        let (writes, reads) = (units(row_bytes), row_bytes.div_ceil(READ_UNIT));
        CounterCost {
            row_bytes,
            value_units: reads,
            per_second: UNITS_A_SECOND / writes,
            fits: row_bytes <= u64::from(RECORD_BYTES),
            ..self.even(strategy, 1)
        }
    }

    /// The cost of each operation, added up; from the `steady`th on they cost the same.
    fn sum(&self, steady: u64, each: impl Fn(u64) -> u64) -> u64 {
        let growing = self.operations.min(steady.min(u64::from(RECORD_BYTES)));
        let first: u64 = (1..=growing).map(&each).sum();
        first.saturating_add((self.operations - growing).saturating_mul(each(growing.max(1) + 1)))
    }

    /// What operations cost that each leave an entry in the row.
    pub(super) fn growing(&self, operations: u64) -> u64 {
        Self { operations, ..*self }.sum(u64::MAX, |held| self.write_units_with(held))
    }

    /// What an operation costs with a marker: both rows, in a transaction.
    pub(super) fn marker(&self) -> u64 {
        IN_TRANSACTION * (units(self.rows.bare()) + units(self.rows.marker()))
    }

    pub(super) fn write_units_with(&self, entries: u64) -> u64 {
        units(self.row_with(entries))
    }

    pub(super) fn row_with(&self, entries: u64) -> u64 {
        self.rows.with_entries(entries)
    }
}

#[cfg(test)]
mod tests;

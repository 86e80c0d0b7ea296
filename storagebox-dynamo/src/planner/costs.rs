//! What every strategy costs, reckoned: which one to choose for so many operations on a key.

use storagebox_core::{Bounds, Retention, Strategy};

use crate::counter::{ENTRY_BYTES, HISTORY_BYTES, OTHER_BYTES, RECORD_BYTES, most_entries};

/// The longest partition key, which `OTHER_BYTES` allows for.
const LONGEST_KEY: u32 = 1_110;
const USUAL_KEY: u32 = 64;
/// Write units that a partition takes in a second.
const UNITS_A_SECOND: u64 = 1_000;
const WRITE_UNIT: u64 = 1_024;
const READ_UNIT: u64 = 4_096;
/// Two rows, each at the double price of a transaction.
pub(super) const MARKER: u64 = 4;
/// The counter's row alone at that price.
const IN_TRANSACTION: u64 = 2;
/// An entry of a ledger beside its keys, and its place in the index.
const LEDGER_ROW: u64 = 120;

/// Reckons what so many operations on one key cost, one after another, by each strategy on DynamoDB.
///
/// In write and read units, as the service counts them: a write unit for every KB that is written, double in a transaction,
/// and a read unit for every 4 KB. Attempts that are refused or repeated are not in it.
///
/// # Guarantees
///
/// - C-1 no figure is below what the service takes of a key that is as long as the plan says, with numbers of any size.
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
    key: u32,
}

/// What the operations of a plan cost by one strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterCost {
    /// The strategy, large enough for the operations where it has a size.
    pub strategy: Strategy,
    /// Requests of all operations.
    pub requests: u64,
    /// Write units of all operations.
    pub write_units: u64,
    /// Read units of all operations.
    pub read_units: u64,
    /// Read units of one look at the value after them.
    pub value_units: u64,
    /// How many bytes the counter's row has in the end.
    pub row_bytes: u64,
    /// How many operations a second the key takes in the end.
    pub per_second: u64,
    /// Whether the row has room, so that a store opens such a counter.
    pub fits: bool,
}

impl CounterCost {
    /// Whether a retry is exact, for as long as the strategy says.
    pub fn is_exact(&self) -> bool {
        let inexact = [Strategy::Atomic, Strategy::Optimistic].contains(&self.strategy)
            || matches!(self.strategy, Strategy::OptimisticHistory { .. });
        !inexact
    }
}

impl CounterPlan {
    /// A plan for so many operations on one key.
    pub fn for_operations(operations: u64) -> Self {
        Self { operations, key: USUAL_KEY }
    }

    /// The same for a partition key of so many bytes, which is in each row; 64 unless told otherwise. It is made of the
    /// store's prefix, the box's name and the key, and about 30 bytes more.
    #[must_use]
    pub fn with_key_bytes(mut self, bytes: u32) -> Self {
        self.key = bytes.min(LONGEST_KEY);
        self
    }

    /// Each strategy, in the order of article 5 and then article 3's window and the shards; those that have a size, as
    /// large as the operations need.
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

    /// What the operations cost by this strategy.
    pub fn cost(&self, strategy: Strategy) -> CounterCost {
        let all = self.operations;
        let even = |each: u64| self.even(strategy, each);
        match strategy {
            Strategy::Atomic => even(1),
            Strategy::TransactionToken => even(IN_TRANSACTION),
            Strategy::Marker { .. } => {
                CounterCost { per_second: UNITS_A_SECOND / IN_TRANSACTION, ..even(MARKER) }
            }
            Strategy::Sharded { shards, .. } => {
                let per_second = UNITS_A_SECOND / IN_TRANSACTION * u64::from(shards);
                CounterCost { per_second, value_units: shards.into(), ..even(MARKER) }
            }
            // The row, and its place in the index.
            Strategy::Ledger => {
                let bytes = all.saturating_mul(LEDGER_ROW + u64::from(self.key));
                CounterCost { value_units: 1 + bytes.div_ceil(READ_UNIT), ..even(2) }
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
            row_bytes: self.bare_row(),
            per_second: UNITS_A_SECOND / each,
            fits: true,
        }
    }

    /// A read and a write of a row that has the last writers.
    fn history(&self, strategy: Strategy, len: u64) -> CounterCost {
        let row = |writers: u64| self.bare_row() + HISTORY_BYTES as u64 * writers.min(len);
        let bytes = row(self.operations);
        CounterCost {
            requests: self.operations.saturating_mul(2),
            write_units: self.sum(len, |writers| row(writers).div_ceil(WRITE_UNIT)),
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
        let (writes, reads) = (row_bytes.div_ceil(WRITE_UNIT), row_bytes.div_ceil(READ_UNIT));
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

    pub(super) fn write_units_with(&self, entries: u64) -> u64 {
        self.row_with(entries).div_ceil(WRITE_UNIT)
    }

    pub(super) fn row_with(&self, entries: u64) -> u64 {
        self.bare_row().saturating_add(entries.saturating_mul(ENTRY_BYTES.into()))
    }

    /// The counter's row without any operation.
    pub(super) fn bare_row(&self) -> u64 {
        (OTHER_BYTES - LONGEST_KEY + self.key).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(operations: u64, strategy: Strategy) -> u64 {
        CounterPlan::for_operations(operations).cost(strategy).write_units
    }

    /// "at double the cost", "double the cost of using a CRT"
    #[test]
    fn article_5_a_token_costs_double_and_a_marker_double_that() {
        let marker = Strategy::default();
        let all =
            [Strategy::Atomic, Strategy::TransactionToken, marker].map(|strategy| units(1_000, strategy));
        assert_eq!(all, [1_000, 2_000, 4_000]);
    }

    #[test]
    fn every_strategy_has_a_cost_at_every_number() {
        for operations in [0, 1, 10, 100, 1_000, 10_000, u64::MAX] {
            let costs = CounterPlan::for_operations(operations).costs();
            assert_eq!(costs.len(), 9);
            assert!(costs.iter().all(|cost| cost.write_units >= operations.min(1) && cost.value_units > 0));
        }
    }

    #[test]
    fn a_row_that_is_full_does_not_grow() {
        let (set, window) = (Strategy::TokenSet { max: 20 }, |capacity| Strategy::Window {
            lifetime: std::time::Duration::from_secs(1),
            capacity,
        });
        assert_eq!(units(20, set), units(20, window(20)));
        let last = CounterPlan::for_operations(20).write_units_with(20);
        assert_eq!(units(120, window(20)) - units(20, window(20)), 100 * last);
    }

    /// Whatever the key's length is, and however few of them there are yet.
    #[test]
    fn a_size_that_no_store_opens_does_not_fit() {
        for key in [1, 64, 1_110] {
            let fits = |max| {
                let plan = CounterPlan::for_operations(10).with_key_bytes(key);
                plan.cost(Strategy::TokenSet { max }).fits
            };
            assert_eq!([fits(5_235), fits(5_236)], [true, false], "{key}");
        }
    }

    #[test]
    fn what_is_cheapest_turns_with_the_number() {
        let cheapest = |operations| {
            let costs = CounterPlan::for_operations(operations).costs().into_iter();
            let lasting = |cost: &CounterCost| {
                cost.fits && matches!(cost.strategy, Strategy::Marker { .. } | Strategy::TokenSet { .. })
            };
            costs.filter(lasting).min_by_key(|cost| cost.write_units).unwrap().strategy
        };
        for few in [1, 10, 50] {
            assert!(matches!(cheapest(few), Strategy::TokenSet { .. }), "{few}");
        }
        for many in [1_000, 10_000] {
            assert!(matches!(cheapest(many), Strategy::Marker { .. }), "{many}");
        }
        assert!(!CounterPlan::for_operations(10_000).costs().iter().all(|cost| cost.fits));
    }
}

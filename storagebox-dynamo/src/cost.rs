//! The cost of operations on one key with each counter strategy, in the service's units.

use storagebox_core::{Result, Strategy};

use crate::counter::{ENTRY_BYTES, HISTORY_BYTES, OTHER_BYTES, checked};

/// The bytes of a counter's row without operations, with a partition key of 64 bytes.
const ROW_BYTES: u64 = OTHER_BYTES as u64 + 64;
const WRITE_UNIT: u64 = 1_024;
const READ_UNIT: u64 = 4_096;
/// Write units per second that DynamoDB gives to one row.
const UNITS_PER_SECOND: u64 = 1_000;

/// The cost of all operations on one key together. See [`cost`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterCost {
    /// Requests for all operations.
    pub requests: u64,
    /// Write units for all operations.
    pub write_units: u64,
    /// Read units for all operations.
    pub read_units: u64,
    /// How many operations per second the key allows after the last of these operations.
    pub per_second: u64,
}

/// Returns the cost of this number of operations on one key, made one after another.
///
/// One write unit is one KB written, double in a transaction, and one read unit is 4 KB. The figures hold for partition
/// keys and operation ids of up to 64 bytes, without reasons. Refused and repeated attempts are not included. Each
/// operation beyond the size of a window costs the same.
///
/// # Guarantees
///
/// - C-1 no figure is below what the service charges for such names, with numbers of any size.
///
/// # Errors
///
/// Returns `InvalidInput` if no store opens a counter with this strategy: the row does not hold as many operations. The
/// message names the maximum and what to use instead.
///
/// # Example
///
/// ```
/// use storagebox_core::Strategy;
/// use storagebox_dynamo::cost;
///
/// # fn main() -> storagebox_core::Result<()> {
/// let seats = cost(Strategy::TokenSet { max: 50 }, 50)?;
/// assert!(seats.write_units < cost(Strategy::default(), 50)?.write_units);
/// // A set of 5,000 operations is a row of 390 KB, which each change writes.
/// assert_eq!(cost(Strategy::TokenSet { max: 5_000 }, 5_000)?.per_second, 2);
/// # Ok(()) }
/// ```
pub fn cost(strategy: Strategy, operations: u64) -> Result<CounterCost> {
    checked(strategy)?;
    let even = |units, of_row| even(operations, units, of_row);
    Ok(match strategy {
        Strategy::Atomic => even(1, 1),
        // A ledger's entry is written to the index too.
        Strategy::TransactionToken | Strategy::Ledger => even(2, 2),
        Strategy::Marker { .. } => even(4, 2),
        Strategy::Sharded { shards, .. } => {
            let one = even(4, 2);
            CounterCost { per_second: one.per_second * u64::from(shards), ..one }
        }
        Strategy::Optimistic => history(operations, 1),
        Strategy::OptimisticHistory { len } => history(operations, len.into()),
        Strategy::TokenSet { max } => entries(operations, max.into()),
        Strategy::Window { capacity, .. } => entries(operations, capacity.into()),
    })
}

/// Returns the cost if each operation needs the same number of units, `of_row` of them for the counter's row.
fn even(operations: u64, units: u64, of_row: u64) -> CounterCost {
    let write_units = operations.saturating_mul(units);
    CounterCost { requests: operations, write_units, read_units: 0, per_second: UNITS_PER_SECOND / of_row }
}

/// Returns the cost if each operation reads and writes a row that has the last `len` writers.
fn history(operations: u64, len: u64) -> CounterCost {
    let row = |writers: u64| ROW_BYTES + HISTORY_BYTES as u64 * writers;
    let written = |operation: u64| row(operation.min(len)).div_ceil(WRITE_UNIT);
    CounterCost {
        requests: operations.saturating_mul(2),
        write_units: sum(operations, len, written),
        read_units: sum(operations, len + 1, |operation| row(operation - 1).div_ceil(READ_UNIT)),
        per_second: UNITS_PER_SECOND / written(operations),
    }
}

/// Returns the cost if each operation writes a row that has the last `capacity` operations.
fn entries(operations: u64, capacity: u64) -> CounterCost {
    let written = |operation: u64| (ROW_BYTES + u64::from(ENTRY_BYTES) * operation.min(capacity)).div_ceil(WRITE_UNIT);
    let refused = operations.min(1);
    CounterCost {
        requests: operations.saturating_add(refused),
        write_units: sum(operations, capacity, written).saturating_add(refused),
        read_units: 0,
        per_second: UNITS_PER_SECOND / written(operations),
    }
}

/// Returns the units of all operations. From operation `steady` on, each operation has the same number of units.
fn sum(operations: u64, steady: u64, units: impl Fn(u64) -> u64) -> u64 {
    let growing = operations.min(steady);
    let first: u64 = (1..=growing).map(&units).sum();
    first.saturating_add((operations - growing).saturating_mul(units(steady)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use storagebox_core::{Bounds, Retention};

    use super::*;

    fn write_units(strategy: Strategy, operations: u64) -> u64 {
        cost(strategy, operations).unwrap().write_units
    }

    fn window(capacity: u32) -> Strategy {
        Strategy::Window { lifetime: Duration::from_secs(1), capacity }
    }

    /// Article 5 says that a token is "at double the cost", and that a marker is "double the cost of using a CRT" (a
    /// token).
    #[test]
    fn a_token_costs_twice_and_a_marker_four_times_as_much_as_atomic() {
        let strategies = [Strategy::Atomic, Strategy::TransactionToken, Strategy::default()];
        assert_eq!(strategies.map(|strategy| write_units(strategy, 1_000)), [1_000, 2_000, 4_000]);
    }

    /// Article 5 says of sets that "this is likely the most cost effective approach" if the number of updates is
    /// limited.
    #[test]
    fn a_small_set_is_cheaper_than_a_marker_and_a_large_set_is_not() {
        let is_cheaper = |max: u32| {
            let set = write_units(Strategy::TokenSet { max }, max.into());
            set < write_units(Strategy::default(), max.into())
        };
        assert!((1..87).all(is_cheaper));
        assert!(![87, 1_000, 5_000].into_iter().any(is_cheaper));
    }

    /// Article 5 says that "an item that is 1KB large has a 1000 RPS, but an Item that is 2KB in size only has a 500
    /// RPS".
    #[test]
    fn a_row_of_two_kb_allows_half_the_writes_of_one_kb() {
        let per_second = |capacity: u32| cost(window(capacity), capacity.into()).unwrap().per_second;
        assert_eq!([11, 12, 24, 25, 5_235].map(per_second), [1_000, 500, 500, 333, 2]);
    }

    #[test]
    fn each_operation_on_a_full_row_costs_the_same() {
        let history = Strategy::OptimisticHistory { len: 100 };
        for (strategy, len, each) in [(window(20), 20, 2), (history, 100, 4)] {
            assert_eq!(write_units(strategy, len + 100) - write_units(strategy, len), 100 * each, "{strategy:?}");
        }
    }

    #[test]
    fn the_cost_of_a_strategy_that_every_store_refuses_is_an_error() {
        for strategy in [Strategy::TokenSet { max: 5_236 }, window(5_236), Strategy::OptimisticHistory { len: 0 }] {
            assert!(cost(strategy, 10).is_err(), "{strategy:?}");
        }
        assert!(cost(Strategy::TokenSet { max: 5_235 }, 10).is_ok());
    }

    #[test]
    fn every_strategy_has_a_cost_for_every_number_of_operations() {
        let retention = Retention::Forever;
        let strategies = [
            Strategy::Atomic,
            Strategy::Optimistic,
            Strategy::OptimisticHistory { len: 100 },
            Strategy::Ledger,
            Strategy::TokenSet { max: 5_235 },
            Strategy::Sharded { shards: 8, bounds: Bounds::NONE, retention },
        ];
        for strategy in strategies {
            for operations in [0, 1, 10_000, u64::MAX] {
                let cost = cost(strategy, operations).unwrap();
                assert!(cost.write_units >= operations && cost.requests >= operations, "{cost:?}");
                assert!(cost.per_second > 0, "{cost:?}");
            }
        }
    }
}

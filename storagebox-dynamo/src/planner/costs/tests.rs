//! What the strategies cost, for keys and names of any length.

use super::*;

fn units(operations: u64, strategy: Strategy) -> u64 {
    CounterPlan::for_operations(operations).cost(strategy).write_units
}

/// "at double the cost", "double the cost of using a CRT"
#[test]
fn article_5_a_token_costs_double_and_a_marker_double_that() {
    let marker = Strategy::default();
    let all = [Strategy::Atomic, Strategy::TransactionToken, marker].map(|strategy| units(1_000, strategy));
    assert_eq!(all, [1_000, 2_000, 4_000]);
}

/// Where the key alone is a KB, the counter's row and the marker are of two; an entry of a ledger with the longest
/// names and reasons is of three, and in the index too.
#[test]
fn long_names_cost_more() {
    let costs = |plan: CounterPlan| {
        let all = [Strategy::Atomic, Strategy::TransactionToken, Strategy::default(), Strategy::Ledger];
        all.map(|strategy| plan.cost(strategy)).map(|cost| (cost.write_units, cost.per_second))
    };
    let plan = CounterPlan::for_operations(1);
    assert_eq!(costs(plan), [(1, 1_000), (2, 500), (4, 500), (2, 500)]);
    assert_eq!(costs(plan.with_key_bytes(1_110)), [(2, 500), (4, 250), (8, 250), (4, 250)]);
    let long_ops = plan.with_key_bytes(500).with_op_bytes(512);
    assert_eq!(costs(long_ops), [(1, 1_000), (2, 500), (6, 500), (4, 250)]);
    let reasons = long_ops.with_reason_bytes(512);
    assert_eq!(costs(reasons), [(1, 1_000), (2, 500), (6, 500), (6, 166)]);
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

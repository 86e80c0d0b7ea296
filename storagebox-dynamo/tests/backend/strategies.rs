//! The cost of operations with each counter strategy, compared with the server's numbers and with the README.

use std::time::Duration;

use storagebox_core::{Backend, Bounds, Change, Counted, Counter, Result, Retention, Strategy};
use storagebox_dynamo::{CounterCost, cost};

use crate::metered::{self, Metered};
use crate::readme::compared;
use crate::scene::with_place;

/// The number of operations: so many that some rows cost several write units.
const OPERATIONS: u32 = 60;
/// The numbers of operations in the columns of the README's table.
const COLUMNS: [u32; 4] = [10, 100, 1_000, 10_000];

/// Returns each strategy. A set and a window have room for `operations`.
fn strategies(operations: u32) -> [(&'static str, Strategy); 9] {
    let (lifetime, retention) = (Duration::from_secs(3_600), Retention::Forever);
    let len = u16::try_from(operations).unwrap_or(u16::MAX).min(100);
    [
        ("Atomic", Strategy::Atomic),
        ("Optimistic", Strategy::Optimistic),
        ("OptimisticHistory", Strategy::OptimisticHistory { len }),
        ("TransactionToken", Strategy::TransactionToken),
        ("Marker", Strategy::Marker { retention }),
        ("Ledger", Strategy::Ledger),
        ("TokenSet", Strategy::TokenSet { max: operations }),
        ("Window", Strategy::Window { lifetime, capacity: operations }),
        ("Sharded over 8", Strategy::Sharded { shards: 8, bounds: Bounds::NONE, retention }),
    ]
}

/// The calculation assumes the largest numbers. The numbers in this test are small, so the calculated cost may be a
/// fifth too high.
#[test]
fn the_calculated_cost_is_at_most_a_fifth_above_the_real_cost() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place, place.builder()).await?;
        for (number, (_, strategy)) in strategies(OPERATIONS).into_iter().enumerate() {
            let counter = metered.store.counter(&format!("namespace-{number}").parse()?, strategy)?;
            // The first call creates the namespace.
            let _ = counter.apply(&"other".parse()?, &Change::new("first".parse()?, 1)).await?;
            metered.aside();
            for operation in 0..OPERATIONS {
                let change = Change::new(format!("op-{operation:02}").parse()?, i64::MAX / 1_000);
                let _ = counter.apply(&"key".parse()?, &change).await?;
            }
            let taken: metered::Cost = metered.aside().iter().map(metered::cost).sum();
            let calculated = cost(strategy, OPERATIONS.into())?;
            let (write, read) = (calculated.write_units as f64, calculated.read_units as f64);
            assert_eq!(taken.requests as u64, calculated.requests, "{strategy:?}");
            assert!(taken.write <= write && write <= taken.write * 1.2, "{strategy:?}: {taken:?}, {calculated:?}");
            assert!(taken.read <= read && read <= taken.read * 1.2 + 1.0, "{strategy:?}: {taken:?}, {calculated:?}");
        }
        Ok(())
    })
}

#[test]
fn the_readme_has_the_cost_of_each_strategy() {
    compared("<!-- strategies:begin -->\n", "<!-- strategies:end -->\n", &table());
}

fn table() -> String {
    let mut table = format!("| operations | {} |\n|---|{}\n", COLUMNS.map(grouped).join(" | "), "--:|".repeat(4));
    for (row, (name, _)) in strategies(1).into_iter().enumerate() {
        let cells = COLUMNS.map(|operations| cell(&cost(strategies(operations)[row].1, operations.into())));
        table.push_str(&format!("| `{name}` | {} |\n", cells.join(" | ")));
    }
    table
}

fn cell(cost: &Result<CounterCost>) -> String {
    match cost {
        Ok(CounterCost { write_units, read_units, per_second, .. }) => {
            format!("{write_units} + {read_units}, {per_second}/s")
        }
        Err(_) => "over 400 KB".to_owned(),
    }
}

fn grouped(number: u32) -> String {
    if number < 1_000 { number.to_string() } else { format!("{},{:03}", number / 1_000, number % 1_000) }
}

/// Changes come at a steady rate. An operation stays in the row for its lifetime plus the skew.
#[test]
fn a_window_with_room_for_its_rate_is_not_full() -> Result<()> {
    const RATE: u32 = 10;
    with_place(async |place| {
        for seconds in [1, 3] {
            let (lifetime, skew) = (Duration::from_secs(4), Duration::from_secs(seconds.into()));
            let store = place.builder().max_skew(skew).from_client(place.table.raw())?;
            let window = Strategy::Window { lifetime, capacity: RATE * (4 + seconds) };
            let counter = store.counter(&format!("window-{seconds}").parse()?, window)?;
            for operation in 0..100 {
                let change = Change::new(format!("op-{operation}").parse()?, 1);
                let counted = counter.apply(&"key".parse()?, &change).await?;
                assert_ne!(counted, Counted::Full, "operation {operation} with a skew of {seconds} s");
                place.clock.advance(Duration::from_secs(1) / RATE);
            }
        }
        Ok(())
    })
}

//! What the counter strategies cost on DynamoDB, reckoned: nothing is measured here, but a test of the backend holds
//! the figures against what the server says that it took.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};
use storagebox_dynamo::{CounterCost, CounterPlan};

const OPERATIONS: [u64; 4] = [10, 100, 1_000, 10_000];

/// Write and read units of so many operations on a key, and how many a second it takes in the end.
pub(crate) fn table() -> String {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    let heads = OPERATIONS.iter().map(|count| format!("{count} operations"));
    table.set_header(std::iter::once("strategy".to_owned()).chain(heads));
    let columns = OPERATIONS.map(|count| CounterPlan::for_operations(count).costs());
    for number in 0..columns[0].len() {
        let cells = columns.iter().map(|column| cell(&column[number]));
        table.add_row(std::iter::once(name(&columns[0][number])).chain(cells));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("write + read units, and changes a second at the end\n{table}")
}

/// Without its size, which is another in each column.
fn name(cost: &CounterCost) -> String {
    let name = format!("{:?}", cost.strategy);
    name.split(' ').next().unwrap_or_default().to_owned()
}

fn cell(cost: &CounterCost) -> String {
    match cost.fits {
        true => format!("{} + {}, {}/s", cost.write_units, cost.read_units, cost.per_second),
        false => "over 400 KB".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_has_a_row() {
        let table = table();
        for name in ["Atomic", "Optimistic", "Marker", "Ledger", "TokenSet", "Window", "Sharded"] {
            assert!(table.contains(name), "{table}");
        }
        assert!(table.contains("40000 + 0") && table.contains("over 400 KB"), "{table}");
    }
}

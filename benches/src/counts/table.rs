//! The table of counts.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};

use crate::tally::{Counted, Counts};

/// The number of instructions per call by which the library may exceed the compared program (target P18).
const INSTRUCTIONS: f64 = 8_000.0;
/// The number of system calls or wake-ups per call by which the library may exceed the compared program. The limit is
/// not 0, because some system calls and wake-ups occur at random.
const NONE: f64 = 0.5;

pub(super) fn of(counted: &[Counted]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header([
        "row",
        "instructions",
        "allocations",
        "system calls",
        "wake-ups",
        "timers",
        "",
    ]);
    for column in table.column_iter_mut().skip(1).take(5) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.add_rows(counted.iter().map(cells));
    table
}

/// Returns whether the counts meet the targets. A missing count does not meet its target.
pub(super) fn holds(counted: &Counted) -> bool {
    let Counted { ours, floor, .. } = counted;
    let within =
        |ours: Option<f64>, floor: Option<f64>, most| ours.zip(floor).is_some_and(|(ours, floor)| ours - floor <= most);
    within(ours.instructions, floor.instructions, INSTRUCTIONS)
        && within(ours.system_calls, floor.system_calls, NONE)
        && within(ours.wake_ups, floor.wake_ups, NONE)
}

fn cells(counted: &Counted) -> [String; 7] {
    let Counted { name, ours, floor } = counted;
    let column = |of: fn(&Counts) -> Option<f64>, decimals: usize| match of(ours).zip(of(floor)) {
        Some((ours, floor)) => format!("{floor:.decimals$} {:+.decimals$}", ours - floor),
        None => "not counted".to_owned(),
    };
    [
        name.clone(),
        column(|counts| counts.instructions, 0),
        column(|counts| Some(counts.allocations), 1),
        column(|counts| counts.system_calls, 2),
        column(|counts| counts.wake_ups, 2),
        column(|counts| Some(counts.timers), 1),
        if holds(counted) { "holds" } else { "falls short" }.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(extra: f64) -> Counted {
        let floor = Counts {
            instructions: Some(10_000.0),
            allocations: 5.0,
            system_calls: Some(2.0),
            wake_ups: Some(1.0),
            timers: 0.0,
        };
        let ours = Counts { instructions: Some(10_000.0 + extra), ..floor };
        Counted { name: "P18".to_owned(), ours, floor }
    }

    #[test]
    fn row_misses_its_target_if_its_extra_counts_are_too_high() {
        assert!(holds(&counted(8_000.0)));
        assert!(!holds(&counted(8_001.0)));
        let uncounted = Counts { system_calls: None, ..counted(0.0).ours };
        assert!(!holds(&Counted { ours: uncounted, ..counted(0.0) }));
    }

    #[test]
    fn cell_shows_the_compared_program_and_the_difference() {
        assert_eq!(cells(&counted(12.0))[1], "10000 +12");
    }
}

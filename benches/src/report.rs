//! The table.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};
use serde_json::{Value, json};

use crate::row::{Row, Target};
use crate::statistics::{Costs, Measured};

const HEADER: [&str; 13] = [
    "",
    "op",
    "backend",
    "tasks",
    "ours /s",
    "floor /s",
    "ratio",
    "spread",
    "CPU us a call",
    "server us",
    "WAL B",
    "target",
    "",
];
/// Numbers stand to the right.
const NUMBERS: std::ops::RangeInclusive<usize> = 3..=10;

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Line {
    id: &'static str,
    op: &'static str,
    backend: &'static str,
    concurrency: usize,
    target: Target,
    measured: Measured,
}

impl Line {
    pub(crate) fn new(row: &Row, measured: &Measured) -> Self {
        Self {
            id: row.id,
            op: row.op,
            backend: row.backend,
            concurrency: row.concurrency,
            target: row.target,
            measured: *measured,
        }
    }

    /// What was not measured does not hold.
    pub(crate) fn holds(&self) -> bool {
        let Measured { ours, ratio, extra_cpu, log, .. } = self.measured;
        ratio >= self.target.ratio
            && self.target.rate.is_none_or(|rate| ours >= rate)
            && self.target.extra_cpu.is_none_or(|most| extra_cpu.is_some_and(|extra| extra <= most))
            && self.target.log.is_none_or(|most| log.is_some_and(|log| log.ours <= most))
    }

    fn verdict(&self) -> String {
        let verdict = if self.holds() { "holds" } else { "falls short" };
        match self.measured.skipped {
            0 => verdict.to_owned(),
            skipped => format!("{verdict} ({skipped} rounds skipped)"),
        }
    }

    fn cells(&self) -> [String; HEADER.len()] {
        let measured = &self.measured;
        [
            self.id.to_owned(),
            self.op.to_owned(),
            self.backend.to_owned(),
            self.concurrency.to_string(),
            format!("{:.0}", measured.ours),
            format!("{:.0}", measured.floor),
            format!("{:.2}", measured.ratio),
            format!("{:.2}-{:.2}", measured.lowest, measured.highest),
            processor_time(measured),
            server_costs(measured.server_cpu),
            server_costs(measured.log),
            self.target.to_string(),
            self.verdict(),
        ]
    }

    fn json(&self) -> Value {
        let (measured, target) = (&self.measured, &self.target);
        json!({
            "id": self.id,
            "op": self.op,
            "backend": self.backend,
            "concurrency": self.concurrency,
            "ours_per_second": measured.ours,
            "floor_per_second": measured.floor,
            "ratio": measured.ratio,
            "ratio_lowest": measured.lowest,
            "ratio_highest": measured.highest,
            "floor_cpu_micros": measured.floor_cpu,
            "extra_cpu_micros": measured.extra_cpu,
            "server_cpu_micros": measured.server_cpu.map(|cpu| cpu.ours),
            "floor_server_cpu_micros": measured.server_cpu.map(|cpu| cpu.floor),
            "log_bytes": measured.log.map(|log| log.ours),
            "floor_log_bytes": measured.log.map(|log| log.floor),
            "rounds": measured.rounds,
            "rounds_skipped": measured.skipped,
            "target_ratio": target.ratio,
            "target_per_second": target.rate,
            "target_extra_cpu_micros": target.extra_cpu,
            "target_log_bytes": target.log,
            "holds": self.holds(),
        })
    }
}

/// The floor's, and what ours takes on top of it.
fn processor_time(measured: &Measured) -> String {
    match measured.floor_cpu.zip(measured.extra_cpu) {
        Some((floor, extra)) => format!("{floor:.2} {extra:+.2}"),
        None => "unknown".to_owned(),
    }
}

/// Ours, and the floor's. Nothing where there is no server.
fn server_costs(costs: Option<Costs>) -> String {
    costs.map(|Costs { ours, floor }| format!("{ours:.0} : {floor:.0}")).unwrap_or_default()
}

pub(crate) fn json(lines: &[Line]) -> Value {
    lines.iter().map(Line::json).collect()
}

pub(crate) fn table(lines: &[Line]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(HEADER);
    table.add_rows(lines.iter().map(Line::cells));
    for index in NUMBERS {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Line {
        Line {
            id: "P1",
            op: "take",
            backend: "memory",
            concurrency: 1,
            target: Target { ratio: 0.9, rate: Some(1e6), extra_cpu: Some(3.0), log: Some(2000.0) },
            measured: Measured {
                ours: 1e6,
                floor: 1.1e6,
                ratio: 0.91,
                lowest: 0.8,
                highest: 1.0,
                floor_cpu: Some(0.5),
                extra_cpu: Some(0.05),
                server_cpu: Some(Costs { ours: 182.0, floor: 91.0 }),
                log: Some(Costs { ours: 350.0, floor: 150.0 }),
                rounds: 7,
                skipped: 0,
            },
        }
    }

    fn holds_after(change: impl FnOnce(&mut Measured)) -> bool {
        let mut line = line();
        change(&mut line.measured);
        line.holds()
    }

    #[test]
    fn all_of_a_target_must_hold() {
        assert!(line().holds());
        assert!(!holds_after(|measured| measured.ratio = 0.89));
        assert!(!holds_after(|measured| measured.ratio = f64::NAN));
        assert!(!holds_after(|measured| measured.ours = 9e5));
        assert!(!holds_after(|measured| measured.extra_cpu = Some(3.1)));
        assert!(!holds_after(|measured| measured.extra_cpu = None));
        assert!(!holds_after(|measured| measured.log = Some(Costs { ours: 2001.0, floor: 150.0 })));
        assert!(!holds_after(|measured| measured.log = None));
    }

    #[test]
    fn the_table_and_the_json_say_the_same() {
        let text = table(&[line()]).to_string();
        assert!(text.contains("0.91") && text.contains("0.80-1.00") && text.contains("0.50 +0.05"));
        assert!(text.contains("182 : 91") && text.contains("350 : 150"));
        assert_eq!(json(&[line()])[0]["log_bytes"], 350.0);
        assert_eq!(json(&[line()])[0]["ratio"], 0.91);
        assert_eq!(json(&[line()])[0]["holds"], true);
    }
}

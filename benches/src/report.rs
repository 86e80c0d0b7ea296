//! The table.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};
use serde_json::{Value, json};

use crate::row::{Row, Target};
use crate::statistics::{Costs, Measured};

const HEADER: [&str; 14] = [
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
    "requests",
    "target",
    "",
];
/// The indexes of the columns with numbers, which are right-aligned.
const NUMBERS: std::ops::RangeInclusive<usize> = 3..=11;

#[derive(Debug)]
pub(crate) struct Line {
    id: &'static str,
    op: &'static str,
    backend: &'static str,
    concurrency: usize,
    target: Target,
    /// The result, or the reason why the row could not be measured.
    measured: Result<Measured, String>,
}

impl Line {
    pub(crate) fn new(row: &Row, measured: Result<Measured, String>) -> Self {
        Self {
            id: row.id,
            op: row.op,
            backend: row.backend,
            concurrency: row.concurrency,
            target: row.target,
            measured,
        }
    }

    /// Returns whether the row meets its target. Returns false for a row that was not measured.
    pub(crate) fn holds(&self) -> bool {
        let Ok(Measured { ours, ratio, extra_cpu, log, requests, .. }) = self.measured else { return false };
        let fewer = requests.map(|requests| requests.floor / requests.ours);
        ratio >= self.target.ratio
            && self.target.fewer_requests.is_none_or(|least| fewer.is_some_and(|fewer| fewer >= least))
            && self.target.rate.is_none_or(|rate| ours >= rate)
            && self.target.extra_cpu.is_none_or(|most| extra_cpu.is_some_and(|extra| extra <= most))
            && self.target.log.is_none_or(|most| log.is_some_and(|log| log.ours <= most))
    }

    fn verdict(&self) -> String {
        let verdict = if self.holds() { "holds" } else { "falls short" };
        match &self.measured {
            Err(why) => format!("{verdict}: {why}"),
            Ok(Measured { skipped: 0, .. }) => verdict.to_owned(),
            Ok(Measured { skipped, .. }) => format!("{verdict} ({skipped} rounds skipped)"),
        }
    }

    fn cells(&self) -> Vec<String> {
        let of_row = [self.id, self.op, self.backend].map(str::to_owned).into_iter();
        let figures = self.measured.as_ref().map_or_else(|_| Default::default(), figures);
        let of_row = of_row.chain([self.concurrency.to_string()]).chain(figures);
        of_row.chain([self.target.to_string(), self.verdict()]).collect()
    }

    fn json(&self) -> Value {
        let (mut line, target) = (self.measured.as_ref().map_or_else(missing, json_of), &self.target);
        let of_row = json!({
            "id": self.id,
            "op": self.op,
            "backend": self.backend,
            "concurrency": self.concurrency,
            "target_ratio": target.ratio,
            "target_per_second": target.rate,
            "target_extra_cpu_micros": target.extra_cpu,
            "target_log_bytes": target.log,
            "target_fewer_requests": target.fewer_requests,
            "holds": self.holds(),
        });
        if let (Value::Object(line), Value::Object(of_row)) = (&mut line, of_row) {
            line.extend(of_row);
        }
        line
    }
}

fn figures(measured: &Measured) -> [String; 8] {
    [
        format!("{:.0}", measured.ours),
        format!("{:.0}", measured.floor),
        format!("{:.2}", measured.ratio),
        format!("{:.2}-{:.2}", measured.lowest, measured.highest),
        processor_time(measured),
        server_costs(measured.server_cpu, 0),
        server_costs(measured.log, 0),
        server_costs(measured.requests, 2),
    ]
}

fn missing(why: &String) -> Value {
    json!({ "not_measured": why })
}

fn json_of(measured: &Measured) -> Value {
    json!({
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
        "requests": measured.requests.map(|requests| requests.ours),
        "floor_requests": measured.requests.map(|requests| requests.floor),
        "rounds": measured.rounds,
        "rounds_skipped": measured.skipped,
    })
}

/// Returns the cell with the processor time of the compared program, and the additional time of the library.
fn processor_time(measured: &Measured) -> String {
    match measured.floor_cpu.zip(measured.extra_cpu) {
        Some((floor, extra)) => format!("{floor:.2} {extra:+.2}"),
        None => "unknown".to_owned(),
    }
}

/// Returns the cell with the server costs of both sides, or an empty cell if the row has none.
fn server_costs(costs: Option<Costs>, decimals: usize) -> String {
    costs.map(|Costs { ours, floor }| format!("{ours:.decimals$} : {floor:.decimals$}")).unwrap_or_default()
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
            target: Target {
                ratio: 0.9,
                rate: Some(1e6),
                extra_cpu: Some(3.0),
                log: Some(2000.0),
                fewer_requests: Some(2.9),
            },
            measured: Ok(Measured {
                ours: 1e6,
                floor: 1.1e6,
                ratio: 0.91,
                lowest: 0.8,
                highest: 1.0,
                floor_cpu: Some(0.5),
                extra_cpu: Some(0.05),
                server_cpu: Some(Costs { ours: 182.0, floor: 91.0 }),
                log: Some(Costs { ours: 350.0, floor: 150.0 }),
                requests: Some(Costs { ours: 1.04, floor: 4.9 }),
                rounds: 7,
                skipped: 0,
            }),
        }
    }

    fn holds_after(change: impl FnOnce(&mut Measured)) -> bool {
        let mut line = line();
        change(line.measured.as_mut().unwrap());
        line.holds()
    }

    #[test]
    fn row_meets_its_target_only_if_every_limit_holds() {
        assert!(line().holds());
        assert!(!holds_after(|measured| measured.ratio = 0.89));
        assert!(!holds_after(|measured| measured.ratio = f64::NAN));
        assert!(!holds_after(|measured| measured.ours = 9e5));
        assert!(!holds_after(|measured| measured.extra_cpu = Some(3.1)));
        assert!(!holds_after(|measured| measured.extra_cpu = None));
        assert!(!holds_after(|measured| measured.log = Some(Costs { ours: 2001.0, floor: 150.0 })));
        assert!(!holds_after(|measured| measured.log = None));
        assert!(!holds_after(|measured| measured.requests = Some(Costs { ours: 2.0, floor: 4.9 })));
        assert!(!holds_after(|measured| measured.requests = None));
    }

    #[test]
    fn unmeasured_row_misses_its_target_and_shows_the_reason() {
        let line = Line { measured: Err("no python3".to_owned()), ..line() };
        assert!(!line.holds());
        assert!(table(&[line]).to_string().contains("falls short: no python3"));
    }

    #[test]
    fn table_and_json_show_the_same_values() {
        let text = table(&[line()]).to_string();
        assert!(text.contains("0.91") && text.contains("0.80-1.00") && text.contains("0.50 +0.05"));
        assert!(text.contains("182 : 91") && text.contains("350 : 150") && text.contains("1.04 : 4.90"));
        assert_eq!(json(&[line()])[0]["log_bytes"], 350.0);
        assert_eq!(json(&[line()])[0]["ratio"], 0.91);
        assert_eq!(json(&[line()])[0]["holds"], true);
    }
}

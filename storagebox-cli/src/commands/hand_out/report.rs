//! The audit, for people and for machines.

use std::io::{self, Write};
use std::path::Path;

use comfy_table::{CellAlignment, Table, presets};
use serde_json::Value;

use super::audit::{Audit, Mismatch};
use super::ledger::Summary;
use crate::progress::say;

/// Says that some lines were left out; it does not make the run a failure.
pub(super) fn rejected(count: u64, list: &Path) {
    if count > 0 {
        let lines = if count == 1 { "line" } else { "lines" };
        say(format_args!("warning: {count} {lines} could not be used; see {}", list.display()));
    }
}

pub(super) fn audit(
    to: &mut dyn Write,
    audit: &Audit,
    mismatches: &[Mismatch],
    as_json: bool,
) -> io::Result<()> {
    let text = match as_json {
        true => json(audit, mismatches).to_string(),
        false => table(audit, mismatches),
    };
    match writeln!(to, "{text}") {
        // Whoever stopped reading has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

fn table(audit: &Audit, mismatches: &[Mismatch]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for (key, figure) in figures(audit) {
        table.add_row([key.to_owned(), figure.to_string()]);
    }
    table.add_row(["audit", verdict(audit, mismatches)]);
    for (column, alignment) in table.column_iter_mut().zip([CellAlignment::Left, CellAlignment::Right]) {
        column.set_padding((0, 1)).set_cell_alignment(alignment);
    }
    table.trim_fmt()
}

fn verdict(audit: &Audit, mismatches: &[Mismatch]) -> &'static str {
    match (mismatches, &audit.change) {
        ([], Some(_)) => "ok",
        ([], None) => "ok (lines only)",
        _ => "FAILED",
    }
}

fn figures(audit: &Audit) -> [(&'static str, u64); 8] {
    [
        ("items added", audit.loaded.added),
        ("already there", audit.loaded.already_there),
        ("lines", audit.summary.lines),
        ("distinct ids", audit.summary.distinct_ids),
        ("given", audit.summary.given),
        ("free left", audit.free_left),
        ("ids without item", audit.summary.ids_without_item()),
        ("rejected lines", audit.rejected),
    ]
}

fn json(audit: &Audit, mismatches: &[Mismatch]) -> Value {
    let figures = figures(audit).map(|(key, figure)| (key.replace(' ', "_"), figure.into()));
    let more = [
        ("outcomes", outcomes(&audit.summary)),
        ("counts_checked", audit.change.is_some().into()),
        ("mismatches", mismatches.iter().map(mismatch).collect()),
    ];
    let more = more.map(|(key, value)| (key.to_owned(), value));
    figures.into_iter().chain(more).collect()
}

fn outcomes(summary: &Summary) -> Value {
    let outcomes =
        [("new", summary.new), ("again", summary.again), ("empty", summary.empty), ("ended", summary.ended)];
    outcomes.into_iter().collect()
}

fn mismatch(mismatch: &Mismatch) -> Value {
    let about = [
        ("check", mismatch.check.name().into()),
        ("expected_min", figure(*mismatch.expected.start())),
        ("expected_max", figure(*mismatch.expected.end())),
        ("found", figure(mismatch.found)),
    ];
    about.into_iter().collect()
}

/// Every figure is a difference of two counts, so it fits.
fn figure(figure: i128) -> Value {
    i64::try_from(figure).ok().into()
}

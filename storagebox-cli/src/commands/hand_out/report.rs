//! The audit, for people and for machines.

use std::io::Write;

use comfy_table::CellAlignment;
use serde_json::Value;

use super::audit::Audit;
use super::ledger::Summary;
use crate::answer::{self, line};
use crate::check::Mismatch;
use crate::exit::Failure;

pub(super) fn audit(to: &mut dyn Write, audit: &Audit, mismatches: &[Mismatch], as_json: bool) -> Result<(), Failure> {
    match as_json {
        true => line(to, &json(audit, mismatches).to_string()),
        false => line(to, &table(audit, mismatches)),
    }
}

fn table(audit: &Audit, mismatches: &[Mismatch]) -> String {
    let figures = figures(audit).map(|(key, figure)| (key.to_owned(), figure.to_string()));
    let verdict = ("audit".to_owned(), verdict(audit, mismatches).to_owned());
    answer::table(figures.into_iter().chain([verdict]), CellAlignment::Right)
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
        ("mismatches", mismatches.iter().map(Mismatch::json).collect()),
    ];
    let more = more.map(|(key, value)| (key.to_owned(), value));
    figures.into_iter().chain(more).collect()
}

fn outcomes(summary: &Summary) -> Value {
    let outcomes = [("new", summary.new), ("again", summary.again), ("empty", summary.empty), ("ended", summary.ended)];
    outcomes.into_iter().collect()
}

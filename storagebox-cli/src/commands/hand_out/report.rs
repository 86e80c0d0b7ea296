//! The audit, for people and for programs.

use super::audit::Audit;
use crate::answer::{Answer, Field};
use crate::check::Mismatch;
use crate::exit::Exit;

pub(super) fn answer(audit: &Audit, mismatches: &[Mismatch]) -> Answer {
    let summary = &audit.summary;
    let outcomes = [("new", summary.new), ("again", summary.again), ("empty", summary.empty), ("ended", summary.ended)];
    Answer::new(Exit::Done)
        .figure("items_added", audit.loaded.added)
        .figure("already_there", audit.loaded.already_there)
        .figure("lines", summary.lines)
        .figure("distinct_ids", summary.distinct_ids)
        .figure("given", summary.given)
        .figure("free_left", audit.free_left)
        .figure("ids_without_item", summary.ids_without_item())
        .figure("rejected_lines", audit.rejected)
        .with("audit", Field::TableOnly(verdict(audit, mismatches)))
        .with("outcomes", Field::Json(outcomes.into_iter().collect()))
        .with("counts_checked", Field::Json(audit.change.is_some().into()))
        .with("mismatches", Field::Json(mismatches.iter().map(Mismatch::json).collect()))
}

fn verdict(audit: &Audit, mismatches: &[Mismatch]) -> &'static str {
    match (mismatches, &audit.change) {
        ([], Some(_)) => "ok",
        ([], None) => "ok (lines only)",
        _ => "FAILED",
    }
}

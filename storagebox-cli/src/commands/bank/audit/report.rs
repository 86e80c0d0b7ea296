//! The audit, for people and for programs.

use serde_json::Value;

use super::super::answers::figures;
use super::Audit;
use crate::answer::{Answer, Field};
use crate::check::Mismatch;
use crate::cli::OfNamespace;
use crate::exit::Exit;

pub(super) fn answer(of: &OfNamespace, audit: &Audit, mismatches: &[Mismatch]) -> Answer {
    let answer = Answer::new(Exit::Done).text("namespace", &of.name);
    let named = audit.named.iter().map(|claim| claim.as_str().to_owned()).collect();
    let json: Value = mismatches.iter().map(Mismatch::json).collect();
    figures(answer, &audit.listed)
        .figure("claims_checked", audit.claims)
        .figure("claims_at_odds", audit.at_odds)
        .with("at_odds", Field::Texts(named))
        .word("audit", verdict(audit, mismatches))
        .with("counts_checked", Field::Json(audit.is_at_rest().into()))
        .with("mismatches", Field::Json(json))
}

fn verdict(audit: &Audit, mismatches: &[Mismatch]) -> &'static str {
    match (mismatches, audit.is_at_rest()) {
        ([], true) => "ok",
        ([], false) => "ok (claims only)",
        _ => "FAILED",
    }
}

//! The result of an import, for people and for programs.

use serde_json::Value;

use super::Imported;
use crate::answer::{Answer, Field};
use crate::check::Mismatch;
use crate::cli::Import;
use crate::exit::Exit;

pub(super) fn answer(args: &Import, imported: &Imported) -> Answer {
    let mismatches = imported.compared.mismatches();
    let named = imported.compared.named().iter().map(|id| id.as_str().to_owned()).collect();
    let json: Value = mismatches.iter().map(Mismatch::json).collect();
    Answer::new(Exit::Done)
        .text("namespace", &args.of.name)
        .figure("ids_there", imported.ids)
        .figure("free_there", imported.free)
        .figure("ids_imported", imported.copied.ids)
        .figure("free_imported", imported.copied.free)
        .with("at_odds", Field::Texts(named))
        .word("audit", verdict(imported, &mismatches))
        .with("mismatches", Field::Json(json))
}

fn verdict(imported: &Imported, mismatches: &[Mismatch]) -> &'static str {
    match (mismatches, imported.is_refused) {
        ([], _) => "ok",
        (_, true) => "refused",
        (_, false) => "FAILED",
    }
}

//! The explanation of a failed case.

use crate::case::Case;
use crate::clauses::CLAUSES;
use crate::failure::Failure;
use crate::mistakes::Mistake;
use crate::options::HANDLES;
use crate::part::Family;
use crate::world::PROFILE;

const CAUSES_SHOWN: usize = 3;

/// Returns the report of a failure: the promise, the event, the line of the check, known mistakes that fail the same
/// case, and how to reproduce the failure.
pub(crate) fn lesson(failure: &Failure, case: &Case, seed: u64) -> String {
    let clause = case.clause();
    let promise = CLAUSES.iter().find(|known| known.id == clause).map_or("", |known| known.promise);
    let causes = causes(case);
    let set = |variable| std::env::var(variable).map(|value| format!("{variable}={value} ")).unwrap_or_default();
    let profile = [PROFILE, HANDLES].map(set).concat();
    let package = std::env::var("CARGO_PKG_NAME").map(|name| format!("-p {name} ")).unwrap_or_default();
    format!(
        "{failure}\n{clause} promises: {promise}\nnoticed at {}{causes}\n\
         replay: {profile}STORAGEBOX_SEED={seed} cargo test {package}--test {} -- --exact {}{}",
        failure.place(),
        program(),
        case.name(),
        chance(case.family())
    )
}

/// Returns the mistakes of broken stores that failed the same case, the likeliest first.
fn causes(case: &Case) -> String {
    let noticed = Mistake::noticed_by(case);
    let lines: String = noticed.iter().take(CAUSES_SHOWN).map(|mistake| format!("\n  - {}", mistake.wrong)).collect();
    if lines.is_empty() { lines } else { format!("\nother stores that failed this case:{lines}") }
}

/// Returns a note if the seed alone does not reproduce the failures of this family, and otherwise an empty text.
fn chance(family: Family) -> &'static str {
    match family {
        Family::Concurrent | Family::Network | Family::Beside | Family::Process | Family::Crash => {
            "\nthe seed repeats the calls and not their order: STORAGEBOX_RUNS=100 tries a hundred seeds"
        }
        Family::Sequential | Family::Edge | Family::Ambiguous | Family::Cancel => "",
    }
}

/// Returns the name by which cargo runs this test program.
fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    let file = path.file_stem().unwrap_or_default().to_string_lossy();
    file.rsplit_once('-').map_or(file.as_ref(), |(name, _hash)| name).to_owned()
}

//! Writes the table of the cases that notice each mutant. The suite uses the table to name likely causes of a failure.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;

use storagebox_conformance::{Case, FailureKind, Outcome, Part, Profile, Runner, cases};

use crate::AT_ONCE;
use crate::catalogue::{Mutant, mutants};
use crate::harness::Mutated;
use crate::steps::lock;

/// The environment variable that makes the program write the table of noticed mutants instead of testing.
pub(crate) const ASKED: &str = "STORAGEBOX_NOTICED";

/// The seeds with which each case runs on each mutant. A case notices a mutant if it fails with most of these seeds.
const SEEDS: [u64; 3] = [1, 2, 3];

/// The names of the mutants that each case notices, by the name of the case.
type Table = BTreeMap<String, Vec<&'static str>>;

/// Tries every mutant and writes the table.
pub(crate) fn write() -> Result<(), String> {
    let (left, table) = (Mutex::new(mutants().into_iter()), Mutex::new(Table::new()));
    std::thread::scope(|scope| {
        let tries = [(); AT_ONCE].map(|()| scope.spawn(|| try_all(&left, &table)));
        tries.into_iter().try_for_each(|tried| tried.join().map_err(|_| "a mutant panicked".to_owned())?)
    })?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/mistakes/noticed.txt");
    std::fs::write(&path, rendered(&lock(&table))).map_err(|error| format!("{}: {error}", path.display()))
}

fn try_all(left: &Mutex<impl Iterator<Item = Mutant>>, table: &Mutex<Table>) -> Result<(), String> {
    loop {
        let Some(mutant) = lock(left).next() else { return Ok(()) };
        let runner = Runner::new(Mutated(mutant.mistake), Profile::SMOKE).map_err(|error| error.to_string())?;
        for case in cases().iter().filter(|case| is_about(&mutant, case)) {
            if notices(&runner, case) {
                lock(table).entry(case.name()).or_default().push(mutant.name);
            }
        }
        println!("{}", mutant.name);
    }
}

fn notices(runner: &Runner, case: &Case) -> bool {
    let saw = |seed: &&u64| match runner.run(case, **seed) {
        Outcome::Failed(failure) => failure.kind() == FailureKind::Broken,
        Outcome::Passed | Outcome::Ignored(_) => false,
    };
    SEEDS.iter().filter(saw).count() > SEEDS.len() / 2
}

/// Returns whether the mistake is a plausible cause of a failure of the case.
fn is_about(mutant: &Mutant, case: &Case) -> bool {
    let is_one_time = case.clause().starts_with("OT-");
    let part = case.part();
    let own = match mutant.name.split("::").next().unwrap_or_default() {
        "bank" => part == Part::ItemBank,
        "deduplicator" => return part == Part::Deduplicator,
        "dedup" | "lease" => part == Part::Dedup,
        "token" => part == Part::Tokens && !is_one_time,
        "one_time" => return is_one_time,
        "entities" => part == Part::Entities || part == Part::JoinedEntities,
        "counter" => part == Part::Counter || part == Part::Strategies,
        "ledger" => part == Part::Strategies,
        "ordered" => part == Part::Ordered,
        _ => true,
    };
    own || [Part::Values, Part::Errors, Part::Store].contains(&part)
}

/// Returns one line for each case, in the order of the suite.
fn rendered(table: &Table) -> String {
    let mut text = String::new();
    for name in cases().iter().map(Case::name) {
        if let Some(mutants) = table.get(&name) {
            let mut mutants = mutants.clone();
            mutants.sort_unstable();
            let _ = writeln!(text, "{name} {}", mutants.join(" "));
        }
    }
    text
}

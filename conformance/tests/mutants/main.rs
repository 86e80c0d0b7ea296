//! The acceptance test of the suite: for each store with one mistake, a case of the clause that the mistake breaks must
//! fail.
//!
//! `STORAGEBOX_SEEDS` is the number of seeds (default 20), `STORAGEBOX_SEED` the first seed. `STORAGEBOX_NOTICED=1`
//! writes the table of the cases that notice each mutant, `src/mistakes/noticed.txt`.

mod bank;
mod catalogue;
mod counter;
mod dedup;
mod entities;
mod harness;
mod lease;
mod ledger;
mod noticed;
mod ordered;
mod steps;
mod store;
mod tokens;
mod transactions;
mod void;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use libtest_mimic::{Arguments, Failed, Trial};
use storagebox_conformance::{
    CLAUSES, Case, Failure, FailureKind, Mistake as Known, Outcome, Part, Profile, Runner, cases,
};

use crate::catalogue::{Mutant, is_complete, mutants};
use crate::harness::Mutated;
use crate::noticed::ASKED;
use crate::steps::lock;
use crate::store::Mistake;

/// The number of mutants that run at once: more than cores, because mutants mostly wait.
const AT_ONCE: usize = 8;

const AT_LEAST: usize = 45;

const PARTS: [Part; 13] = [
    Part::Values,
    Part::Errors,
    Part::Store,
    Part::ItemBank,
    Part::Deduplicator,
    Part::Dedup,
    Part::Tokens,
    Part::Entities,
    Part::JoinedEntities,
    Part::Counter,
    Part::Strategies,
    Part::Ordered,
    Part::Transactions,
];

/// The results of the mutants, one line each.
type Lines = Arc<Mutex<BTreeMap<&'static str, String>>>;

fn main() -> ExitCode {
    if std::env::var_os(ASKED).is_some() {
        return written(noticed::write());
    }
    let seeds = seeds();
    let lines = Lines::default();
    let mut trials = vec![Trial::test("catalogue", check_catalogue)];
    trials.extend(PARTS.map(|part| {
        let seeds = seeds.clone();
        Trial::test(format!("unbroken::{}", part.name()), move || unbroken(part, seeds))
    }));
    trials.extend(mutants().into_iter().map(|mutant| {
        let (seeds, lines) = (seeds.clone(), Arc::clone(&lines));
        Trial::test(format!("mutant::{}", mutant.name), move || is_caught(mutant, seeds, &lines))
    }));
    println!("mutants, STORAGEBOX_SEED={}", seeds.start);
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let conclusion = libtest_mimic::run(&arguments, trials);
    for line in lock(&lines).values() {
        println!("{line}");
    }
    conclusion.exit_code()
}

fn written(written: Result<(), String>) -> ExitCode {
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn seeds() -> Range<u64> {
    let number = |variable| std::env::var(variable).ok()?.parse().ok();
    let first = number("STORAGEBOX_SEED").unwrap_or_else(|| fastrand::Rng::new().u64(..u64::MAX / 2));
    first..first.saturating_add(number("STORAGEBOX_SEEDS").unwrap_or(20))
}

fn check_catalogue() -> Result<(), Failed> {
    let mutants = mutants();
    if !is_complete() {
        return Err("the mutants differ from the mistakes that the suite knows, or have another order".into());
    }
    let names: BTreeSet<_> = mutants.iter().map(|mutant| mutant.name).collect();
    if names.len() != mutants.len() {
        return Err("two mutants have the same name".into());
    }
    if mutants.len() < AT_LEAST {
        return Err(format!("there are {} mutants instead of at least {AT_LEAST}", mutants.len()).into());
    }
    let known = |clause| CLAUSES.iter().any(|known| known.id == clause);
    if let Some(mutant) = mutants.iter().find(|mutant| !known(mutant.clause)) {
        return Err(format!("{} names the unknown clause {}", mutant.name, mutant.clause).into());
    }
    match mutants.iter().find(|mutant| !is_noticed(mutant)) {
        Some(mutant) => Err(format!("noticed.txt lacks {} of {}: set {ASKED}=1", mutant.name, mutant.clause).into()),
        None => Ok(()),
    }
}

/// Returns whether the table of likely causes names the mutant for a case of the mutant's clause.
fn is_noticed(mutant: &Mutant) -> bool {
    let of_clause = cases().into_iter().filter(|case| case.clause() == mutant.clause);
    of_clause.flat_map(|case| Known::noticed_by(&case)).any(|known| known.name == mutant.name)
}

/// Checks that the wrapper without a mistake passes every case of the part.
fn unbroken(part: Part, seeds: Range<u64>) -> Result<(), Failed> {
    let runner = Runner::new(Mutated(Mistake::None), Profile::SMOKE)?;
    for case in cases().into_iter().filter(|case| case.part() == part) {
        for seed in seeds.clone() {
            if let Outcome::Failed(failure) = runner.run(&case, seed) {
                return Err(format!("{case:?} failed with seed {seed}: {failure}").into());
            }
        }
    }
    Ok(())
}

fn is_caught(mutant: Mutant, seeds: Range<u64>, lines: &Lines) -> Result<(), Failed> {
    let runner = Runner::new(Mutated(mutant.mistake), Profile::SMOKE)?;
    let cases = cases_against(&mutant);
    let mut caught_by: BTreeMap<String, usize> = BTreeMap::new();
    for seed in seeds.clone() {
        let (case, failure) = catch(&runner, &cases, seed).ok_or_else(|| survived(&mutant, &cases, seed))?;
        if failure.kind() != FailureKind::Broken {
            return Err(format!("{} is not caught by {case:?}, which proves nothing: {failure}", mutant.name).into());
        }
        *caught_by.entry(shown(&mutant, case)).or_default() += 1;
    }
    lock(lines).insert(mutant.name, line(&mutant, &caught_by, &seeds));
    Ok(())
}

/// Returns the cases of the mutant's clause, with the cases of the expected family first.
fn cases_against(mutant: &Mutant) -> Vec<Case> {
    let mut cases: Vec<_> = cases().into_iter().filter(|case| case.clause() == mutant.clause).collect();
    cases.sort_by_key(|case| (case.family() != mutant.family, case.family()));
    cases
}

fn catch<'a>(runner: &Runner, cases: &'a [Case], seed: u64) -> Option<(&'a Case, Failure)> {
    cases.iter().find_map(|case| match runner.run(case, seed) {
        Outcome::Failed(failure) => Some((case, failure)),
        Outcome::Passed | Outcome::Ignored(_) => None,
    })
}

fn survived(mutant: &Mutant, cases: &[Case], seed: u64) -> Failed {
    let Mutant { name, clause, wrong, .. } = mutant;
    format!("{name} survived with seed {seed}: {wrong}; tried for {clause}: {cases:?}").into()
}

/// Returns the name of the case that caught the mutant, with its family if another family was expected.
fn shown(mutant: &Mutant, case: &Case) -> String {
    if case.family() == mutant.family {
        return case.name();
    }
    format!("{} [{:?}, not {:?}]", case.name(), case.family(), mutant.family)
}

fn line(mutant: &Mutant, caught_by: &BTreeMap<String, usize>, seeds: &Range<u64>) -> String {
    let most = caught_by.iter().max_by_key(|(_, times)| **times);
    let case = most.map_or("nothing", |(case, _)| case);
    let times: usize = caught_by.values().sum();
    let count = seeds.end - seeds.start;
    format!("{:<36} {times}/{count} by {case}: {}", mutant.name, mutant.wrong)
}

//! Checks that the catalogues fit the workspace: every patch applies, and every case exists.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use super::catalogue::{Catalogue, Mutant, Patch, folder_of};
use crate::workspace;

const CLAUSES: &str = "conformance/CLAUSES.md";
/// The test programs that run the cases of the suite.
const SUITES: [&str; 3] = ["conformance", "smoke", "faults"];

/// Checks the catalogues. The error lists everything that does not fit.
pub(super) fn check(catalogues: &[Catalogue]) -> Result<()> {
    let clauses = workspace::read(CLAUSES)?;
    let known: BTreeSet<_> = clauses.split('`').skip(1).step_by(2).collect();
    let mut faults = names_used_twice(catalogues);
    for catalogue in catalogues {
        for mutant in &catalogue.mutants {
            let found = faults_of(mutant, &catalogue.backend, &known, &clauses);
            faults.extend(found.into_iter().map(|why| format!("{} {}: {why}", catalogue.backend, mutant.name)));
        }
    }
    ensure!(faults.is_empty(), "{}\nthe mutants in proofs/mutants do not match the sources", faults.join("\n"));
    Ok(())
}

fn names_used_twice(catalogues: &[Catalogue]) -> Vec<String> {
    let twice = |catalogue: &Catalogue| {
        let mut seen = BTreeSet::new();
        let names = catalogue.mutants.iter().map(|mutant| mutant.name.as_str());
        let twice = names.filter(|name| !seen.insert(*name)).collect::<Vec<_>>();
        twice.into_iter().map(|name| format!("{} {name}: two mutants have this name", catalogue.backend)).collect()
    };
    catalogues.iter().flat_map(|catalogue| -> Vec<String> { twice(catalogue) }).collect()
}

fn faults_of(mutant: &Mutant, backend: &str, known: &BTreeSet<&str>, clauses: &str) -> Vec<String> {
    let mut faults: Vec<_> = patches(mutant, backend);
    if !clauses.contains(&format!("\n| {} | ", mutant.clause)) {
        faults.push(format!("there is no clause {}", mutant.clause));
    }
    let is_there = match SUITES.contains(&mutant.test.as_str()) {
        true => known.contains(mutant.case.as_str()),
        false => is_test(backend, &mutant.test, &mutant.case),
    };
    if !is_there {
        faults.push(format!("there is no case {} in the test `{}`", mutant.case, mutant.test));
    }
    if SUITES.contains(&mutant.test.as_str()) && mutant.case.split("::").nth(1) != Some(mutant.clause.as_str()) {
        faults.push(format!("its case does not test {}", mutant.clause));
    }
    faults
}

/// The folder of the core's rules, which a patch of any backend may also change.
const RULES: &str = "storagebox-core/src/backend/rules/";

fn patches(mutant: &Mutant, backend: &str) -> Vec<String> {
    let folders = [format!("{}/", folder_of(backend)), RULES.to_owned()];
    let fault = |patch: &Patch| match folders.iter().any(|of| patch.file.starts_with(of)) {
        true => {
            workspace::read(&patch.file).map_or_else(|error| Some(error.to_string()), |text| patch.applied(&text).err())
        }
        false => Some(format!("{} is outside {}", patch.file, folder_of(backend))),
    };
    mutant.patch.iter().filter_map(fault).collect()
}

/// Returns whether the case's function is in the module that the case names, or in a module around it.
fn is_test(backend: &str, test: &str, case: &str) -> bool {
    let Some((modules, function)) = case.rsplit_once("::") else { return false };
    let modules: Vec<_> = modules.split("::").collect();
    let function = format!("fn {function}(");
    let has = |path: PathBuf| workspace::read(path).is_ok_and(|text| text.contains(&function));
    (1..=modules.len()).rev().any(|depth| has(module(backend, test, &modules[..depth])))
}

fn module(backend: &str, test: &str, modules: &[&str]) -> PathBuf {
    let folder = PathBuf::from(folder_of(backend));
    let folder = if test == "lib" { folder.join("src") } else { folder.join("tests").join(test) };
    modules.iter().fold(folder, |path, module| path.join(module)).with_extension("rs")
}

#[cfg(test)]
mod tests {
    use super::super::catalogue;
    use super::*;

    /// Checks the real catalogues, so that every build notices a patch that no longer applies.
    #[test]
    fn every_patch_applies_and_every_case_exists() {
        let all = catalogue::read().unwrap();
        check(&all).unwrap();
        for backend in ["custom-backend", "dynamo", "postgres", "redis", "sqlite"] {
            let count = all.iter().find(|catalogue| catalogue.backend == backend).map_or(0, |one| one.mutants.len());
            assert!(count >= 25, "{backend} has {count} mutants");
        }
    }

    fn mutant() -> Mutant {
        let patch = Patch {
            file: "storagebox-sqlite/sql/store/keep.sql".to_owned(),
            find: "VALUES (1, ?1)".to_owned(),
            replace: "VALUES (1, null)".to_owned(),
        };
        Mutant {
            name: "one".to_owned(),
            clause: "IB-1".to_owned(),
            wrong: "it is wrong".to_owned(),
            case: "item_bank::IB-1::one_item_left_has_one_winner".to_owned(),
            test: "conformance".to_owned(),
            runs: 1,
            patch: vec![patch],
        }
    }

    fn fault(change: impl Fn(&mut Mutant)) -> String {
        let mut mutants = vec![mutant()];
        change(&mut mutants[0]);
        let catalogue = Catalogue { backend: "sqlite".to_owned(), mutants };
        check(&[catalogue]).map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn a_wrong_entry_of_the_catalogue_is_reported() {
        assert_eq!(fault(|_| ()), "");
        let refused = |change: fn(&mut Mutant), why: &str| {
            let fault = fault(change);
            assert!(fault.contains("sqlite one: ") && fault.contains(why), "{fault}");
        };
        refused(|one| one.patch[0].find = "nowhere".to_owned(), "no longer applies");
        refused(
            |one| one.patch[0].file = "storagebox-redis/lua/lib/slot.lua".to_owned(),
            "is outside storagebox-sqlite",
        );
        refused(|one| one.patch[0].file = "storagebox-sqlite/sql/none.sql".to_owned(), "none.sql");
        refused(|one| one.clause = "IB-99".to_owned(), "no clause IB-99");
        refused(|one| one.clause = "IB-2".to_owned(), "does not test IB-2");
        refused(|one| one.case = "item_bank::IB-1::none".to_owned(), "no case item_bank::IB-1::none");
        refused(|one| one.test = "backend".to_owned(), "in the test `backend`");
    }

    #[test]
    fn a_test_of_the_backend_is_found_by_its_module() {
        let writer = "client::writer::tests::a_take_whose_statement_fails_at_its_commit_is_unknown";
        assert!(is_test("sqlite", "lib", writer));
        assert!(is_test("sqlite", "backend", "setup::tables_of_a_newer_library_are_refused_and_unchanged"));
        assert!(!is_test("sqlite", "backend", "files::tables_of_a_newer_library_are_refused_and_unchanged"));
    }

    #[test]
    fn two_mutants_with_one_name_are_reported() {
        let twice = Catalogue { backend: "sqlite".to_owned(), mutants: vec![mutant(), mutant()] };
        assert!(check(&[twice]).unwrap_err().to_string().contains("two mutants have this name"));
    }
}

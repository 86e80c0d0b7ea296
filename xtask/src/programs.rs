//! The test programs, in two halves that run beside each other: most of them wait for servers and disks more than they work.

use std::fs;
use std::path::Path;

use crate::failure::Failure;
use crate::workspace;

/// The programs that run the suite take about as long as all others.
const SUITE: &str = "conformance";

/// What cargo is told to run the suite on every backend.
pub(crate) const SUITES: [&str; 2] = ["--test", SUITE];

/// What cargo is told to run all other programs of these packages, or of the workspace; not the documentation's examples.
pub(crate) fn others(packages: &[&str]) -> Result<Vec<String>, Failure> {
    let mut arguments = vec!["--lib".to_owned(), "--bins".to_owned()];
    for name in names(packages)?.into_iter().filter(|name| name != SUITE) {
        arguments.extend(["--test".to_owned(), name]);
    }
    Ok(arguments)
}

/// Found as cargo finds them.
fn names(packages: &[&str]) -> Result<Vec<String>, Failure> {
    let mut names = vec![];
    for folder in workspace::members(&workspace::read("Cargo.toml")?) {
        if is_among(folder, packages) {
            names.extend(programs_in(&workspace::root().join(folder).join("tests")));
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// Whether it is asked for by its name, which its folder has too; without any `--package=` all are.
fn is_among(folder: &str, packages: &[&str]) -> bool {
    let mut asked = packages.iter().filter_map(|word| word.strip_prefix("--package=")).peekable();
    asked.peek().is_none()
        || asked.any(|name| name == folder || name.strip_prefix("storagebox-") == Some(folder))
}

/// `NAME.rs` and `NAME/main.rs`; none where there is no such folder.
fn programs_in(tests: &Path) -> Vec<String> {
    let entries = fs::read_dir(tests).into_iter().flatten().flatten().map(|entry| entry.path());
    let programs = entries
        .filter(|path| path.extension().is_some_and(|end| end == "rs") || path.join("main.rs").is_file());
    programs.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_halves_are_all_programs() {
        let all = names(&["--workspace"]).unwrap();
        for name in ["conformance", "backend", "cli", "mutants", "smoke"] {
            assert!(all.iter().any(|found| found == name), "{name}: {all:?}");
        }
        let others = others(&["--workspace"]).unwrap();
        let named = others.iter().filter(|word| !word.starts_with("--")).count();
        assert_eq!(named + 1, all.len(), "{others:?}");
        assert!(!all.iter().any(|name| name == "support"), "what has no main file is no program: {all:?}");
    }

    #[test]
    fn packages_are_known_by_their_folders() {
        let asked =
            ["--package=storagebox-core", "--package=storagebox-conformance", "--no-default-features"];
        for (folder, expected) in
            [("storagebox-core", true), ("conformance", true), ("storagebox-redis", false)]
        {
            assert_eq!(is_among(folder, &asked), expected, "{folder}");
        }
    }
}

//! The catalogues: a folder per backend in `proofs/mutants`, with a file per part.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::workspace;

const FOLDER: &str = "proofs/mutants";

/// All mutants of one backend.
#[derive(Debug)]
pub(super) struct Catalogue {
    pub(super) backend: String,
    pub(super) mutants: Vec<Mutant>,
}

/// The content of one file of a catalogue.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    mutant: Vec<Mutant>,
}

/// A deliberate mistake in a backend.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mutant {
    pub(super) name: String,
    /// The clause that the mistake breaks.
    pub(super) clause: String,
    /// The description of the mistake.
    pub(super) wrong: String,
    /// The case that notices the mistake.
    pub(super) case: String,
    /// The test program that contains the case; `lib` for unit tests.
    #[serde(default = "suite")]
    pub(super) test: String,
    /// The number of seeds with which the case runs; more than 1 if the case is a race.
    #[serde(default = "once")]
    pub(super) runs: u32,
    pub(super) patch: Vec<Patch>,
}

/// A text in a file, and its replacement.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Patch {
    /// The path from the root of the workspace.
    pub(super) file: String,
    pub(super) find: String,
    pub(super) replace: String,
}

fn suite() -> String {
    "conformance".to_owned()
}

fn once() -> u32 {
    1
}

impl Catalogue {
    pub(super) fn package(&self) -> String {
        package_of(&self.backend)
    }

    /// Returns the test programs that the mutants need.
    pub(super) fn tests(&self) -> BTreeSet<&str> {
        self.mutants.iter().map(|mutant| mutant.test.as_str()).collect()
    }

    /// Returns the cases of a test program, each once.
    pub(super) fn cases(&self, test: &str) -> BTreeSet<&str> {
        let of_test = self.mutants.iter().filter(|mutant| mutant.test == test);
        of_test.map(|mutant| mutant.case.as_str()).collect()
    }
}

/// The backend that is an example for authors.
const EXAMPLE: &str = "custom-backend";

pub(super) fn package_of(backend: &str) -> String {
    if backend == EXAMPLE { EXAMPLE.to_owned() } else { format!("storagebox-{backend}") }
}

pub(super) fn folder_of(backend: &str) -> String {
    if backend == EXAMPLE { format!("examples/{EXAMPLE}") } else { package_of(backend) }
}

impl Patch {
    /// Returns the patched text. The error says why the patch does not apply.
    pub(super) fn applied(&self, text: &str) -> Result<String, String> {
        match text.matches(&self.find).count() {
            _ if self.find.is_empty() => Err("its text to find is empty".to_owned()),
            _ if self.find == self.replace => Err("it changes nothing".to_owned()),
            1 => Ok(text.replacen(&self.find, &self.replace, 1)),
            0 => Err(format!("it no longer applies: {} has no such text", self.file)),
            times => Err(format!("it is ambiguous: {} has that text {times} times", self.file)),
        }
    }
}

pub(super) fn read() -> Result<Vec<Catalogue>> {
    let folders = workspace::entries(FOLDER)?.into_iter().filter(|path| path.is_dir());
    folders.map(|folder| read_one(&folder)).collect()
}

fn read_one(folder: &Path) -> Result<Catalogue> {
    let mut mutants = Vec::new();
    for path in workspace::entries(folder)? {
        mutants.extend(parsed(&path, &workspace::read(&path)?)?.mutant);
    }
    Ok(Catalogue { backend: workspace::name(folder), mutants })
}

fn parsed(path: &Path, text: &str) -> Result<File> {
    toml::from_str(text).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "
[[mutant]]
name = 'one'
clause = 'IB-1'
wrong = 'it is wrong'
case = 'item_bank::IB-1::one_item_left_has_one_winner'
[[mutant.patch]]
file = 'a'
find = '''
b
'''
replace = ''
";

    fn patch(find: &str, replace: &str) -> Patch {
        Patch { file: "a.sql".to_owned(), find: find.to_owned(), replace: replace.to_owned() }
    }

    #[test]
    fn a_mutant_without_a_test_program_uses_the_suite() {
        let file = parsed(Path::new("a.toml"), ONE).unwrap();
        let [mutant] = &file.mutant[..] else { panic!("{file:?}") };
        assert_eq!((mutant.test.as_str(), mutant.runs), ("conformance", 1));
        assert_eq!(mutant.patch[0].find, "b\n");
    }

    #[test]
    fn an_error_in_a_catalogue_names_its_file_and_line() {
        let error = parsed(Path::new("a.toml"), &ONE.replace("wrong", "worng")).unwrap_err();
        let error = format!("{error:#}");
        assert!(error.contains("a.toml") && error.contains("line 5") && error.contains("worng"), "{error}");
    }

    #[test]
    fn a_patch_applies_only_to_a_text_that_occurs_once() {
        assert_eq!(patch("<=", "<").applied("a <= b"), Ok("a < b".to_owned()));
        for (text, find, replace, why) in [
            ("a < b", "<=", "<", "no longer applies"),
            ("a <= b <= c", "<=", "<", "2 times"),
            ("a <= b", "<=", "<=", "changes nothing"),
            ("a <= b", "", "<=", "empty"),
        ] {
            let refused = patch(find, replace).applied(text).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
    }
}

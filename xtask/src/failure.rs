//! The failures of tasks.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::hand_out_report::Fault;
use crate::needed::Lacking;

#[derive(Debug)]
pub(crate) enum Failure {
    NotStarted { command: String, error: io::Error },
    Exit { command: String, code: Option<i32>, output: String },
    File { path: PathBuf, error: io::Error },
    Lacking(Lacking),
    Server(storagebox_testkit::Failure),
    Feature { package: String, feature: Option<String>, failure: Box<Failure> },
    ForeignDrivers { package: String, feature: Option<String>, drivers: Vec<String> },
    NoExamples,
    NoResult { program: String },
    Warnings { warnings: String },
    Package { package: String, why: String },
    NoCommand,
    NoProgram,
    NotCertified,
    Newcomer { program: String, why: String },
    Given(Fault),
    Untrue { what: &'static str, expected: usize, found: usize },
    TooMuchMemory { peak: u64, limit: u64 },
    NoPeak,
    NoWords,
    StaleClauses,
    Catalogue { faults: Vec<String> },
    Survived { survivors: Vec<String> },
    NoBackend { name: String, backends: String },
    NotBuilt { test: String },
    Alarms { alarms: usize },
    Names { library: String, why: String },
    OtherNames { file: String, changes: String },
}

impl Failure {
    /// Returns the exit code: that of a failed child; 2 if something that the tests need is missing; otherwise 1.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Exit { code: Some(code), .. } => u8::try_from(*code).unwrap_or(1).max(1),
            Self::Feature { failure, .. } => failure.exit_code(),
            Self::Server(_) | Self::Lacking(_) => 2,
            _ => 1,
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Given(fault)
    }
}

impl From<storagebox_testkit::Failure> for Failure {
    fn from(failure: storagebox_testkit::Failure) -> Self {
        Self::Server(failure)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted { command, error } => write!(f, "`{command}` did not start: {error}"),
            Self::Exit { command, code: Some(code), output } => {
                write!(f, "{output}`{command}` ended with exit code {code}")
            }
            Self::Exit { command, code: None, output } => write!(f, "{output}`{command}` was killed"),
            Self::Server(failure) => failure.fmt(f),
            Self::Lacking(lacking) => lacking.fmt(f),
            Self::File { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Feature { package, feature, failure } => {
                write!(f, "{failure}\n{package} does not stand with {}", named(feature))
            }
            Self::ForeignDrivers { package, feature, drivers } => {
                write!(f, "{package} with {} brings the drivers {}", named(feature), drivers.join(", "))
            }
            Self::Package { package, why } => {
                write!(f, "the package {package} is not fit to be published: {why}")
            }
            Self::NoResult { program } => {
                write!(f, "{program} ended with exit code 0, and did not say that all of its cases passed")
            }
            Self::Warnings { warnings } => write!(f, "{warnings}the tests are built without a warning, or not at all"),
            Self::NoExamples => f.write_str("examples/examples holds no example"),
            Self::NoCommand => f.write_str("README.md has no `cargo run` in its first ```sh block"),
            Self::NotCertified => f.write_str("the suite did not say how the example of a backend conforms"),
            Self::NoProgram => f.write_str("README.md has no block of Rust"),
            Self::Newcomer { program, why } => {
                write!(f, "no newcomer would write the program {program}: {why}")
            }
            Self::Given(fault) => write!(f, "the file given is wrong: {fault}"),
            Self::Untrue { what, expected, found } => write!(f, "{what}: {found}, not {expected}"),
            Self::TooMuchMemory { peak, limit } => {
                write!(f, "it took {} MiB at its peak; the limit is {} MiB", peak >> 20, limit >> 20)
            }
            Self::NoPeak => f.write_str("the peak of memory cannot be read: it takes Linux and its /proc"),
            Self::NoWords => {
                f.write_str("there is no word list at /usr/share/dict/words; on Debian: apt-get install wamerican")
            }
            Self::Names { library, why } => {
                write!(f, "the public names of {library} cannot be listed: {why}")
            }
            Self::OtherNames { file, changes } => {
                write!(f, "{changes}{file} is stale: run `cargo xtask api` and look at what changed for users")
            }
            Self::Catalogue { faults } => {
                write!(f, "{}\nproofs/mutants does not fit the sources as they are", faults.join("\n"))
            }
            Self::NoBackend { name, backends } => write!(f, "there is no backend `{name}`; there are {backends}"),
            Self::NotBuilt { test } => write!(f, "cargo built no test program of {test}"),
            Self::Alarms { alarms } => write!(f, "{alarms} runs of the suite failed, and no store had a fault"),
            Self::Survived { survivors } => write!(f, "not caught: {}", survivors.join(", ")),
            Self::StaleClauses => {
                f.write_str("conformance/CLAUSES.md or docs/DECISIONS.md is stale: run `cargo xtask clauses`")
            }
        }
    }
}

fn named(feature: &Option<String>) -> String {
    feature.as_ref().map_or("no feature".to_owned(), |feature| format!("the feature `{feature}` alone"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(code: Option<i32>) -> Failure {
        Failure::Exit { command: "cargo test".to_owned(), code, output: String::new() }
    }

    #[test]
    fn a_child_s_exit_code_is_passed_on_and_never_becomes_success() {
        assert_eq!(exit(Some(101)).exit_code(), 101);
        assert_eq!(exit(Some(256)).exit_code(), 1);
        assert_eq!(exit(None).exit_code(), 1);
        assert_eq!(Failure::NoExamples.exit_code(), 1);
    }
}

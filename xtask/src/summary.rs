//! What cargo's test runner says, program by program, added up.

use std::fmt;
use std::time::{Duration, Instant};

/// The sum of all test programs.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    counts: Counts,
    programs: Vec<Program>,
    /// The package whose programs run now.
    package: String,
    now: Option<(String, Instant)>,
}

#[derive(Debug, Default, PartialEq)]
struct Counts {
    passed: usize,
    failed: usize,
    ignored: usize,
}

/// A test program that has run.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) took: Duration,
}

impl Summary {
    /// Hears a line of cargo's or of a test program's.
    pub(crate) fn hear(&mut self, line: &str) {
        let line = line.trim_start();
        if let Some(named) = line.strip_prefix("Running ") {
            self.begin(named);
        } else if let Some(package) = line.strip_prefix("Doc-tests ") {
            self.now = Some((format!("{package} documentation"), Instant::now()));
        } else if let Some(backend) = line.strip_prefix("storagebox conformance of ") {
            self.name_suite(backend);
        } else if let Some(result) = line.strip_prefix("test result: ") {
            self.end(result);
        }
    }

    /// `unittests src/lib.rs (target/debug/deps/PACKAGE-HASH)`, which comes first of a package's, or
    /// `tests/NAME.rs (...)`.
    fn begin(&mut self, named: &str) {
        let Some((source, program)) = named.split_once(" (") else {
            return;
        };
        if source.starts_with("unittests ") {
            let file = program.rsplit('/').next().unwrap_or(program);
            self.package = file.rsplit_once('-').map_or(file, |(package, _)| package).to_owned();
        }
        self.now = Some((format!("{} {source}", self.package), Instant::now()));
    }

    /// Where no package was named before, the suites' programs have one name, and each says what it tests: `dynamo at ...`.
    fn name_suite(&mut self, backend: &str) {
        if let Some((name, _)) = self.now.as_mut().filter(|_| self.package.is_empty()) {
            let backend = backend.split([' ', ',']).next().unwrap_or(backend);
            *name = format!("the suite on {backend}");
        }
    }

    /// `ok. 3 passed; 0 failed; 1 ignored; ...`
    fn end(&mut self, result: &str) {
        let Some(counts) = Counts::read(result) else {
            return;
        };
        self.counts.add(&counts);
        let program = self.now.take();
        self.programs.extend(program.map(|(name, start)| Program { name, took: start.elapsed() }));
    }

    /// What other programs came to.
    pub(crate) fn add(&mut self, other: Self) {
        self.counts.add(&other.counts);
        self.programs.extend(other.programs);
    }

    /// Whether a program has run.
    pub(crate) fn any(&self) -> bool {
        !self.programs.is_empty()
    }

    /// Those that took longest, the longest first.
    pub(crate) fn longest(mut self, count: usize) -> Vec<Program> {
        self.programs.sort_by_key(|program| std::cmp::Reverse(program.took));
        self.programs.truncate(count);
        self.programs
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { passed, failed, ignored } = &self.counts;
        write!(f, "{passed} passed, {failed} failed, {ignored} skipped")
    }
}

impl Counts {
    fn read(result: &str) -> Option<Self> {
        let (_, counts) = result.split_once(". ")?;
        let mut counts = counts.split("; ").map(|count| count.split(' ').next()?.parse().ok());
        Some(Self { passed: counts.next()??, failed: counts.next()??, ignored: counts.next()?? })
    }

    fn add(&mut self, other: &Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
     Running unittests src/lib.rs (target/debug/deps/box_core-0123)
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
     Running tests/conformance.rs (target/debug/deps/conformance-4567)
test result: FAILED. 500 passed; 2 failed; 10 ignored; 0 measured; 0 filtered out; finished in 9.00s

   Doc-tests box_core
test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    fn summary() -> Summary {
        let mut summary = Summary::default();
        OUTPUT.lines().for_each(|line| summary.hear(line));
        summary
    }

    #[test]
    fn all_programs_are_added_up() {
        assert_eq!(summary().to_string(), "510 passed, 2 failed, 11 skipped");
    }

    #[test]
    fn a_program_is_named_after_its_package_and_its_source() {
        let mut names: Vec<_> = summary().longest(9).into_iter().map(|program| program.name).collect();
        names.sort();
        let expected =
            ["box_core documentation", "box_core tests/conformance.rs", "box_core unittests src/lib.rs"];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_suite_that_runs_without_its_package_is_named_after_its_backend() {
        let mut summary = Summary::default();
        for line in [
            "     Running tests/conformance.rs (target/debug/deps/conformance-4567)",
            "storagebox conformance of dynamo at http://127.0.0.1:17402 (plain), Everything",
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ] {
            summary.hear(line);
        }
        assert_eq!(summary.longest(1).pop().unwrap().name, "the suite on dynamo");
    }

    #[test]
    fn what_ran_beside_counts_too() {
        let mut both = summary();
        both.add(summary());
        assert_eq!(both.to_string(), "1020 passed, 4 failed, 22 skipped");
        assert_eq!(both.longest(9).len(), 6);
    }

    #[test]
    fn a_line_that_only_looks_like_a_result_counts_nothing() {
        let mut summary = Summary::default();
        summary.hear("test result: of a test, not of a program");
        assert_eq!(summary.to_string(), "0 passed, 0 failed, 0 skipped");
    }
}

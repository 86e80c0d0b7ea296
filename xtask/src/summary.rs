//! The sum of the results that test programs print.

use std::fmt;
use std::time::Duration;

/// The results of all test programs, added up.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    counts: Counts,
    results: usize,
    programs: Vec<Took>,
    failures: Vec<String>,
}

#[derive(Debug, Default, PartialEq)]
struct Counts {
    passed: usize,
    failed: usize,
    ignored: usize,
}

#[derive(Debug)]
pub(crate) struct Took {
    pub(crate) name: String,
    pub(crate) time: Duration,
}

impl Summary {
    /// Reads a line of a test program, and counts the cases of `test result: ok. 3 passed; 0 failed; 1 ignored; ...`. A
    /// program that runs its cases in several set-ups prints several such lines.
    pub(crate) fn hear(&mut self, line: &str) {
        let counts = line.trim_start().strip_prefix("test result: ").and_then(Counts::read);
        self.results += usize::from(counts.is_some());
        self.counts.add(&counts.unwrap_or_default());
    }

    /// Adds a program that has ended.
    pub(crate) fn ran(&mut self, name: &str, time: Duration) {
        self.programs.push(Took { name: name.to_owned(), time });
    }

    pub(crate) fn failed(&mut self, failure: String) {
        self.failures.push(failure);
    }

    pub(crate) fn failures(&self) -> String {
        self.failures.join("\n")
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.counts.add(&other.counts);
        self.results += other.results;
        self.programs.extend(other.programs);
        self.failures.extend(other.failures);
    }

    /// Returns whether a program printed its results and no case failed.
    pub(crate) fn is_passed(&self) -> bool {
        self.results > 0 && self.counts.failed == 0
    }

    /// Returns whether the only case passed. Returns `None` if not exactly one case ran, or if a case was skipped.
    pub(crate) fn of_one(&self) -> Option<bool> {
        match self.counts {
            Counts { passed: 1, failed: 0, ignored: 0 } => Some(true),
            Counts { passed: 0, failed: 1, ignored: 0 } => Some(false),
            _ => None,
        }
    }

    pub(crate) fn any(&self) -> bool {
        !self.programs.is_empty()
    }

    /// Returns the programs that took longest, the longest first.
    pub(crate) fn longest(mut self, count: usize) -> Vec<Took> {
        self.programs.sort_by_key(|program| std::cmp::Reverse(program.time));
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
running 4 tests
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
running 512 tests
test result: FAILED. 500 passed; 2 failed; 10 ignored; 0 measured; 0 filtered out; finished in 9.00s
";

    fn summary(name: &str, seconds: u64) -> Summary {
        let mut summary = Summary::default();
        OUTPUT.lines().for_each(|line| summary.hear(line));
        summary.ran(name, Duration::from_secs(seconds));
        summary
    }

    #[test]
    fn all_results_of_a_program_are_added_up() {
        assert_eq!(summary("one", 1).to_string(), "503 passed, 2 failed, 11 skipped");
    }

    #[test]
    fn summaries_are_added_and_their_longest_programs_come_first() {
        let mut all = summary("one", 1);
        all.add(summary("two", 3));
        all.add(summary("three", 2));
        assert_eq!(all.to_string(), "1509 passed, 6 failed, 33 skipped");
        let names: Vec<_> = all.longest(2).into_iter().map(|program| program.name).collect();
        assert_eq!(names, ["two", "three"]);
    }

    #[test]
    fn a_line_that_resembles_a_result_is_not_counted() {
        let mut summary = Summary::default();
        summary.hear("test result: of a test, not of a program");
        assert_eq!(summary.to_string(), "0 passed, 0 failed, 0 skipped");
    }
}

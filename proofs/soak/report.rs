//! What is printed in the end.

use std::fmt::Write;
use std::time::Duration;

use crate::Failure;
use crate::growth::Growth;
use crate::size::Size;
use crate::tally::Tally;

/// Of one backend.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) backend: String,
    counts: String,
    levels: Option<(Size, Size)>,
    is_told: bool,
    pub(crate) faults: Vec<String>,
}

impl Report {
    pub(crate) fn of(backend: &str, time: Duration, tally: &Tally, growth: &Growth) -> Self {
        let idle = (tally.answers() == 0).then(|| "nothing was answered".to_owned());
        let found = tally.found().into_iter().chain(growth.found(time)).chain(idle);
        let faults = found.map(|fault| format!("{backend}: {fault}")).collect();
        let (counts, levels, is_told) = (tally.to_string(), growth.levels(), Growth::is_told_by(time));
        Self { backend: backend.to_owned(), counts, levels, is_told, faults }
    }

    /// Of the process that all of them are in.
    pub(crate) fn of_process(time: Duration, growth: &Growth) -> Self {
        let faults = growth.found(time).into_iter().map(|fault| format!("process: {fault}")).collect();
        let counts = "what it has in use".to_owned();
        let (levels, is_told) = (growth.levels(), Growth::is_told_by(time));
        Self { backend: "process".to_owned(), counts, levels, is_told, faults }
    }

    /// Of one that could not be started, or measured.
    pub(crate) fn broken(backend: &str, failure: &Failure) -> Self {
        let faults = vec![format!("{backend}: {failure}")];
        Self { backend: backend.to_owned(), counts: "did not run".to_owned(), levels: None, is_told: true, faults }
    }
}

/// A line for each backend.
pub(crate) fn table(reports: &[Report]) -> String {
    let mut table = String::new();
    for report in reports {
        let untold = if report.is_told { "" } else { "; too short to tell growth" };
        let verdict = if report.faults.is_empty() { "ok" } else { "FAILED" };
        let levels = report.levels.as_ref().map_or("not measured".to_owned(), |(before, after)| {
            format!("in the second quarter {before}; in the last {after}")
        });
        let _ = writeln!(table, "{:8} {verdict:6} {}; {levels}{untold}", report.backend, report.counts);
    }
    table
}

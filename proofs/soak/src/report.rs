//! The report that is printed at the end.

use std::fmt::Write;
use std::time::Duration;

use crate::Failure;
use crate::growth::Growth;
use crate::size::Size;
use crate::tally::Tally;

#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) backend: String,
    counts: String,
    sizes: String,
    pub(crate) faults: Vec<String>,
}

impl Report {
    pub(crate) fn of(backend: &str, time: Duration, tally: &Tally, growth: &Growth) -> Self {
        let idle = (tally.answers() == 0).then(|| "nothing was answered".to_owned());
        let found = tally.found().into_iter().chain(growth.found(time)).chain(idle);
        let faults = found.map(|fault| format!("{backend}: {fault}")).collect();
        Self { backend: backend.to_owned(), counts: tally.to_string(), sizes: levels(time, growth), faults }
    }

    /// Creates the report of a run that processes messages, with the sizes of the store before and after the run.
    pub(crate) fn of_work(backend: &str, tally: &Tally, [before, after]: [Size; 2]) -> Self {
        let faults = tally.found().into_iter().map(|fault| format!("{backend}: {fault}")).collect();
        let sizes = format!("before all {before}; after all {after}");
        Self { backend: backend.to_owned(), counts: tally.to_string(), sizes, faults }
    }

    pub(crate) fn of_process(time: Duration, growth: &Growth) -> Self {
        let faults = growth.found(time).into_iter().map(|fault| format!("process: {fault}")).collect();
        let counts = "what it has in use".to_owned();
        Self { backend: "process".to_owned(), counts, sizes: levels(time, growth), faults }
    }

    pub(crate) fn broken(backend: &str, failure: &Failure) -> Self {
        let faults = vec![format!("{backend}: {failure}")];
        let (counts, sizes) = ("did not run".to_owned(), "not measured".to_owned());
        Self { backend: backend.to_owned(), counts, sizes, faults }
    }
}

fn levels(time: Duration, growth: &Growth) -> String {
    let note = if Growth::is_detectable_in(time) { "" } else { "; too short to tell growth" };
    growth.levels().map_or("not measured".to_owned(), |(before, after)| {
        format!("in the second quarter {before}; in the last {after}{note}")
    })
}

pub(crate) fn table(reports: &[Report]) -> String {
    let mut table = String::new();
    for report in reports {
        let verdict = if report.faults.is_empty() { "ok" } else { "FAILED" };
        let Report { backend, counts, sizes, .. } = report;
        let _ = writeln!(table, "{backend:8} {verdict:6} {counts}; {sizes}");
    }
    table
}

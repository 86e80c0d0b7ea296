//! The suite with faults in one request of five: by default, a part of the suite with all kinds of faults at once.
//! `STORAGEBOX_FAULTS=each` runs the whole suite once with each kind of fault (`cargo xtask prove dynamo`), and
//! `STORAGEBOX_FAULT` selects one kind.

mod support;

use std::process::ExitCode;
use std::time::Duration;

use storagebox_conformance::{Options, Profile, Selection, neighbour, run_with};
use storagebox_testkit::dynamodb::faults::Fault;
use support::{DynamoHarness, SetUp, open_beside};

/// The share of the requests that have a fault, in percent.
const SHARE: u8 = 20;

/// A delay that lets other requests overtake the delayed one.
const DELAY: Fault = Fault::Delay(Duration::from_millis(3));

fn faults() -> Vec<Fault> {
    let short = |fault: &Fault| if matches!(fault, Fault::Delay(_)) { DELAY } else { *fault };
    Fault::ALL.iter().map(short).collect()
}

/// Runs the suite with these faults. Returns the outcome and the number of faults.
fn run(name: &str, faults: Vec<Fault>, selection: Selection) -> (ExitCode, u64) {
    let mut total = 0;
    let outcome = DynamoHarness::with_table(|_, table| {
        let name = format!("{name} at {SHARE} %");
        let harness = DynamoHarness::new(table, SetUp { name, faults: (SHARE, faults) }, 7);
        let injected = harness.faults();
        let outcome = run_with(harness, Options::new(Profile::SMOKE).selection(selection));
        total = injected.total();
        Ok(outcome)
    });
    println!("{name}: {total} faults\n");
    (outcome, total)
}

fn main() -> ExitCode {
    neighbour(open_beside).unwrap_or_else(suites)
}

fn suites() -> ExitCode {
    let one = std::env::var("STORAGEBOX_FAULT").ok();
    if one.is_none() && std::env::var("STORAGEBOX_FAULTS").is_err() {
        return run("all faults", faults(), Selection::Smoke).0;
    }
    let chosen = faults().into_iter().filter(|fault| one.as_deref().is_none_or(|one| one == fault.name()));
    let (mut total, mut broken) = (0, Vec::new());
    for fault in chosen {
        let (outcome, injected) = run(&fault.name(), vec![fault], Selection::Everything);
        total += injected;
        if outcome != ExitCode::SUCCESS {
            broken.push(fault.name());
        }
    }
    println!("{total} faults in all; failed under: {broken:?}");
    if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

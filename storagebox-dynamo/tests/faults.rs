//! The suite under faults: every fault for itself, on one request in five.
//!
//! A part of the suite, unless `STORAGEBOX_FAULTS=everything` asks for all of it (`cargo xtask prove dynamo`).

mod support;

use std::process::ExitCode;
use std::time::Duration;

use storagebox_conformance::{Profile, Selection, run_with};
use storagebox_dynamo::faults::Fault;
use support::{DynamoHarness, SetUp};

/// The share of the requests that have a fault, in percent.
const SHARE: u8 = 20;

/// Every fault; a delay is long enough for others to overtake.
fn faults() -> impl Iterator<Item = Fault> {
    let one = std::env::var("STORAGEBOX_FAULT").ok();
    let short = |fault: Fault| {
        if matches!(fault, Fault::Delay(_)) { Fault::Delay(Duration::from_millis(3)) } else { fault }
    };
    Fault::ALL
        .iter()
        .copied()
        .map(short)
        .filter(move |fault| one.as_deref().is_none_or(|one| one == fault.name()))
}

fn main() -> ExitCode {
    let everything = std::env::var("STORAGEBOX_FAULTS").is_ok_and(|choice| choice == "everything");
    let mut total = 0;
    for fault in faults() {
        let outcome = DynamoHarness::with_table(|_, table| {
            let name = format!("{} at {SHARE} %", fault.name());
            let harness = DynamoHarness::new(table, SetUp { name, faults: (SHARE, vec![fault]) }, 7);
            let injected = harness.faults();
            let selection = if everything { Selection::Everything } else { Selection::Smoke };
            let outcome = run_with(harness, Profile::SMOKE, selection);
            println!("{}: {} faults\n", fault.name(), injected.total());
            total += injected.total();
            Ok(outcome)
        });
        if outcome != ExitCode::SUCCESS {
            return outcome;
        }
    }
    println!("{total} faults in all");
    ExitCode::SUCCESS
}

//! The real one-time tokens over memory stores, in every order of the steps of two callers.
//!
//! Two workers use, peek at, give back or recover one token. They are polled by hand, and a scheduler decides which
//! worker makes its next step. A run may have one fault: a worker crashes before a step, its request is applied after
//! the worker has given up, or is applied twice, and the worker gets either answer. At one moment leases lapse or the
//! time to replay results is over. Every such run is made. In the end all callers use the token again, and OT-1 to OT-4
//! must hold.

mod judge;
mod mutants;
mod run;
mod scenario;
mod told;
mod work;

use storagebox_proofs::choices::every_run;
use storagebox_proofs::workers;

use mutants::Mutant;
use run::{Limits, Run};
use scenario::{SCENARIOS, Scenario};

/// Allows every order of the steps, and one crash.
const CRASHES: Limits = limits(usize::MAX, 1, true, 0);
/// Allows every order of the steps, and one advance of the clock.
const MOMENTS: Limits = limits(usize::MAX, 0, true, 1);
/// Allows one switch between workers, one fault of any kind, and one advance of the clock.
const BOTH: Limits = limits(1, 1, false, 1);
/// Allows three switches between workers, one fault of any kind, and one advance of the clock.
const WIDE: Limits = limits(3, 1, false, 1);

const fn limits(switches: usize, faults: usize, only_crashes: bool, moments: usize) -> Limits {
    Limits { of_workers: workers::Limits { switches, faults, only_crashes }, moments }
}

/// Makes every possible run within the limits. Returns the number of runs.
fn explore(scenario: &'static Scenario, mutant: Option<Mutant>, limits: Limits) -> Result<u64, String> {
    every_run(|choices| {
        let mut run = Run::new(scenario, mutant, limits);
        run.finish(choices).map_err(|broken| format!("{}: {broken}\n{}", scenario.name, run.workers.trace.join("\n")))
    })
}

fn all(limits: Limits) {
    let mut total = 0;
    for scenario in &SCENARIOS {
        let runs = explore(scenario, None, limits).unwrap_or_else(|broken| panic!("{broken}"));
        println!("{}: {runs} runs", scenario.name);
        total += runs;
    }
    println!("{total} runs in total");
}

#[test]
fn every_step_order_with_a_crash_keeps_the_promises() {
    all(CRASHES);
}

#[test]
fn every_step_order_with_a_clock_advance_keeps_the_promises() {
    all(MOMENTS);
}

#[test]
fn promises_hold_with_one_fault_and_one_worker_switch() {
    all(BOTH);
}

#[test]
#[ignore = "minutes: cargo xtask prove tokens"]
fn promises_hold_with_one_fault_and_three_worker_switches() {
    all(WIDE);
}

#[test]
fn each_mutant_of_the_store_breaks_its_clause() {
    for mutant in Mutant::ALL {
        let found = SCENARIOS.iter().find_map(|scenario| explore(scenario, Some(mutant), BOTH).err());
        let found = found.unwrap_or_else(|| panic!("{mutant:?} breaks nothing"));
        println!("{mutant:?}: {}\n", found.lines().next().unwrap_or_default());
        assert!(found.contains(mutant.breaks()), "{mutant:?} was found by something else: {found}");
    }
}

//! The real processor over memory stores, in the orders of its steps.
//!
//! Several workers process copies of messages of one entity. They are polled by hand, and a scheduler decides which
//! worker makes its next step. It switches a few times from a worker that could continue, and spends one fault per run:
//! a worker crashes before a step, its request is applied after the worker has given up, or is applied twice, and the
//! worker gets either answer. Every such run is made. In the end all copies are processed again, the messages that were
//! sent are processed by a second endpoint, and P-1 to P-4 must hold.

mod endpoints;
mod judge;
mod mutants;
mod run;
mod scenario;

use storagebox_proofs::choices::every_run;
use storagebox_proofs::workers::Limits;

use mutants::Mutant;
use run::Run;
use scenario::{Joined, SCENARIOS, Scenario};

const IN_THE_GATE: Limits = Limits { switches: 1, faults: 1, only_crashes: false };
const WIDE: Limits = Limits { switches: 3, faults: 1, only_crashes: false };
/// Allows every order of the workers' steps, without faults.
const ALL_ORDERS: Limits = Limits { switches: usize::MAX, faults: 0, only_crashes: false };

/// Makes every possible run within the limits. Returns the number of runs.
fn explore(scenario: &'static Scenario, joined: Joined, mutant: Option<Mutant>, limits: Limits) -> Result<u64, String> {
    every_run(|choices| {
        let mut run = Run::new(scenario, joined, mutant, limits);
        run.finish(choices)
            .map_err(|broken| format!("{}, {joined:?}: {broken}\n{}", scenario.name, run.workers.trace.join("\n")))
    })
}

fn all(limits: Limits) {
    let mut total = 0;
    for scenario in SCENARIOS.iter().filter(|scenario| limits.faults > 0 || scenario.workers.len() == 2) {
        for joined in Joined::ALL {
            let runs = explore(scenario, joined, None, limits).unwrap_or_else(|broken| panic!("{broken}"));
            println!("{}, {joined:?}: {runs} runs", scenario.name);
            total += runs;
        }
    }
    println!("{total} runs in total");
}

#[test]
fn promises_hold_with_one_fault_and_one_worker_switch() {
    all(IN_THE_GATE);
}

#[test]
fn every_step_order_of_two_workers_keeps_the_promises() {
    all(ALL_ORDERS);
}

#[test]
#[ignore = "minutes: cargo xtask prove tokens"]
fn promises_hold_with_one_fault_and_three_worker_switches() {
    all(WIDE);
}

#[test]
fn each_mutant_of_the_store_breaks_its_clause() {
    for mutant in Mutant::ALL {
        let found = SCENARIOS.iter().find_map(|scenario| {
            Joined::ALL.iter().find_map(|joined| explore(scenario, *joined, Some(mutant), IN_THE_GATE).err())
        });
        let found = found.unwrap_or_else(|| panic!("{mutant:?} breaks nothing"));
        println!("{mutant:?}: {}\n", found.lines().next().unwrap_or_default());
        assert!(found.contains(mutant.breaks()), "{mutant:?} was found by something else: {found}");
    }
}

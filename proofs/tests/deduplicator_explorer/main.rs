//! The real deduplicator over two gated stores, in every order of their calls.
//!
//! Two workers are polled by hand. A scheduler decides which request is applied next, and spends one fault per run (two
//! if the scenario is small): a worker crashes, gets an unknown outcome, or has its request doubled. Requests left in
//! flight are applied at any later moment, up to twice, or never. are checked in every reachable state, and
//! again once all workers have ended, after a recovery and a retry of every id.

mod answers;
mod call;
mod canon;
mod event;
mod explore;
mod gate;
mod memory;
mod mutants;
mod properties;
mod record;
mod rest;
mod scenario;
mod stores;
mod worker;
mod world;

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use canon::Sameness;
use explore::{Exploration, Explored};
use mutants::Mutant;
use properties::Clause;
use scenario::Scenario;

/// The statistics of all scenarios that this process has explored.
static TOTAL: Mutex<Explored> = Mutex::new(Explored::NOTHING);

/// Prints a line that is shown even if the test passes.
fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").expect("stderr takes a line");
}

/// Prints the run that `STORAGEBOX_CHOICES` describes. Returns false if the variable is not set.
fn is_retold(exploration: Exploration) -> bool {
    let choices = std::env::var("STORAGEBOX_CHOICES");
    if let Ok(choices) = &choices {
        say(&exploration.retell(choices));
    }
    choices.is_ok()
}

fn explore(scenario: &'static Scenario, faults: usize) {
    let exploration = Exploration { scenario, mutant: None, faults, sameness: Sameness::ByRole };
    if is_retold(exploration) {
        return;
    }
    let explored = exploration.run().unwrap_or_else(|failure| panic!("{failure}"));
    let mut total = TOTAL.lock().unwrap_or_else(PoisonError::into_inner);
    *total += explored;
    say(&format!("{}, faults a run {faults}: {explored}; so far in all: {}", scenario.name, *total));
}

fn is_caught(mutant: Mutant, scenario: &'static Scenario, clause: Clause) {
    let exploration = Exploration { scenario, mutant: Some(mutant), faults: 1, sameness: Sameness::Exact };
    if is_retold(exploration) {
        return;
    }
    let failure = exploration.run().expect_err("the mutant survives");
    say(&format!("{mutant:?} is caught after {} events: {failure}", failure.path.len()));
    assert_eq!(failure.violation.clause, clause);
}

macro_rules! explored {
    ($($(#[$attribute:meta])* $test:ident: $scenario:ident, $faults:literal;)*) => {$(
        #[test]
        $(#[$attribute])*
        fn $test() {
            explore(&scenario::$scenario, $faults);
        }
    )*};
}

explored! {
    two_callers_of_one_id_at_one_bank_keep_the_properties: SAME_BANK, 2;
    two_callers_of_one_id_at_two_banks_keep_the_properties: DIFFERENT_BANKS, 2;
    two_ids_that_want_the_last_item_keep_the_properties: LAST_ITEM, 2;
    one_id_at_a_refilled_bank_keeps_the_properties: REFILL, 1;
    two_ids_at_a_refilled_bank_keep_the_properties: TWO_IDS_REFILL, 1;
    a_recovery_beside_a_live_caller_keeps_the_properties: RECOVERY_BESIDE, 1;
    power_cut_with_one_id_at_one_bank_keeps_the_properties: SAME_BANK, 0;
    power_cut_with_two_ids_and_a_refill_keeps_the_properties: TWO_IDS_REFILL, 0;
    power_cut_with_a_second_bank_keeps_the_properties: SECOND_CHOICE, 0;
    power_cut_with_a_repeated_call_keeps_the_properties: REFILL_AND_AGAIN, 0;
    power_cut_with_banks_in_opposite_order_keeps_the_properties: CROSSED_CHOICES, 0;
    power_cut_during_a_recovery_keeps_the_properties: RECOVERY_BESIDE, 0;
    #[ignore = "takes minutes: cargo xtask prove deduplicator"]
    one_id_with_a_second_bank_keeps_the_properties: SECOND_CHOICE, 1;
    #[ignore = "takes minutes: cargo xtask prove deduplicator"]
    one_id_with_a_repeated_call_keeps_the_properties: REFILL_AND_AGAIN, 1;
}

macro_rules! caught {
    ($($test:ident: $mutant:ident in $scenario:ident breaks $clause:ident;)*) => {$(
        #[test]
        fn $test() {
            is_caught(Mutant::$mutant, &scenario::$scenario, Clause::$clause);
        }
    )*};
}

caught! {
    mutant_without_the_final_compare_and_set_is_caught: NoFinalCompareAndSet in REFILL breaks A2;
    mutant_that_releases_before_giving_up_is_caught: ReleasesBeforeGivingUp in REFILL breaks A2;
    mutant_that_gives_up_without_the_fence_is_caught: GivesUpWithoutFence in REFILL breaks A3;
    mutant_that_releases_the_claim_of_the_winner_is_caught: LoserReleases in SAME_BANK breaks A2;
}

/// Equivalent states differ only in irrelevant names.
#[test]
fn merging_equivalent_states_keeps_the_number_of_schedules() {
    for (scenario, faults) in [
        (&scenario::DIFFERENT_BANKS, 1),
        (&scenario::LAST_ITEM, 1),
        (&scenario::RECOVERY_BESIDE, 0),
        (&scenario::TWO_IDS_REFILL, 0),
    ] {
        let run = |sameness| {
            Exploration { scenario, mutant: None, faults, sameness }.run().unwrap_or_else(|failure| panic!("{failure}"))
        };
        let (exact, by_role) = (run(Sameness::Exact), run(Sameness::ByRole));
        assert!(by_role.states < exact.states, "{}: nothing is merged", scenario.name);
        assert_eq!(by_role.schedules.to_bits(), exact.schedules.to_bits(), "{}", scenario.name);
    }
}

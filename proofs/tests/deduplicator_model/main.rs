//! The protocol behind `Deduplicator`, explored through every state that it can reach in a small world.
//!
//! In these worlds any worker may crash after any step, any number of times, and call again for any bank. Every write
//! may be lost, be applied late, or be applied again. Banks become empty and are refilled. No promise is broken in any
//! state, and from no state can live callers alone keep each other busy for ever.
//!
//! The number of calls has no limit. The number of states is finite because a state keeps only facts that can still
//! matter: whether a version is the record's current version, the nonces that a worker, a record or a request can still
//! name, whether a call can still find the intent that it sent, and the requests in flight that can still change
//! something. A repeated request that the store recognizes is not a separate event: it is a reply that took long.

mod endless;
mod model;
mod properties;
mod protocol;
mod state;
mod stores;
mod symbol;
mod trace;

use std::thread;

use storagebox_proofs::explore::explore;

use endless::longest_run;
use model::{Broken, Model, Scope};
use properties::Property;
use protocol::Protocol;

#[rustfmt::skip]
const SCOPES: [Scope; 6] = [
    // Two ids contend for banks that both have an item, or of which only one has.
    Scope { workers: 3, ids: 2, stock: [1, 1], refills: [1, 0], in_flight: 1, recovery: false, watches_stock: false },
    Scope { workers: 3, ids: 2, stock: [1, 0], refills: [0, 1], in_flight: 0, recovery: false, watches_stock: false },
    // Banks that are empty at first, so that intents are mostly given up.
    Scope { workers: 3, ids: 1, stock: [0, 0], refills: [1, 1], in_flight: 2, recovery: false, watches_stock: false },
    Scope { workers: 2, ids: 2, stock: [0, 0], refills: [1, 1], in_flight: 1, recovery: false, watches_stock: false },
    // Several late requests at once, and recoveries next to live callers.
    Scope { workers: 2, ids: 2, stock: [1, 0], refills: [0, 1], in_flight: 2, recovery: false, watches_stock: false },
    Scope { workers: 2, ids: 2, stock: [1, 0], refills: [0, 1], in_flight: 1, recovery: true, watches_stock: true },
];

/// Models with one id, whose banks are empty at first and may be refilled.
#[rustfmt::skip]
const CALLERS: [Scope; 2] = [
    Scope { workers: 2, ids: 1, stock: [0, 0], refills: [1, 1], in_flight: 1, recovery: true, watches_stock: true },
    Scope { workers: 3, ids: 1, stock: [0, 0], refills: [1, 0], in_flight: 0, recovery: true, watches_stock: true },
];

#[rustfmt::skip]
const MUTANT_SCOPE: Scope =
    Scope { workers: 2, ids: 1, stock: [0, 0], refills: [1, 1], in_flight: 1, recovery: false, watches_stock: true };

#[test]
fn protocol_keeps_its_promises() {
    let states: usize = thread::scope(|threads| {
        let runs = SCOPES.map(|scope| threads.spawn(move || verify(scope)));
        runs.into_iter().map(|run| run.join().expect("a counterexample is printed above")).sum()
    });
    println!("{states} states in total");
}

fn verify(scope: Scope) -> usize {
    let model = Model { protocol: Protocol::Faithful, scope };
    let states = no_counterexample(&model, explore(&model)).states().len();
    println!("{states} states of {scope:?}");
    states
}

#[test]
fn calls_end_if_no_fault_happens() {
    for scope in CALLERS {
        let model = Model { protocol: Protocol::Faithful, scope };
        let reached = no_counterexample(&model, explore(&model));
        let steps = no_counterexample(&model, longest_run(&model, &reached));
        println!("{} states, at most {steps} steps from any, of {scope:?}", reached.states().len());
    }
}

fn no_counterexample<T>(model: &Model, found: Result<T, Box<Broken>>) -> T {
    found.unwrap_or_else(|counterexample| panic!("{:?}: {counterexample}", model.scope))
}

#[test]
fn final_write_must_be_conditional() {
    assert_eq!(property_broken_by(Protocol::UnconditionalWrite), Property::NeverTwo);
}

#[test]
fn claim_must_be_given_up_in_the_record_before_its_release() {
    assert_eq!(property_broken_by(Protocol::ReleaseBeforeGivingUp), Property::NeverTwo);
}

#[test]
fn claim_that_is_given_up_must_be_ended() {
    assert_eq!(property_broken_by(Protocol::NoFence), Property::NothingLost);
}

#[test]
fn loser_of_the_final_write_must_not_release_the_claim() {
    assert_eq!(property_broken_by(Protocol::LoserReleases), Property::NeverTwo);
}

#[test]
fn id_with_an_empty_bank_may_choose_another_bank() {
    assert_eq!(property_broken_by(Protocol::NothingIsFinal), Property::AnotherBank);
}

#[test]
fn a_model_that_ignores_its_own_ended_intent_is_caught() {
    assert_eq!(property_broken_by(Protocol::IgnoresItsOwnEnd), Property::CallsEnd);
}

#[test]
fn a_model_that_trusts_an_earlier_calls_ended_intent_is_caught() {
    assert_eq!(property_broken_by(Protocol::TrustsAnyEnd), Property::TrueEmpty);
}

fn property_broken_by(mutant: Protocol) -> Property {
    let model = Model { protocol: mutant, scope: MUTANT_SCOPE };
    let found = explore(&model).and_then(|reached| longest_run(&model, &reached));
    let counterexample = found.expect_err("a mutant must not go unnoticed");
    println!("{mutant:?}: {counterexample}");
    counterexample.violation.property
}

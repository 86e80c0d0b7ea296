//! Article 2's algorithm, explored through every state that it can reach in a small world.
//!
//! An upstream endpoint handles one message and sends one, which a downstream endpoint handles. Any free worker may
//! receive any copy that was ever sent, any number of times, even after the copy was acknowledged. Workers crash after
//! any step, any number of times. A request may be applied after its caller gave up, and a creation may be applied
//! twice.
//!
//! Each plan says which steps are one step of the store, and which precautions are taken. The plans for entities and
//! tokens in two stores or in one keep every promise in every state. The article's last version leaves garbage, as the
//! article says, and its two drafts process a message twice. Sixteen plans omit one precaution each, and each breaks
//! the promise that the precaution protects.

mod plan;
mod promises;
mod state;
mod store;
mod trace;
mod worker;
mod world;

use std::thread;

use storagebox_proofs::explore::explore;

use plan::{Checkpoint, Cleanup, Ids, Plan};
use promises::Promise;
use world::{Scope, Tokens};

/// Two workers, which may be at the same endpoint, and one late request.
const SCOPE: Scope = Scope { workers: 2, ids: 3, in_flight: 1 };
/// Three workers without late requests, and two workers with two late requests.
const WIDE: [Scope; 2] = [Scope { workers: 3, ids: 3, in_flight: 0 }, Scope { workers: 2, ids: 3, in_flight: 2 }];

#[rustfmt::skip]
const PLANS: [(&str, Plan); 8] = [
    ("split", Plan::SPLIT),
    ("split, creations land twice", Plan { resends: true, ..Plan::SPLIT }),
    ("outgoing tokens in one step with the entity", Plan::OUTGOING),
    ("incoming tokens in one step with the entity", Plan::INCOMING),
    ("incoming tokens, creations land twice", Plan { resends: true, ..Plan::INCOMING }),
    ("both in one step with the entity", Plan::JOINED),
    ("both, and two reads", Plan { reads_at_once: false, ..Plan::JOINED }),
    ("both, a deleted entity leaves nothing", Plan { forgets: true, ..Plan::JOINED }),
];

#[test]
fn plans_keep_every_promise() {
    let states: usize = thread::scope(|threads| {
        let runs = PLANS.map(|(name, plan)| threads.spawn(move || keeps_every_promise(name, plan, SCOPE)));
        runs.into_iter().map(|run| run.join().expect("a counterexample is printed above")).sum()
    });
    println!("{states} states in total");
}

#[test]
#[ignore = "minutes: cargo xtask prove tokens"]
fn plans_keep_every_promise_with_more_workers_and_requests() {
    let worlds = PLANS.into_iter().flat_map(|(name, plan)| WIDE.map(|scope| (name, plan, scope)));
    let states: usize = worlds.map(|(name, plan, scope)| keeps_every_promise(name, plan, scope)).sum();
    println!("{states} states in total");
}

fn keeps_every_promise(name: &str, plan: Plan, scope: Scope) -> usize {
    let world = Tokens { plan, scope, demands: &Promise::ALL };
    let reached = explore(&world).unwrap_or_else(|found| panic!("{name}, {scope:?}: {found}"));
    println!("{name}, {scope:?}: {} states", reached.states().len());
    reached.states().len()
}

/// The article's last version breaks no safety promise. As the article says, tokens of abandoned attempts may stay, and
/// an entry may stay if the message's worker crashes between the last two steps.
#[test]
fn last_version_of_the_article_is_safe_and_leaves_garbage() {
    let world = Tokens { plan: Plan::ARTICLE, scope: SCOPE, demands: &Promise::SAFETY };
    let reached = explore(&world).unwrap_or_else(|found| panic!("{found}"));
    println!("the article's last version: {} states", reached.states().len());
    assert_eq!(broken_by("the article's last version", Plan::ARTICLE, &[Promise::NoGarbage]), Promise::NoGarbage);
    assert_eq!(broken_by("the article's last version", Plan::ARTICLE, &[Promise::NoResidue]), Promise::NoResidue);
}

/// In the first draft, all attempts use the same token id, so that a consumed token is created again.
#[test]
fn first_draft_of_the_article_processes_a_message_twice() {
    let draft = Plan { ids: Ids::OfTheMessage, checkpoint: Checkpoint::None, ..Plan::ARTICLE };
    assert_eq!(broken_by("the first draft", draft, &[Promise::OneChange]), Promise::OneChange);
}

/// In the second draft, each attempt uses new token ids, but no checkpoint records the ids.
#[test]
fn second_draft_of_the_article_processes_a_message_twice() {
    let draft = Plan { checkpoint: Checkpoint::None, ..Plan::ARTICLE };
    assert_eq!(broken_by("the second draft", draft, &[Promise::OneChange]), Promise::OneChange);
}

/// This plan has a checkpoint, but uses the same token ids for all attempts.
#[test]
fn checkpoint_with_shared_ids_creates_a_consumed_token_again() {
    let shared = Plan { ids: Ids::OfTheMessage, ..Plan::ARTICLE };
    assert_eq!(broken_by("the checkpoint alone", shared, &Promise::SAFETY), Promise::NoResurrection);
}

/// Each plan omits one precaution, and breaks the promise that the precaution protects.
#[test]
fn plan_without_one_precaution_breaks_a_promise() {
    let split = Plan::SPLIT;
    #[rustfmt::skip]
    let mutants = [
        ("the token is looked at before the entity", Plan { checks_first: true, ..split }, Promise::OneChange),
        ("the change is written without comparing", Plan { compares: false, ..split }, Promise::OneChange),
        ("the entry is removed before the token is consumed", Plan { removes_first: true, ..split }, Promise::Continuity),
        ("a choice overwrites another", Plan { checkpoint: Checkpoint::Unconditional, ..split }, Promise::OneToken),
        ("a deleted entity begins anew", Plan { forgets: true, ..split }, Promise::OneChange),
        ("a token that is gone may seem to be there", Plan { stale_tokens: true, ..split }, Promise::OneChange),
        ("live tokens expire", Plan { expires: true, ..split }, Promise::NothingLost),
        ("nothing says which tokens were sent", Plan { checkpoint: Checkpoint::None, ..split }, Promise::OneToken),
        ("attempts share their ids", Plan { ids: Ids::OfTheMessage, ..split }, Promise::NothingLost),
        ("a creation lands twice and no tombstone stops it", Plan { resends: true, tombstones: false, ..split }, Promise::NoResurrection),
        ("a token consumed at commit is taken for a duplicate", Plan { reads_at_once: false, cleanup: Cleanup::None, ..Plan::JOINED }, Promise::NothingLost),
        ("the same, where outgoing tokens are elsewhere", Plan { reads_at_once: false, cleanup: Cleanup::None, ..Plan::INCOMING }, Promise::NothingLost),
        ("one step for entity and outgoing tokens, after a look at the token", Plan { checks_first: true, ..Plan::OUTGOING }, Promise::OneChange),
        ("what a duplicate leaves is seen in an old snapshot", Plan { cleanup: Cleanup::Snapshot, ..split }, Promise::NoResidue),
        ("nobody removes what a duplicate leaves", Plan { cleanup: Cleanup::None, ..split }, Promise::NoResidue),
        ("attempts are not registered", Plan { registers: false, ..split }, Promise::NoGarbage),
    ];
    thread::scope(|threads| {
        let runs = mutants.map(|(name, plan, promise)| {
            threads.spawn(move || assert_eq!(broken_by(name, plan, &Promise::ALL), promise, "{name}"))
        });
        runs.into_iter().for_each(|run| run.join().expect("the mutant's name is printed above"));
    });
}

/// Explores the plan, and returns the promise that the shortest counterexample breaks.
fn broken_by(name: &str, plan: Plan, demands: &'static [Promise]) -> Promise {
    let world = Tokens { plan, scope: SCOPE, demands };
    let found = explore(&world).map(drop).expect_err(name);
    println!("{name}: {found}\n");
    found.violation.promise
}

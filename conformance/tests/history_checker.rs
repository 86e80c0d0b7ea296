//! Tests of the linearizability checker: on examples that are small enough to judge by eye, and on random histories
//! against an independent checker.

#[path = "history_checker/cross_check.rs"]
mod cross_check;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use storagebox_conformance::history::{Exceeded, History, Limits, Recorder, Specification, Verdict, check};

/// A register whose first value is 0.
struct Register;

#[derive(Clone, Copy, Debug)]
enum RegisterOp {
    Read,
    Write(u8),
    CompareAndSwap(u8, u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RegisterReply {
    Value(u8),
    Written,
    Swapped(bool),
}

use RegisterOp::{CompareAndSwap, Read, Write};
use RegisterReply::{Swapped, Value, Written};

fn apply(op: RegisterOp, state: u8) -> (u8, RegisterReply) {
    match op {
        Read => (state, Value(state)),
        Write(value) => (value, Written),
        CompareAndSwap(expected, new) if expected == state => (new, Swapped(true)),
        CompareAndSwap(..) => (state, Swapped(false)),
    }
}

impl Specification for Register {
    type State = u8;
    type Op = RegisterOp;
    type Reply = RegisterReply;

    fn initial(&self) -> u8 {
        0
    }

    fn step(&self, state: &u8, op: &RegisterOp) -> Vec<(u8, RegisterReply)> {
        vec![apply(*op, *state)]
    }
}

/// A token that can be consumed once.
struct Token;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum TokenState {
    Unspent,
    Spent,
}

#[derive(Clone, Copy, Debug)]
struct Consume;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenReply {
    Won,
    Late,
    Busy,
}

use TokenReply::{Busy, Late, Won};

impl Specification for Token {
    type State = TokenState;
    type Op = Consume;
    type Reply = TokenReply;

    fn initial(&self) -> TokenState {
        TokenState::Unspent
    }

    fn step(&self, state: &TokenState, _op: &Consume) -> Vec<(TokenState, TokenReply)> {
        let outcome = match state {
            TokenState::Unspent => (TokenState::Spent, Won),
            TokenState::Spent => (TokenState::Spent, Late),
        };
        // The token may be busy at any time, and then the call does nothing.
        vec![outcome, (*state, Busy)]
    }
}

/// Records a call that overlaps no other call.
fn call<Op, Reply>(recorder: &Recorder<Op, Reply>, client: usize, op: Op, reply: Reply) {
    recorder.invoke(client, op).respond(reply);
}

/// Records a call whose outcome is unknown.
fn lose<Op, Reply>(recorder: &Recorder<Op, Reply>, client: usize, op: Op) {
    drop(recorder.invoke(client, op));
}

fn verdict<S>(spec: &S, recorder: &Recorder<S::Op, S::Reply>) -> Verdict
where
    S: Specification<Op: Clone, Reply: Clone>,
{
    check(spec, &recorder.history(), Limits::default())
}

/// Checks the history with this limit on the number of configurations.
fn verdict_within<S>(configurations: usize, spec: &S, recorder: &Recorder<S::Op, S::Reply>) -> Verdict
where
    S: Specification<Op: Clone, Reply: Clone>,
{
    let limits = Limits { configurations, ..Limits::default() };
    check(spec, &recorder.history(), limits)
}

#[track_caller]
fn assert_linearizable(verdict: &Verdict) {
    assert!(verdict.is_linearizable(), "{verdict}");
}

#[track_caller]
fn assert_violation(verdict: &Verdict) {
    assert!(matches!(verdict, Verdict::Violation(_)), "{verdict}");
}

#[test]
fn an_empty_history_is_linearizable() {
    assert_linearizable(&verdict(&Register, &Recorder::new()));
}

#[test]
fn overlapping_writes_may_take_effect_in_reverse_order() {
    let register = Recorder::new();
    let writes = [1, 2, 3].map(|value| register.invoke(0, Write(value)));
    for value in [3, 2, 1] {
        call(&register, 1, Read, Value(value));
    }
    for write in writes {
        write.respond(Written);
    }
    assert_linearizable(&verdict(&Register, &register));
}

#[test]
fn reading_an_old_value_after_the_new_one_is_a_violation() {
    let register = Recorder::new();
    let write = register.invoke(0, Write(1));
    call(&register, 1, Read, Value(1));
    call(&register, 2, Read, Value(0));
    write.respond(Written);
    assert_violation(&verdict(&Register, &register));
}

#[test]
fn any_overlapping_call_may_win_the_token() {
    let token = Recorder::new();
    let clients = [0, 1, 2].map(|client| token.invoke(client, Consume));
    for (client, reply) in clients.into_iter().zip([Late, Busy, Won]) {
        client.respond(reply);
    }
    call(&token, 3, Consume, Late);
    assert_linearizable(&verdict(&Token, &token));
}

#[test]
fn a_first_call_that_finds_a_spent_token_is_a_violation() {
    let token = Recorder::new();
    call(&token, 0, Consume, Late);
    call(&token, 1, Consume, Won);
    assert_violation(&verdict(&Token, &token));
}

#[test]
fn the_report_marks_the_attempt_that_fits_no_order() {
    let token = Recorder::new();
    let first = token.invoke(0, Consume);
    let second = token.invoke(1, Consume);
    lose(&token, 2, Consume);
    first.respond(Won);
    second.respond(Won);
    call(&token, 3, Consume, Late);

    let expected = "\
not linearizable: the reply to #1 has no place
      0  client 0   calls   #0 Consume
>>    1  client 1   calls   #1 Consume
      3  client 0   returns #0 Consume -> Won
>>    4  client 1   returns #1 Consume -> Won
whatever the 2 other calls did, and whenever
just before it responded, the state was one of:
       Spent, where Consume replies Late or Busy
";
    assert_eq!(verdict(&Token, &token).to_string(), expected);
}

/// The register reads 3, then 4, then 3 again, but 3 is written once. Of all 18 calls, the report shows only these
/// three reads.
#[test]
fn the_report_shows_only_the_calls_that_prove_the_violation() {
    let register = Recorder::new();
    for value in 1..=8 {
        call(&register, 0, Write(value), Written);
        call(&register, 1, Read, Value(value));
    }
    call(&register, 2, Read, Value(3));
    call(&register, 0, Write(9), Written);

    let expected = "\
not linearizable: the reply to #32 has no place
     10  client 1   calls   #10 Read
     11  client 1   returns #10 Read -> Value(3)
     14  client 1   calls   #14 Read
     15  client 1   returns #14 Read -> Value(4)
>>   32  client 2   calls   #32 Read
>>   33  client 2   returns #32 Read -> Value(3)
whatever the 15 other calls did, and whenever
";
    let report = verdict(&Register, &register).to_string();
    assert!(report.starts_with(expected), "{report}");
}

#[test]
fn a_call_with_unknown_outcome_may_take_effect() {
    let token = Recorder::new();
    lose(&token, 0, Consume);
    call(&token, 1, Consume, Late);
    assert_linearizable(&verdict(&Token, &token));
}

#[test]
fn a_call_with_unknown_outcome_may_have_no_effect() {
    let token = Recorder::new();
    lose(&token, 0, Consume);
    call(&token, 1, Consume, Won);
    assert_linearizable(&verdict(&Token, &token));
}

#[test]
fn a_call_with_unknown_outcome_may_take_effect_after_later_calls() {
    let register = Recorder::new();
    lose(&register, 0, Write(1));
    call(&register, 0, Write(2), Written);
    call(&register, 0, Read, Value(2));
    call(&register, 0, Read, Value(1));
    assert_linearizable(&verdict(&Register, &register));
}

#[test]
fn a_call_with_unknown_outcome_takes_effect_at_most_once() {
    let register = Recorder::new();
    lose(&register, 0, Write(1));
    call(&register, 1, Read, Value(1));
    call(&register, 1, Write(2), Written);
    call(&register, 1, Read, Value(1));
    assert_violation(&verdict(&Register, &register));
}

#[test]
fn a_call_with_unknown_outcome_has_no_effect_before_it_is_made() {
    let register = Recorder::new();
    call(&register, 1, Read, Value(1));
    lose(&register, 0, Write(1));
    assert_violation(&verdict(&Register, &register));
}

#[test]
fn calls_that_cannot_take_effect_add_no_configurations() {
    let token = Recorder::new();
    call(&token, 0, Consume, Won);
    for client in 1..=63 {
        lose(&token, client, Consume);
    }
    call(&token, 64, Consume, Late);
    assert_linearizable(&verdict_within(4, &Token, &token));
}

#[test]
fn more_than_64_pending_attempts_are_over_budget_at_any_limit() {
    let register = Recorder::new();
    for client in 0..64 {
        lose(&register, client, Read);
    }
    let limits = Limits { pending: usize::MAX, ..Limits::default() };
    assert_linearizable(&check(&Register, &register.history(), limits));
    lose(&register, 64, Read);
    assert_eq!(check(&Register, &register.history(), limits), Verdict::OverBudget(Exceeded::Pending));
}

#[test]
fn a_response_makes_room_for_another_pending_attempt() {
    let register = Recorder::new();
    for client in 0..100 {
        call(&register, client, Read, Value(0));
    }
    let limits = Limits { pending: 1, ..Limits::default() };
    assert_linearizable(&check(&Register, &register.history(), limits));
    lose(&register, 0, Read);
    lose(&register, 0, Read);
    assert_eq!(check(&Register, &register.history(), limits), Verdict::OverBudget(Exceeded::Pending));
}

#[test]
fn more_than_1000_events_are_over_budget() {
    let register = Recorder::new();
    for _ in 0..500 {
        call(&register, 0, Read, Value(0));
    }
    assert_linearizable(&verdict(&Register, &register));
    lose(&register, 0, Read);
    assert_eq!(verdict(&Register, &register), Verdict::OverBudget(Exceeded::Events));
}

#[test]
fn too_many_configurations_are_over_budget() {
    let register = Recorder::new();
    for value in 1..=20 {
        lose(&register, 0, Write(value));
    }
    call(&register, 1, Read, Value(0));
    let verdict = verdict_within(1_000, &Register, &register);
    assert_eq!(verdict, Verdict::OverBudget(Exceeded::Configurations));
    assert!(!verdict.is_linearizable());
}

#[test]
fn the_limit_applies_to_the_configurations_of_the_whole_history() {
    let register = Recorder::new();
    for _ in 0..10 {
        call(&register, 0, Read, Value(0));
    }
    assert_linearizable(&verdict_within(20, &Register, &register));
    let verdict = verdict_within(19, &Register, &register);
    assert_eq!(verdict, Verdict::OverBudget(Exceeded::Configurations));
}

#[test]
fn calls_take_effect_only_when_a_response_needs_them() {
    let register = Recorder::new();
    let write = register.invoke(0, Write(1));
    call(&register, 1, Read, Value(0));
    write.respond(Written);
    // The configurations are: nothing, the write, and the read itself, but not the write after the read.
    assert_linearizable(&verdict_within(3 + 2, &Register, &register));
}

#[test]
fn each_key_has_its_own_history() {
    let tokens = Recorder::new();
    let pending = tokens.invoke(0, ("a", Consume));
    call(&tokens, 1, ("b", Consume), Won);
    pending.respond(Won);
    let histories = tokens.history().partition_by(|(key, _)| *key);
    let clients = |history: &History<_, _>| history.attempts()[0].client();
    assert_eq!(histories.values().map(clients).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn threads_that_race_for_an_atomic_token_make_a_linearizable_history() {
    for _ in 0..200 {
        let (spent, recorder) = (AtomicBool::new(false), Recorder::new());
        thread::scope(|scope| {
            for client in 0..8 {
                let (spent, recorder) = (&spent, &recorder);
                scope.spawn(move || consume(spent, recorder, client));
            }
        });
        assert_linearizable(&verdict(&Token, &recorder));
    }
}

fn consume(spent: &AtomicBool, recorder: &Recorder<Consume, TokenReply>, client: usize) {
    let attempt = recorder.invoke(client, Consume);
    let late = spent.swap(true, Ordering::SeqCst);
    attempt.respond(if late { Late } else { Won });
}

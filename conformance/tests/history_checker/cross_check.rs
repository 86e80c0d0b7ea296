//! Compares two checkers that share no code, this one and that of `todc-utils`, on the same random histories.

use std::collections::BTreeMap;

use fastrand::Rng;
use storagebox_conformance::history::{Recorder, Verdict};
use todc_utils::{Action, WGLChecker};

use crate::RegisterOp::{self, CompareAndSwap, Read, Write};
use crate::RegisterReply::{self, Swapped, Value, Written};
use crate::{Register, apply, verdict};

/// The register as the checker of `todc-utils` needs it: each operation contains its reply, and `None` matches any
/// reply.
struct AnsweredRegister;

type Answered = (RegisterOp, Option<RegisterReply>);

impl todc_utils::Specification for AnsweredRegister {
    type State = u8;
    type Operation = Answered;

    fn init() -> u8 {
        0
    }

    fn apply((op, answered): &Answered, state: &u8) -> (bool, u8) {
        let (next, reply) = apply(*op, *state);
        match answered {
            Some(answered) if *answered != reply => (false, *state),
            _ => (true, next),
        }
    }
}

/// The events of a history, each with the number of its attempt.
type Actions = Vec<(usize, Action<Answered>)>;

/// A register that answers up to three clients at once, and gives a wrong reply now and then.
struct Simulation {
    random: Rng,
    state: u8,
    to_invoke: usize,
    to_lose: usize,
    invoked: Vec<(usize, RegisterOp)>,
    applied: Vec<(usize, RegisterOp, RegisterReply)>,
    actions: Actions,
}

impl Simulation {
    fn run(seed: u64, to_lose: usize) -> Actions {
        let mut random = Rng::with_seed(seed);
        let to_invoke = random.usize(4..=9);
        let (invoked, applied, actions) = (Vec::new(), Vec::new(), Vec::new());
        let mut simulation = Self { random, state: 0, to_invoke, to_lose, invoked, applied, actions };
        while simulation.to_invoke + simulation.waiting() > 0 {
            simulation.advance();
        }
        simulation.actions
    }

    fn waiting(&self) -> usize {
        self.invoked.len() + self.applied.len()
    }

    fn advance(&mut self) {
        match self.random.u8(0..3) {
            0 if self.to_invoke > 0 && self.waiting() < 3 => self.invoke(),
            1 if !self.invoked.is_empty() => self.execute(),
            2 if !self.applied.is_empty() => self.respond(),
            _ => {}
        }
    }

    fn invoke(&mut self) {
        self.to_invoke -= 1;
        let op = match self.random.u8(0..4) {
            0 => Write(self.random.u8(0..3)),
            1 => CompareAndSwap(self.random.u8(0..3), self.random.u8(0..3)),
            _ => Read,
        };
        self.invoked.push((self.to_invoke, op));
        self.actions.push((self.to_invoke, Action::Call((op, None))));
    }

    fn execute(&mut self) {
        let (attempt, op) = self.invoked.swap_remove(self.random.usize(..self.invoked.len()));
        let (next, reply) = apply(op, self.state);
        if self.to_lose == 0 || self.random.bool() {
            self.state = next;
            self.applied.push((attempt, op, reply));
        } else {
            self.to_lose -= 1;
            self.state = if self.random.bool() { next } else { self.state };
        }
    }

    fn respond(&mut self) {
        let (attempt, op, right) = self.applied.swap_remove(self.random.usize(..self.applied.len()));
        let reply = match op {
            _ if self.random.u8(0..6) > 0 => right,
            Read => Value(self.random.u8(0..3)),
            Write(_) => Written,
            CompareAndSwap(..) => Swapped(self.random.bool()),
        };
        self.actions.push((attempt, Action::Response((op, Some(reply)))));
    }
}

fn our_verdict(actions: &Actions) -> Verdict {
    let recorder = Recorder::new();
    let mut pending = BTreeMap::new();
    for (attempt, action) in actions {
        match action {
            Action::Call((op, _)) => {
                pending.insert(attempt, recorder.invoke(*attempt, *op));
            }
            Action::Response((_, reply)) => {
                if let Some((invocation, reply)) = pending.remove(attempt).zip(*reply) {
                    invocation.respond(reply);
                }
            }
        }
    }
    verdict(&Register, &recorder)
}

/// Returns the verdict of `todc-utils`, which needs complete histories. Each attempt of unknown outcome is left out, or
/// gets a reply at the end of the history.
fn their_verdict(actions: Actions) -> bool {
    let Some((attempt, op)) = unanswered(&actions) else {
        return WGLChecker::<AnsweredRegister>::is_linearizable(todc_utils::History::from_actions(actions));
    };
    let without = actions.iter().filter(|(other, _)| *other != attempt).cloned().collect();
    let mut answered = actions;
    answered.push((attempt, Action::Response((op, None))));
    their_verdict(without) || their_verdict(answered)
}

fn unanswered(actions: &Actions) -> Option<(usize, RegisterOp)> {
    let answers = |attempt| {
        move |(other, action): &(usize, Action<Answered>)| *other == attempt && matches!(action, Action::Response(_))
    };
    actions.iter().find_map(|(attempt, action)| match action {
        Action::Call((op, _)) if !actions.iter().any(answers(*attempt)) => Some((*attempt, *op)),
        _ => None,
    })
}

/// Checks that both checkers agree on `histories` random histories, each with up to `to_lose` unknown outcomes.
fn assert_equal_verdicts(first_seed: u64, histories: u64, to_lose: usize) {
    println!("seeds from {first_seed}");
    let mut linearizable = 0;
    for seed in first_seed..first_seed + histories {
        let actions = Simulation::run(seed, to_lose);
        let ours = our_verdict(&actions);
        assert!(!matches!(ours, Verdict::OverBudget(_)), "seed {seed}: {ours}");
        assert_eq!(ours.is_linearizable(), their_verdict(actions), "seed {seed}: {ours}");
        linearizable += u64::from(ours.is_linearizable());
    }
    println!("{linearizable} of {histories} are linearizable");
    assert!((1_000..=histories - 1_000).contains(&linearizable));
}

#[test]
fn both_checkers_agree_on_complete_histories() {
    assert_equal_verdicts(1_700_000, 30_000, 0);
}

#[test]
fn both_checkers_agree_on_histories_with_unknown_outcomes() {
    assert_equal_verdicts(2_900_000, 10_000, 3);
}

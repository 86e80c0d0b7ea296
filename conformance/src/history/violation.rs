//! Explains why a history is not linearizable.

use std::collections::BTreeSet;
use std::fmt;

use super::attempt::{Attempt, Event, EventKind, History};
use super::specification::Specification;

const STATES_SHOWN: usize = 10;

/// A reply that no possible state allows, and all `states` that were possible just before the reply.
pub(super) struct Misplaced<State> {
    pub(super) attempt: usize,
    pub(super) states: Vec<State>,
}

/// The proof that a history is not linearizable; its [`Display`](fmt::Display) is a report of many lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    attempt: usize,
    left_out: usize,
    events: Vec<String>,
    states: Vec<String>,
}

impl Violation {
    /// Reports the misplaced reply, and the earlier calls except the calls in `left_out`.
    pub(super) fn new<S: Specification>(
        spec: &S,
        history: &History<S::Op, S::Reply>,
        left_out: &BTreeSet<usize>,
        misplaced: &Misplaced<S::State>,
    ) -> Self {
        let attempt = &history.attempts()[misplaced.attempt];
        let end = attempt.response.as_ref().map_or(usize::MAX, |response| response.at);
        let events = history.events().into_iter().filter(|event| event.at <= end && !left_out.contains(&event.attempt));
        let line = |event: Event| event_line(event, history, event.attempt == misplaced.attempt);
        Self {
            attempt: attempt.invoked,
            left_out: left_out.len(),
            events: events.map(line).collect(),
            states: misplaced.states.iter().map(|state| state_line(spec, state, &attempt.op)).collect(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "not linearizable: the reply to #{} has no place", self.attempt)?;
        self.events.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        if self.left_out > 0 {
            writeln!(f, "whatever the {} other calls did, and whenever", self.left_out)?;
        }
        writeln!(f, "just before it responded, the state was one of:")?;
        self.states.iter().take(STATES_SHOWN).try_for_each(|line| writeln!(f, "{line}"))?;
        match self.states.len().saturating_sub(STATES_SHOWN) {
            0 => Ok(()),
            more => writeln!(f, "       and {more} more"),
        }
    }
}

fn event_line<Op, Reply>(event: Event, history: &History<Op, Reply>, misplaced: bool) -> String
where
    Op: fmt::Debug,
    Reply: fmt::Debug,
{
    let attempt = &history.attempts()[event.attempt];
    let mark = if misplaced { ">>" } else { "" };
    let text = match event.kind {
        EventKind::Invocation => invocation(attempt),
        EventKind::Response => response(attempt),
    };
    format!("{mark:2} {:>4}  client {:<3} {text}", event.at, attempt.client)
}

fn invocation<Op: fmt::Debug, Reply>(attempt: &Attempt<Op, Reply>) -> String {
    let outcome = if attempt.response.is_none() { "  (outcome unknown)" } else { "" };
    format!("calls   #{} {:?}{outcome}", attempt.invoked, attempt.op)
}

fn response<Op: fmt::Debug, Reply: fmt::Debug>(attempt: &Attempt<Op, Reply>) -> String {
    let reply = attempt.reply().map_or_else(String::new, |reply| format!("{reply:?}"));
    format!("returns #{} {:?} -> {reply}", attempt.invoked, attempt.op)
}

fn state_line<S: Specification>(spec: &S, state: &S::State, op: &S::Op) -> String {
    let outcomes = spec.step(state, op);
    let replies: Vec<_> = outcomes.iter().map(|(_, reply)| format!("{reply:?}")).collect();
    match replies.as_slice() {
        [] => format!("       {state:?}, which forbids {op:?}"),
        replies => format!("       {state:?}, where {op:?} replies {}", replies.join(" or ")),
    }
}

//! The promises in every state, and at the end, when no call is in progress and the unacknowledged messages have been
//! delivered again.

use std::fmt;

use crate::state::{Endpoint, State, TokenId};
use crate::store::Token;
use crate::worker::Worker;
use crate::world::{Event, Tokens};

/// The maximum number of steps of a worker that runs alone.
const STEPS: usize = 24;
/// The maximum number of times that all unacknowledged messages are delivered.
const DELIVERIES: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    OneChange,
    OneToken,
    TokenFirst,
    NoResurrection,
    Continuity,
    NothingLost,
    NoGarbage,
    NoResidue,
}

impl Promise {
    pub(crate) const SAFETY: [Self; 6] =
        [Self::OneChange, Self::OneToken, Self::TokenFirst, Self::NoResurrection, Self::Continuity, Self::NothingLost];
    pub(crate) const ALL: [Self; 8] = [
        Self::OneChange,
        Self::OneToken,
        Self::TokenFirst,
        Self::NoResurrection,
        Self::Continuity,
        Self::NothingLost,
        Self::NoGarbage,
        Self::NoResidue,
    ];

    /// Returns whether the promise is checked only in states without calls in progress.
    fn is_of_the_end(self) -> bool {
        matches!(self, Self::NothingLost | Self::NoGarbage | Self::NoResidue)
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OneChange => "a message changes its entity once",
            Self::OneToken => "all copies of a message carry the same token",
            Self::TokenFirst => "a token exists before its message is sent",
            Self::NoResurrection => "a token that is gone stays gone",
            Self::Continuity => "a message that was processed has an entry, or its token is gone",
            Self::NothingLost => "a message that was acknowledged was processed, and so was what it sent",
            Self::NoGarbage => "no token is left",
            Self::NoResidue => "no entry is left",
        })
    }
}

/// A broken promise. `run` contains the events from the checked state to the violation.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub(crate) promise: Promise,
    pub(crate) run: Vec<Event>,
}

pub(crate) fn check(world: &Tokens, state: &State) -> Result<(), Violation> {
    broken(world, state, false).map_or(Ok(()), |promise| Err(Violation { promise, run: Vec::new() }))?;
    let is_needed = state.is_quiet() && world.demands.iter().any(|promise| promise.is_of_the_end());
    match is_needed.then(|| drained(world, state)).flatten() {
        None => Ok(()),
        Some((state, run)) => broken(world, &state, true).map_or(Ok(()), |promise| Err(Violation { promise, run })),
    }
}

fn broken(world: &Tokens, state: &State, at_the_end: bool) -> Option<Promise> {
    world.demands.iter().copied().find(|promise| is_broken(*promise, state, at_the_end))
}

fn is_broken(promise: Promise, state: &State, at_the_end: bool) -> bool {
    let both = Endpoint::BOTH.map(Endpoint::slot);
    match promise {
        Promise::OneChange => state.changes.iter().any(|changes| *changes > 1),
        Promise::OneToken => state.sent.len() > 1,
        Promise::TokenFirst => state.hasty,
        Promise::NoResurrection => state.resurrected,
        Promise::Continuity => state.copies().any(|(endpoint, token)| may_be_processed_again(state, endpoint, token)),
        Promise::NothingLost => {
            both.iter().any(|place| state.changes[*place] == 0 && (state.acknowledged[*place] || at_the_end))
        }
        Promise::NoGarbage => at_the_end && state.tokens.contains(&Token::Live),
        Promise::NoResidue => at_the_end && state.entities.iter().any(|entity| entity.entry.is_some()),
    }
}

fn may_be_processed_again(state: &State, endpoint: Endpoint, token: TokenId) -> bool {
    let was_processed = state.changes[endpoint.slot()] > 0;
    was_processed && state.entity(endpoint).entry.is_none() && state.token(token) == Token::Live
}

/// Delivers all messages without faults until they are acknowledged. Returns `None` if no token id is left for an
/// attempt.
fn drained(world: &Tokens, state: &State) -> Option<(State, Vec<Event>)> {
    let (mut state, mut run) = (*state, Vec::new());
    for _ in 0..DELIVERIES {
        let waiting: Vec<_> = state.copies().filter(|(endpoint, _)| !state.acknowledged[endpoint.slot()]).collect();
        for (endpoint, token) in waiting {
            state.workers[0] = Some(Worker::new(&world.plan, endpoint, token));
            run.push(Event::Received(endpoint, token));
            state = delivered(world, state, &mut run)?;
        }
    }
    Some((state, run))
}

fn delivered(world: &Tokens, mut state: State, run: &mut Vec<Event>) -> Option<State> {
    let mut next = Vec::new();
    for _ in 0..STEPS {
        let Some(worker) = state.workers[0] else { return Some(state) };
        next.clear();
        world.steps(&state, 0, worker, &mut next);
        let (event, after) = *next.first()?;
        run.push(event);
        state = after;
    }
    panic!("a worker that is alone does not end: {state:?}");
}

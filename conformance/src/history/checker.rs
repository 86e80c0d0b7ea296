//! The search for an order that explains a history.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::Hash;
use std::mem;
use std::ops::{BitOr, ControlFlow};

use super::attempt::{Event, EventKind, History};
use super::relevant::narrowed;
use super::specification::Specification;
use super::verdict::{Exceeded, Limits, Verdict};
use super::violation::{Misplaced, Violation};

/// Decides whether the `history` of one object is linearizable with respect to `spec`.
pub fn check<S: Specification>(spec: &S, history: &History<S::Op, S::Reply>, limits: Limits) -> Verdict {
    match explain(spec, history, &BTreeSet::new(), limits) {
        Found::Explained => Verdict::Linearizable,
        Found::OverBudget(exceeded) => Verdict::OverBudget(exceeded),
        Found::Misplaced(misplaced) => {
            let (left_out, misplaced) = narrowed(spec, history, limits, misplaced);
            Verdict::Violation(Violation::new(spec, history, &left_out, &misplaced))
        }
    }
}

/// Whether some order of the attempts explains their replies.
pub(super) enum Found<State> {
    Explained,
    Misplaced(Misplaced<State>),
    OverBudget(Exceeded),
}

/// Searches for an order of the attempts that explains their replies, except the replies of the attempts in `left_out`.
pub(super) fn explain<S: Specification>(
    spec: &S,
    history: &History<S::Op, S::Reply>,
    left_out: &BTreeSet<usize>,
    limits: Limits,
) -> Found<S::State> {
    let mut events = history.events();
    if events.len() > limits.events {
        return Found::OverBudget(Exceeded::Events);
    }
    events.retain(|event| matches!(event.kind, EventKind::Invocation) || !left_out.contains(&event.attempt));
    let mut search = Search::new(spec, history, left_out, limits);
    match events.into_iter().try_for_each(|event| search.advance(event)) {
        ControlFlow::Continue(()) => Found::Explained,
        ControlFlow::Break(found) => found,
    }
}

/// One possible explanation of the events so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Configuration<State> {
    /// The pending attempts that have already taken effect, one bit each.
    linearized: u64,
    state: State,
}

impl<State> Configuration<State> {
    fn has_linearized(&self, bit: u64) -> bool {
        self.linearized & bit != 0
    }

    /// Clears the bit of an attempt that has returned, so that another attempt can use the bit.
    fn without(self, bit: u64) -> Self {
        Self { linearized: self.linearized & !bit, ..self }
    }
}

struct Search<'a, S: Specification> {
    spec: &'a S,
    history: &'a History<S::Op, S::Reply>,
    left_out: &'a BTreeSet<usize>,
    limits: Limits,
    /// The bit of each pending attempt, by the attempt's position in the history.
    pending: BTreeMap<usize, u64>,
    /// The different explanations of the events so far.
    configurations: Vec<Configuration<S::State>>,
    considered: usize,
}

impl<'a, S: Specification> Search<'a, S> {
    fn new(spec: &'a S, history: &'a History<S::Op, S::Reply>, left_out: &'a BTreeSet<usize>, limits: Limits) -> Self {
        let initial = Configuration { linearized: 0, state: spec.initial() };
        let (pending, configurations) = (BTreeMap::new(), vec![initial]);
        Self { spec, history, left_out, limits, pending, configurations, considered: 0 }
    }

    fn advance(&mut self, event: Event) -> ControlFlow<Found<S::State>> {
        match event.kind {
            EventKind::Invocation => self.invoke(event.attempt),
            EventKind::Response => self.respond(event.attempt),
        }
    }

    /// Allows the attempt to take effect from now on. The search decides at a later response whether the attempt has
    /// taken effect.
    fn invoke(&mut self, attempt: usize) -> ControlFlow<Found<S::State>> {
        let taken = self.pending.values().copied().fold(0, u64::bitor);
        match 1u64.checked_shl(taken.trailing_ones()) {
            Some(free) if self.pending.len() < self.limits.pending => self.pending.insert(attempt, free),
            _ => return over(Exceeded::Pending),
        };
        ControlFlow::Continue(())
    }

    /// Keeps only the configurations in which the attempt has taken effect.
    fn respond(&mut self, attempt: usize) -> ControlFlow<Found<S::State>> {
        // No attempt has the bit 0: a response without an invocation would be a violation, not a pass.
        let bit = self.pending.get(&attempt).copied().unwrap_or_default();
        let reached = self.linearize_until(bit)?;
        let (explained, unexplained): (Vec<_>, _) =
            reached.into_iter().partition(|configuration| configuration.has_linearized(bit));
        if explained.is_empty() {
            return ControlFlow::Break(misplaced(attempt, unexplained));
        }
        self.configurations = explained.into_iter().map(|configuration| configuration.without(bit)).collect();
        self.pending.remove(&attempt);
        ControlFlow::Continue(())
    }

    /// Returns every configuration that pending attempts can reach if the attempt with this bit takes effect last.
    /// Effects after this attempt are left to later responses (just in time).
    fn linearize_until(&mut self, bit: u64) -> ControlFlow<Found<S::State>, Vec<Configuration<S::State>>> {
        let mut reached = mem::take(&mut self.configurations);
        let mut seen: HashSet<_> = reached.iter().cloned().collect();
        let mut next = 0;
        while let Some(configuration) = reached.get(next) {
            if !configuration.has_linearized(bit) {
                let mut successors = self.successors(configuration);
                successors.retain(|successor| seen.insert(successor.clone()));
                reached.append(&mut successors);
            }
            if self.considered + reached.len() > self.limits.configurations {
                return over(Exceeded::Configurations);
            }
            next += 1;
        }
        self.considered += reached.len();
        ControlFlow::Continue(reached)
    }

    /// Returns the configurations that follow when one more pending attempt takes effect.
    fn successors(&self, from: &Configuration<S::State>) -> Vec<Configuration<S::State>> {
        let mut successors = Vec::new();
        for (&attempt, &bit) in self.pending.iter().filter(|&(_, &bit)| !from.has_linearized(bit)) {
            let linearized = from.linearized | bit;
            let states = self.effects(&from.state, attempt);
            successors.extend(states.map(|state| Configuration { linearized, state }));
        }
        successors
    }

    /// Returns the states that the object can have after the attempt, if the attempt's reply is right.
    fn effects(&self, state: &S::State, position: usize) -> impl Iterator<Item = S::State> {
        let attempt = &self.history.attempts()[position];
        let answered = attempt.reply().filter(|_| !self.left_out.contains(&position));
        let outcomes = self.spec.step(state, &attempt.op).into_iter();
        let possible = outcomes.filter(move |(next, reply)| match answered {
            Some(answered) => reply == answered,
            // No client saw a reply. An effect that does not change the state explains nothing.
            None => next != state,
        });
        possible.map(|(next, _)| next)
    }
}

fn misplaced<State: Clone + Eq + Hash>(attempt: usize, unexplained: Vec<Configuration<State>>) -> Found<State> {
    let mut seen = HashSet::new();
    let states = unexplained.into_iter().map(|configuration| configuration.state);
    Found::Misplaced(Misplaced { attempt, states: states.filter(|state| seen.insert(state.clone())).collect() })
}

fn over<State, C>(exceeded: Exceeded) -> ControlFlow<Found<State>, C> {
    ControlFlow::Break(Found::OverBudget(exceeded))
}

//! Breadth first through every reachable state, so the first trace to a violation is a shortest one.

use std::hash::{Hash, Hasher};

use crate::model::{Event, Model};
use crate::properties::{Violation, check};
use crate::state::State;

/// How a violation came about.
#[derive(Clone, Debug)]
pub(crate) struct Counterexample {
    pub(crate) violation: Violation,
    pub(crate) trace: Vec<Event>,
}

/// Answers all states that there are, each of them checked.
pub(crate) fn explore(model: &Model) -> Result<Reached, Box<Counterexample>> {
    let mut reached = Reached::from(model.initial().canonical(model.protocol));
    let mut next = Vec::new();
    let mut current = 0;
    while let Some(state) = reached.states.get(current).copied() {
        check(model, &state).map_err(|violation| reached.explain(model, current, violation))?;
        model.successors(&state, &mut next);
        for (_, state) in next.drain(..) {
            reached.insert(state.canonical(model.protocol), current);
        }
        current += 1;
    }
    Ok(reached)
}

const FREE: u32 = u32::MAX;

/// The states in the order in which they were found: at once the queue, the visited set and all traces.
#[derive(Debug)]
pub(crate) struct Reached {
    pub(crate) states: Vec<State>,
    parents: Vec<u32>,
    /// Where in `states` a state is, by its hash, with linear probing.
    table: Vec<u32>,
}

impl Reached {
    fn from(initial: State) -> Self {
        let mut reached = Self { states: Vec::new(), parents: Vec::new(), table: vec![FREE; 1 << 10] };
        reached.insert(initial, 0);
        reached
    }

    /// Where in `states` a state is, which has been reached.
    pub(crate) fn position(&self, state: &State) -> usize {
        self.table[self.slot_of(state)] as usize
    }

    fn insert(&mut self, state: State, parent: usize) {
        let slot = self.slot_of(&state);
        if self.table[slot] != FREE {
            return;
        }
        self.table[slot] = index(self.states.len());
        self.states.push(state);
        self.parents.push(index(parent));
        if self.states.len() * 2 > self.table.len() {
            self.grow();
        }
    }

    fn slot_of(&self, state: &State) -> usize {
        let mask = self.table.len() - 1;
        let mut slot = hash(state) & mask;
        while self.table[slot] != FREE && self.states[self.table[slot] as usize] != *state {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.table = vec![FREE; self.table.len() * 2];
        for known in 0..self.states.len() {
            let slot = self.slot_of(&self.states[known]);
            self.table[slot] = index(known);
        }
    }

    pub(crate) fn explain(&self, model: &Model, last: usize, violation: Violation) -> Box<Counterexample> {
        let mut trace = Vec::new();
        let mut child = last;
        while child != 0 {
            let parent = self.parents[child] as usize;
            trace.extend(self.event_between(model, parent, child));
            child = parent;
        }
        trace.reverse();
        Box::new(Counterexample { violation, trace })
    }

    fn event_between(&self, model: &Model, parent: usize, child: usize) -> Option<Event> {
        let mut next = Vec::new();
        model.successors(&self.states[parent], &mut next);
        let leads_there = |(_, state): &&(Event, State)| state.canonical(model.protocol) == self.states[child];
        next.iter().find(leads_there).map(|(event, _)| *event)
    }
}

fn index(position: usize) -> u32 {
    u32::try_from(position).expect("fewer states than fit into memory")
}

fn hash(state: &State) -> usize {
    let mut hasher = Mixer(0);
    state.hash(&mut hasher);
    hasher.finish() as usize
}

/// A state is a few dozen small numbers, for which the standard hasher takes longer than the step itself.
struct Mixer(u64);

impl Mixer {
    fn mix(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.mix(u64::from(*byte)));
    }

    fn write_u8(&mut self, number: u8) {
        self.mix(u64::from(number));
    }

    fn write_isize(&mut self, number: isize) {
        self.mix(number as u64);
    }

    fn write_usize(&mut self, number: usize) {
        self.mix(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

//! Explores every state that a small world can reach, breadth first, so that the first trace to a violation is a
//! shortest one.

use std::fmt;
use std::hash::{Hash, Hasher};

/// A world: the events that may happen and the promises that must hold.
pub trait World {
    /// The state of the model at one moment: all facts that have an effect on the future.
    type State: Copy + Eq + Hash;
    /// A step from one state to another.
    type Event: Copy + fmt::Display;
    /// A broken promise.
    type Violation: fmt::Display;

    /// Returns the initial state.
    fn initial(&self) -> Self::State;

    /// Adds every event that may happen in `state` to `next`, with the state after the event.
    fn successors(&self, state: &Self::State, next: &mut Vec<(Self::Event, Self::State)>);

    /// Maps states that differ only in irrelevant names to the same state.
    fn canonical(&self, state: Self::State) -> Self::State;

    /// Checks that the state keeps every promise.
    fn check(&self, state: &Self::State) -> Result<(), Self::Violation>;
}

/// A violation, with the trace that leads to it.
#[derive(Clone, Debug)]
pub struct Counterexample<E, V> {
    /// The events, in their order.
    pub trace: Vec<E>,
    /// The broken promise.
    pub violation: V,
}

/// The counterexample of a world.
pub type CounterexampleOf<W> = Counterexample<<W as World>::Event, <W as World>::Violation>;

impl<E: fmt::Display, V: fmt::Display> fmt::Display for Counterexample<E, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "after {} steps", self.trace.len())?;
        for (number, event) in (1..).zip(&self.trace) {
            writeln!(f, "{number:>4}. {event}")?;
        }
        self.violation.fmt(f)
    }
}

/// Returns all reachable states, each of them checked.
pub fn explore<W: World>(world: &W) -> Result<Reached<W::State>, Box<CounterexampleOf<W>>> {
    let mut reached = Reached::from(world.canonical(world.initial()));
    let mut next = Vec::new();
    let mut current = 0;
    while let Some(state) = reached.states.get(current).copied() {
        world.check(&state).map_err(|violation| reached.explain(world, current, violation))?;
        world.successors(&state, &mut next);
        for (_, state) in next.drain(..) {
            reached.insert(world.canonical(state), current);
        }
        current += 1;
    }
    Ok(reached)
}

const FREE: u32 = u32::MAX;

/// The reachable states, in the order in which they were found.
#[derive(Debug)]
pub struct Reached<S> {
    states: Vec<S>,
    parents: Vec<u32>,
    /// A hash table with linear probing, which contains the index of each state in `states`.
    table: Vec<u32>,
}

impl<S: Copy + Eq + Hash> Reached<S> {
    fn from(initial: S) -> Self {
        let mut reached = Self { states: Vec::new(), parents: Vec::new(), table: vec![FREE; 1 << 10] };
        reached.insert(initial, 0);
        reached
    }

    /// Returns the states in the order in which they were found.
    #[must_use]
    pub fn states(&self) -> &[S] {
        &self.states
    }

    /// Returns the index in [`states`](Self::states) of a reached state.
    #[must_use]
    pub fn position(&self, state: &S) -> usize {
        self.table[self.slot_of(state)] as usize
    }

    fn insert(&mut self, state: S, parent: usize) {
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

    fn slot_of(&self, state: &S) -> usize {
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

    /// Returns the trace to a reached state, with the promise that the state breaks.
    pub fn explain<W>(&self, world: &W, last: usize, violation: W::Violation) -> Box<CounterexampleOf<W>>
    where
        W: World<State = S>,
    {
        let mut trace = Vec::new();
        let mut child = last;
        while child != 0 {
            let parent = self.parents[child] as usize;
            trace.extend(self.event_between(world, parent, child));
            child = parent;
        }
        trace.reverse();
        Box::new(Counterexample { violation, trace })
    }

    fn event_between<W: World<State = S>>(&self, world: &W, parent: usize, child: usize) -> Option<W::Event> {
        let mut next = Vec::new();
        world.successors(&self.states[parent], &mut next);
        let leads_there = |(_, state): &&(W::Event, S)| world.canonical(*state) == self.states[child];
        next.iter().find(leads_there).map(|(event, _)| *event)
    }
}

#[allow(clippy::expect_used, reason = "a proof that outgrows four thousand million states must stop")]
fn index(position: usize) -> u32 {
    u32::try_from(position).expect("fewer states than fit into memory")
}

fn hash(state: &impl Hash) -> usize {
    let mut hasher = Mixer(0);
    state.hash(&mut hasher);
    hasher.finish() as usize
}

/// A fast hasher for states that consist of a few dozen small numbers.
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

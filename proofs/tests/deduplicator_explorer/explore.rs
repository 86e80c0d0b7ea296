//! Explores every order of events, breadth first. Each new state is reached by replaying the events that lead to it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use crate::canon::Sameness;
use crate::event::Event;
use crate::mutants::Mutant;
use crate::properties::{Violation, check};
use crate::rest::{InFlight, check_at_rest};
use crate::scenario::Scenario;
use crate::world::World;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Exploration {
    pub(crate) scenario: &'static Scenario,
    pub(crate) mutant: Option<Mutant>,
    /// The number of worker faults per run. Without worker faults, the exploration checks a power cut in every state.
    pub(crate) faults: usize,
    pub(crate) sameness: Sameness,
}

/// The statistics of an exploration that found no failure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Explored {
    pub(crate) states: usize,
    /// The number of states in which all workers were stopped and a recovery was checked.
    pub(crate) recovered: usize,
    pub(crate) events: usize,
    pub(crate) late_landings: usize,
    /// The number of possible runs. It is a float because it is very large.
    pub(crate) schedules: f64,
}

/// The shortest run that breaks a property.
#[derive(Debug)]
pub(crate) struct Failure {
    exploration: Exploration,
    pub(crate) path: Vec<Event>,
    /// The fate of the requests in flight, if the property broke after all workers had ended.
    at_rest: Option<InFlight>,
    pub(crate) violation: Violation,
}

struct State {
    /// The previous state, and the event that led from it to this state.
    came: Option<(usize, Event)>,
    events: Vec<Event>,
    next: Vec<usize>,
}

struct Explorer {
    exploration: Exploration,
    known: HashMap<u64, usize>,
    states: Vec<State>,
    explored: Explored,
}

impl Exploration {
    pub(crate) fn run(self) -> Result<Explored, Box<Failure>> {
        let mut explorer =
            Explorer { exploration: self, known: HashMap::new(), states: vec![], explored: Explored::NOTHING };
        explorer.meet(&self.replay(&[], false), None)?;
        let mut at = 0;
        while at < explorer.states.len() {
            explorer.expand(at)?;
            at += 1;
        }
        Ok(explorer.summary())
    }

    /// Returns the trace of the run with these choices, which a failed exploration has printed.
    pub(crate) fn retell(self, choices: &str) -> String {
        let mut world = World::new(self.scenario, self.mutant, self.faults, true);
        for choice in choices.split_whitespace() {
            let event = choice.parse().expect("a letter and a number");
            assert!(world.events().contains(&event), "{event} cannot happen here");
            if let Err(violation) = world.apply(event) {
                world.tell(|| violation.to_string());
            }
        }
        world.trace().join("\n")
    }

    /// Returns the world after these events. Stops at the first event that breaks a property.
    pub(crate) fn replay(self, path: &[Event], traced: bool) -> World {
        let mut world = World::new(self.scenario, self.mutant, self.faults, traced);
        for event in path {
            if world.apply(*event).is_err() {
                break;
            }
        }
        world
    }
}

impl Explorer {
    fn expand(&mut self, at: usize) -> Result<(), Box<Failure>> {
        let mut path = self.path(at);
        for event in self.states[at].events.clone() {
            let mut world = self.exploration.replay(&path, false);
            let applied = world.apply(event);
            path.push(event);
            applied.map_err(|violation| self.failure(&path, None, violation))?;
            let next = self.meet(&world, Some((at, event)))?;
            self.states[at].next.push(next);
            path.pop();
            self.explored.events += 1;
            self.explored.late_landings += usize::from(matches!(event, Event::Land(_)));
        }
        Ok(())
    }

    /// Returns the number of the world's state. Adds and checks the state if it is new.
    fn meet(&mut self, world: &World, came: Option<(usize, Event)>) -> Result<usize, Box<Failure>> {
        let seen = world.stores.seen();
        let number = self.states.len();
        match self.known.entry(world.key(&seen, self.exploration.sameness)) {
            Entry::Occupied(known) => return Ok(*known.get()),
            Entry::Vacant(new) => new.insert(number),
        };
        self.states.push(State { came, events: world.events(), next: vec![] });
        let path = self.path(number);
        check(&seen, &world.answers).map_err(|violation| self.failure(&path, None, violation))?;
        if self.exploration.faults == 0 {
            self.rest(&path, &InFlight::AFTER_A_POWER_CUT)?;
        } else if world.is_at_rest() {
            let ways = if world.has_in_flight() { InFlight::EVERY.len() } else { 1 };
            self.rest(&path, &InFlight::EVERY[..ways])?;
        }
        Ok(number)
    }

    fn rest(&mut self, path: &[Event], ways: &[InFlight]) -> Result<(), Box<Failure>> {
        self.explored.recovered += 1;
        for in_flight in ways {
            let mut world = self.exploration.replay(path, false);
            check_at_rest(&mut world, *in_flight)
                .map_err(|violation| self.failure(path, Some(*in_flight), violation))?;
        }
        Ok(())
    }

    fn path(&self, mut at: usize) -> Vec<Event> {
        let mut path = vec![];
        while let Some((before, event)) = self.states[at].came {
            path.push(event);
            at = before;
        }
        path.reverse();
        path
    }

    fn failure(&self, path: &[Event], at_rest: Option<InFlight>, violation: Violation) -> Box<Failure> {
        Box::new(Failure { exploration: self.exploration, path: path.to_vec(), at_rest, violation })
    }

    fn summary(self) -> Explored {
        let mut schedules = vec![Count::Unknown; self.states.len()];
        Explored {
            states: self.states.len(),
            schedules: count_schedules(&self.states, 0, &mut schedules),
            ..self.explored
        }
    }
}

/// Returns the number of paths from state `at` to an end. Panics if a path contains a loop.
fn count_schedules(states: &[State], at: usize, counted: &mut [Count]) -> f64 {
    match counted[at] {
        Count::Is(count) => return count,
        Count::UnderWay => panic!("the workers can keep each other busy for ever"),
        Count::Unknown => counted[at] = Count::UnderWay,
    }
    let next = &states[at].next;
    let count = match next.is_empty() {
        true => 1.0,
        false => next.iter().map(|next| count_schedules(states, *next, counted)).sum(),
    };
    counted[at] = Count::Is(count);
    count
}

#[derive(Clone, Copy)]
enum Count {
    Unknown,
    UnderWay,
    Is(f64),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut world = self.exploration.replay(&self.path, true);
        if let Some(in_flight) = self.at_rest {
            world.tell(|| format!("at rest; in flight: {in_flight:?}"));
            let _ = check_at_rest(&mut world, in_flight);
        }
        writeln!(f, "{} ({})", self.violation, self.exploration.scenario.name)?;
        for (number, line) in world.trace().iter().enumerate() {
            writeln!(f, "{:4}. {line}", number + 1)?;
        }
        let choices: Vec<_> = self.path.iter().map(ToString::to_string).collect();
        write!(f, "to repeat this run, run this test with STORAGEBOX_CHOICES=\"{}\"", choices.join(" "))
    }
}

impl Explored {
    pub(crate) const NOTHING: Self = Self { states: 0, recovered: 0, events: 0, late_landings: 0, schedules: 0.0 };
}

impl std::ops::AddAssign for Explored {
    fn add_assign(&mut self, other: Self) {
        self.states += other.states;
        self.recovered += other.recovered;
        self.events += other.events;
        self.late_landings += other.late_landings;
        self.schedules += other.schedules;
    }
}

impl fmt::Display for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} states ({} recovered from), {} events ({} late landings), {:.2e} schedules",
            self.states, self.recovered, self.events, self.late_landings, self.schedules
        )
    }
}

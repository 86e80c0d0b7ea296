//! Checks that live callers cannot keep each other busy for ever when nothing else happens: no crash, no refill and no
//! late request. Then only a loop of states could keep them from their answers.

use storagebox_proofs::explore::Reached;

use crate::model::{Broken, Event, Model};
use crate::properties::{Property, Violation};
use crate::state::State;

/// Returns the maximum number of steps, from any state, until every caller has an answer.
pub(crate) fn longest_run(model: &Model, reached: &Reached<State>) -> Result<u16, Box<Broken>> {
    let states = reached.states().len();
    let mut walk = Walk { model, reached, marks: vec![Mark::New; states], path: Vec::new() };
    let longest = (0..states).try_fold(0, |longest, state| Ok(walk.longest_from(state)?.max(longest)));
    longest.map_err(|endless: Loop| endless.explain(model, reached))
}

#[derive(Clone, Copy)]
enum Mark {
    New,
    OnPath,
    Left { longest: u16 },
}

/// A depth-first traversal along the steps of the callers.
struct Walk<'a> {
    model: &'a Model,
    reached: &'a Reached<State>,
    marks: Vec<Mark>,
    path: Vec<usize>,
}

impl Walk<'_> {
    fn longest_from(&mut self, state: usize) -> Result<u16, Loop> {
        match self.marks[state] {
            Mark::New => self.enter(state),
            Mark::OnPath => Err(self.loop_from(state)),
            Mark::Left { longest } => Ok(longest),
        }
    }

    fn enter(&mut self, state: usize) -> Result<u16, Loop> {
        self.marks[state] = Mark::OnPath;
        self.path.push(state);
        let mut longest = 0;
        for (_, after) in steps(self.model, &self.reached.states()[state]) {
            let next = self.reached.position(&after);
            longest = longest.max(1 + self.longest_from(next)?);
        }
        self.path.pop();
        self.marks[state] = Mark::Left { longest };
        Ok(longest)
    }

    fn loop_from(&self, state: usize) -> Loop {
        let before = self.path.iter().take_while(|on_path| **on_path != state).count();
        Loop { states: self.path[before..].to_vec() }
    }
}

fn steps(model: &Model, state: &State) -> Vec<(Event, State)> {
    let mut steps = Vec::new();
    for (worker, call) in state.calls() {
        model.steps(state, worker, call, &mut steps);
    }
    for (_, after) in &mut steps {
        *after = after.canonical(model.protocol);
    }
    steps
}

/// A loop of states, in which a step leads from the last state to the first.
struct Loop {
    states: Vec<usize>,
}

impl Loop {
    fn explain(&self, model: &Model, reached: &Reached<State>) -> Box<Broken> {
        let finding = "and so on for ever".to_owned();
        let run = self.run(model, reached);
        reached.explain(model, self.states[0], Violation { property: Property::CallsEnd, finding, run })
    }

    /// Returns the events of one pass through the loop, from its first state.
    fn run(&self, model: &Model, reached: &Reached<State>) -> Vec<Event> {
        let mut current = reached.states()[self.states[0]];
        let mut run = Vec::new();
        for next in self.states.iter().cycle().skip(1).take(self.states.len()) {
            let leads_there = |(_, after): &(Event, State)| *after == reached.states()[*next];
            let (event, after) = steps(model, &current).into_iter().find(leads_there).expect("a step");
            run.push(event);
            current = after;
        }
        run
    }
}

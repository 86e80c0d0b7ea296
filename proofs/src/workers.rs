//! Workers that are polled by hand. A scheduler decides which worker makes its next step, and which faults happen.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::gate::{Gate, Permit};

/// The task of a worker. Returns the answer or the error as text for people. After an error the worker begins again.
pub type Task = Pin<Box<dyn Future<Output = Result<String, String>>>>;

/// The limits of one run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The number of switches to another worker while the current worker could continue.
    pub switches: usize,
    /// The number of crashes and of failing requests.
    pub faults: usize,
    /// Whether every fault is a crash.
    pub only_crashes: bool,
}

/// An event that may happen next.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The request of this worker continues, with this permit.
    Step(usize, Permit),
    /// A worker crashes and begins again.
    Crash(usize),
    /// A late request is applied.
    Land(usize),
}

/// The workers of one run, each behind its gate.
pub struct Workers {
    gates: Vec<Gate>,
    tasks: Vec<Option<Task>>,
    begun: Box<dyn Fn(usize) -> Task>,
    current: usize,
    left: Limits,
    /// The events, as text for people.
    pub trace: Vec<String>,
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").field("trace", &self.trace).finish_non_exhaustive()
    }
}

impl Workers {
    /// Creates one worker per gate; `begun` returns the task of a worker. All other gates must be created from the
    /// first gate with [`another`](Gate::another).
    pub fn new(gates: Vec<Gate>, left: Limits, begun: impl Fn(usize) -> Task + 'static) -> Self {
        let tasks = gates.iter().map(|_| None).collect();
        Self { gates, tasks, begun: Box::new(begun), current: 0, left, trace: vec![] }
    }

    /// Begins all workers.
    pub fn begin_all(&mut self) {
        for worker in 0..self.gates.len() {
            self.begin(worker);
        }
    }

    /// Returns whether any worker waits for an answer.
    #[must_use]
    pub fn is_at_work(&self) -> bool {
        self.tasks.iter().any(Option::is_some)
    }

    /// Returns all events that may happen next. The list is empty once all workers have answers and no request is late.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        let may_switch = self.left.switches > 0 || self.tasks[self.current].is_none();
        let late = self.gates.first().map_or(0, Gate::late);
        let mut events: Vec<_> = (0..late).map(Event::Land).collect();
        for worker in (0..self.tasks.len()).filter(|worker| may_switch || *worker == self.current) {
            if self.tasks[worker].is_some() {
                self.events_of(worker, &mut events);
            }
        }
        events
    }

    fn events_of(&self, worker: usize, events: &mut Vec<Event>) {
        events.push(Event::Step(worker, Permit::Go));
        if self.left.faults == 0 {
            return;
        }
        events.push(Event::Crash(worker));
        let writes = self.gates[worker].asked().is_some_and(|asked| asked.writes);
        let faults = if writes && !self.left.only_crashes { &Permit::FAULTS[..] } else { &[] };
        events.extend(faults.iter().map(|permit| Event::Step(worker, *permit)));
    }

    /// Applies one of the [`events`](Self::events).
    pub fn apply(&mut self, event: Event) {
        match event {
            Event::Step(worker, permit) => self.step(worker, permit),
            Event::Crash(worker) => {
                self.turn_to(worker);
                self.left.faults -= 1;
                self.trace.push(format!("worker {worker} crashes"));
                self.begin(worker);
            }
            Event::Land(index) => {
                let (operation, landing) = self.gates[0].take_late(index);
                let answer = ready(landing);
                self.trace.push(format!("late {operation}: {answer:?}"));
            }
        }
    }

    fn step(&mut self, worker: usize, permit: Permit) {
        self.turn_to(worker);
        self.left.faults -= usize::from(permit != Permit::Go);
        let operation = self.gates[worker].asked().map(|asked| asked.operation).unwrap_or_default();
        self.trace.push(format!("worker {worker}: {operation} ({permit:?})"));
        self.gates[worker].permit(permit);
        self.poll(worker);
    }

    fn turn_to(&mut self, worker: usize) {
        if worker != self.current && self.tasks[self.current].is_some() {
            self.left.switches = self.left.switches.saturating_sub(1);
        }
        self.current = worker;
    }

    fn begin(&mut self, worker: usize) {
        // The pending call is dropped before the gate is cleared.
        self.tasks[worker] = None;
        self.gates[worker].clear();
        self.tasks[worker] = Some((self.begun)(worker));
        self.poll(worker);
    }

    fn poll(&mut self, worker: usize) {
        let Some(task) = &mut self.tasks[worker] else { return };
        let Poll::Ready(answer) = task.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { return };
        self.trace.push(format!("worker {worker} is answered {answer:?}"));
        match answer {
            Ok(_) => self.tasks[worker] = None,
            Err(_) => self.begin(worker),
        }
    }
}

/// Returns the output of a future that is ready at the first poll.
///
/// # Panics
///
/// If the future waits.
pub fn ready<T>(task: impl Future<Output = T>) -> T {
    match Box::pin(task).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        // A future that waits is a mistake in the proof, which must stop.
        Poll::Pending => panic!("the future is not ready"),
    }
}

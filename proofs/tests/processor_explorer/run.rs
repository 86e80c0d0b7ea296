//! One run: whose step comes next, and what goes wrong.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use storagebox_core::{Abandoned, Key, Message, MessageId, Outcome, ProcessError, Processor, TokenId, TokenStore};
use storagebox_proofs::choices::Choices;

use crate::endpoints::Endpoints;
use crate::gate::{Gate, Permit};
use crate::judge::judge;
use crate::mutants::Mutant;
use crate::scenario::{Joined, Scenario, Work};

/// How much may happen in one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// From a worker that could go on to another.
    pub(crate) switches: usize,
    pub(crate) faults: usize,
}

/// More steps than any run has.
const STEPS: usize = 200;

pub(crate) struct Run {
    scenario: &'static Scenario,
    pub(crate) endpoints: Endpoints,
    pub(crate) gate: Gate,
    workers: Vec<Worker>,
    current: usize,
    left: Limits,
    pub(crate) abandoned: bool,
    /// What happened, for people.
    pub(crate) trace: Vec<String>,
}

struct Worker {
    work: Work,
    gate: Gate,
    processor: Processor,
    task: Option<Task>,
}

type Task = Pin<Box<dyn Future<Output = Result<Answer, ProcessError>>>>;

/// What a worker is answered, for people.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "the trace shows it")]
enum Answer {
    Processed(Outcome),
    Resumed(Option<Outcome>),
    Abandoned(Abandoned),
}

/// What may happen next.
#[derive(Clone, Copy, Debug)]
enum Event {
    Step(usize, Permit),
    Crash(usize),
    Land(usize),
}

impl Run {
    pub(crate) fn new(scenario: &'static Scenario, joined: Joined, mutant: Option<Mutant>, limits: Limits) -> Self {
        let endpoints = Endpoints::new(joined, scenario.handler);
        let gate = Gate::new(mutant);
        let messages: Vec<_> = scenario.workers.iter().map(|work| token_of(work.message())).collect();
        ready(endpoints.tokens().create_tokens(&messages)).expect("tokens");
        let worker = |work: &Work| {
            let gate = gate.another();
            Worker { work: *work, processor: endpoints.first(Some(&gate)), gate, task: None }
        };
        let workers = scenario.workers.iter().map(worker).collect();
        let (current, left, abandoned, trace) = (0, limits, false, vec![]);
        Self { scenario, endpoints, gate, workers, current, left, abandoned, trace }
    }

    pub(crate) fn finish(&mut self, choices: &mut Choices) -> Result<(), String> {
        for worker in 0..self.workers.len() {
            self.begin(worker);
        }
        for _ in 0..STEPS {
            let events = self.events();
            if events.is_empty() {
                return judge(self, self.scenario);
            }
            let event = events[choices.of(events.len())];
            self.apply(event);
        }
        Err("no end is reached".to_owned())
    }

    fn events(&self) -> Vec<Event> {
        let is_at_work = |worker: &usize| self.workers[*worker].task.is_some();
        let mut workers: Vec<_> = (0..self.workers.len()).filter(is_at_work).collect();
        if is_at_work(&self.current) && self.left.switches == 0 {
            workers = vec![self.current];
        }
        let mut events: Vec<_> = (0..self.gate.shared().late.len()).map(Event::Land).collect();
        for worker in workers {
            let asked = self.workers[worker].gate.asked().expect("a worker waits at its gate");
            events.push(Event::Step(worker, Permit::Go));
            if self.left.faults > 0 {
                events.push(Event::Crash(worker));
                let faults = if asked.writes { &[Permit::Late, Permit::Double, Permit::Repeat][..] } else { &[] };
                events.extend(faults.iter().map(|permit| Event::Step(worker, *permit)));
            }
        }
        events
    }

    fn apply(&mut self, event: Event) {
        match event {
            Event::Step(worker, permit) => {
                self.turn_to(worker);
                self.left.faults -= usize::from(permit != Permit::Go);
                let operation = self.workers[worker].gate.asked().map(|asked| asked.operation).unwrap_or_default();
                self.trace.push(format!("worker {worker}: {operation} ({permit:?})"));
                self.workers[worker].gate.permit(permit);
                self.poll(worker);
            }
            Event::Crash(worker) => {
                self.turn_to(worker);
                self.left.faults -= 1;
                self.trace.push(format!("worker {worker} crashes"));
                self.begin(worker);
            }
            Event::Land(index) => {
                let (operation, landing) = self.gate.shared().late.remove(index);
                let answer = ready(landing);
                self.trace.push(format!("late {operation}: {answer:?}"));
            }
        }
    }

    fn turn_to(&mut self, worker: usize) {
        if worker != self.current && self.workers[self.current].task.is_some() {
            self.left.switches = self.left.switches.saturating_sub(1);
        }
        self.current = worker;
    }

    /// The worker's message comes, for the first time or again.
    fn begin(&mut self, worker: usize) {
        let Worker { work, gate, processor, task } = &mut self.workers[worker];
        *task = None;
        gate.clear();
        *task = Some(begun(*work, processor.clone()));
        self.poll(worker);
    }

    fn poll(&mut self, worker: usize) {
        let Some(task) = &mut self.workers[worker].task else { return };
        let Poll::Ready(answer) = task.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { return };
        self.trace.push(format!("worker {worker} is answered {answer:?}"));
        match answer {
            Ok(answer) => {
                self.workers[worker].task = None;
                self.abandoned |= matches!(answer, Answer::Abandoned(Abandoned::Abandoned));
            }
            Err(_) => self.begin(worker),
        }
    }
}

fn begun(work: Work, processor: Processor) -> Task {
    Box::pin(async move {
        Ok(match work {
            Work::Process(message) => Answer::Processed(processor.process(&message_of(message)).await?),
            Work::Resume(message) => Answer::Resumed(processor.resume(&entity(), &id_of(message)).await?),
            Work::Abandon(message) => Answer::Abandoned(processor.abandon(&message_of(message)).await?),
        })
    })
}

/// The output of a future that waits for nothing.
pub(crate) fn ready<T>(task: impl Future<Output = T>) -> T {
    match Box::pin(task).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits for something"),
    }
}

pub(crate) fn entity() -> Key {
    Key::new("entity").expect("a key")
}

fn id_of(message: &str) -> MessageId {
    MessageId::new(message).expect("an id")
}

pub(crate) fn token_of(message: &str) -> TokenId {
    TokenId::new(format!("token of {message}")).expect("a token")
}

pub(crate) fn message_of(message: &str) -> Message {
    Message::new(message, entity(), "").expect("a message").with_token(token_of(message))
}

//! One run: whose step comes next, what goes wrong, and when time passes.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use storagebox_core::layer::Layered;
use storagebox_core::{Backend, Ids, ManualClock, OneTimeTokens, Result};
use storagebox_memory::MemoryStore;
use storagebox_proofs::choices::Choices;

use crate::gate::{Gate, Permit, lock};
use crate::judge::judge;
use crate::mutants::Mutant;
use crate::scenario::{Scenario, Work};
use crate::told::{Known, Told};
use crate::work::worked;

/// How much may happen in one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// From a worker that could go on to another.
    pub(crate) switches: usize,
    pub(crate) faults: usize,
    pub(crate) only_crashes: bool,
    /// At which time passes.
    pub(crate) moments: usize,
}

/// More steps than any run has.
const STEPS: usize = 200;

pub(crate) const TOKEN: &str = "token";
/// How long leases last.
pub(crate) const LEASE: Duration = Duration::from_secs(30);
/// How long results are replayed.
pub(crate) const REPLAY: Duration = Duration::from_secs(600);

pub(crate) struct Run {
    pub(crate) store: MemoryStore,
    pub(crate) clock: ManualClock,
    pub(crate) told: Arc<Mutex<Told>>,
    pub(crate) ids: Arc<Counted>,
    gate: Gate,
    workers: Vec<Worker>,
    current: usize,
    left: Limits,
    /// Whether the time to replay results was over once.
    pub(crate) was_over: bool,
    /// What happened, for people.
    pub(crate) trace: Vec<String>,
}

struct Worker {
    work: Work,
    gate: Gate,
    tokens: OneTimeTokens,
    task: Option<Task>,
    /// What was known before the first step of its call.
    known: Arc<Mutex<Known>>,
    is_fresh: bool,
}

type Task = Pin<Box<dyn Future<Output = Result<String>>>>;

/// What may happen next.
#[derive(Clone, Copy, Debug)]
enum Event {
    Step(usize, Permit),
    Crash(usize),
    Land(usize),
    Pass(Duration),
}

/// Predictable ids, none twice.
#[derive(Debug, Default)]
pub(crate) struct Counted(AtomicUsize);

impl Ids for Counted {
    fn fresh(&self) -> String {
        format!("id{}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// The tokens of a store, as one of its users has them.
pub(crate) fn tokens_of(store: &dyn Backend, ids: &Arc<Counted>) -> OneTimeTokens {
    let name = "links".parse().expect("a name");
    let tokens = store.token_store(&name).expect("tokens");
    let (leases, records) = (store.lease_repo(&name).expect("leases"), store.dedup_repo(&name).expect("records"));
    OneTimeTokens::new(tokens, leases, records).replay(REPLAY).expect("a time").ids(ids.clone())
}

impl Run {
    pub(crate) fn new(scenario: &'static Scenario, mutant: Option<Mutant>, limits: Limits) -> Self {
        let (clock, ids) = (ManualClock::new(), Arc::<Counted>::default());
        let store = MemoryStore::builder().clock(clock.clone()).build().expect("a store");
        ready(tokens_of(&store, &ids).create([TOKEN])).expect("a token");
        let gate = Gate::new(mutant);
        let worker = |work: &Work| {
            let gate = gate.another();
            let gated = Layered::new(Arc::new(store.clone()), Arc::new(gate.clone()));
            Worker {
                work: *work,
                tokens: tokens_of(&gated, &ids),
                gate,
                task: None,
                known: Arc::default(),
                is_fresh: true,
            }
        };
        let workers = scenario.workers.iter().map(worker).collect();
        let (current, left, told, was_over, trace) = (0, limits, Arc::default(), false, vec![]);
        Self { store, clock, told, ids, gate, workers, current, left, was_over, trace }
    }

    pub(crate) fn finish(&mut self, choices: &mut Choices) -> Result<(), String> {
        for worker in 0..self.workers.len() {
            self.begin(worker);
        }
        for _ in 0..STEPS {
            let events = self.events();
            if events.is_empty() {
                return judge(self);
            }
            let event = events[choices.of(events.len())];
            self.apply(event);
            if let Some(broken) = lock(&self.told).broken.take() {
                return Err(broken);
            }
        }
        Err("no end is reached".to_owned())
    }

    fn events(&self) -> Vec<Event> {
        let is_at_work = |worker: &usize| self.workers[*worker].task.is_some();
        let mut workers: Vec<_> = (0..self.workers.len()).filter(is_at_work).collect();
        if is_at_work(&self.current) && self.left.switches == 0 {
            workers = vec![self.current];
        }
        let mut events: Vec<_> = (0..self.gate.late().len()).map(Event::Land).collect();
        // When nobody is at work any more, time passes anyway.
        if self.left.moments > 0 && !workers.is_empty() {
            events.extend([Event::Pass(LEASE), Event::Pass(REPLAY)]);
        }
        for worker in workers {
            events.push(Event::Step(worker, Permit::Go));
            if self.left.faults > 0 {
                events.push(Event::Crash(worker));
                let asked = self.workers[worker].gate.asked().expect("a worker waits at its gate");
                let faults = if asked.writes && !self.left.only_crashes { &Permit::FAULTS[..] } else { &[] };
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
                self.set_off(worker);
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
                let (operation, landing) = self.gate.late().remove(index);
                let answer = ready(landing);
                self.trace.push(format!("late {operation}: {answer:?}"));
            }
            Event::Pass(time) => {
                self.left.moments -= 1;
                self.pass(time);
            }
        }
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        self.trace.push(format!("{time:?} pass"));
        self.clock.advance(time);
        self.was_over |= time >= REPLAY;
        lock(&self.told).passed(time >= REPLAY);
    }

    fn turn_to(&mut self, worker: usize) {
        if worker != self.current && self.workers[self.current].task.is_some() {
            self.left.switches = self.left.switches.saturating_sub(1);
        }
        self.current = worker;
    }

    /// The worker comes, for the first time or again.
    fn begin(&mut self, worker: usize) {
        let told = Arc::clone(&self.told);
        let Worker { work, gate, tokens, task, known, is_fresh } = &mut self.workers[worker];
        *task = None;
        gate.clear();
        *task = Some(Box::pin(worked(*work, tokens.clone(), told, Arc::clone(known))));
        *is_fresh = true;
        self.poll(worker);
    }

    /// Its call begins with its first step.
    fn set_off(&mut self, worker: usize) {
        if std::mem::take(&mut self.workers[worker].is_fresh) {
            let known = self.known();
            *lock(&self.workers[worker].known) = known;
        }
    }

    /// What is known now, to callers or in the store.
    pub(crate) fn known(&self) -> Known {
        let name = "links".parse().expect("a name");
        let records = self.store.dedup_repo(&name).expect("records");
        let is_recorded = !ready(records.list(None, 1)).expect("a page").entries.is_empty();
        lock(&self.told).known(is_recorded)
    }

    fn poll(&mut self, worker: usize) {
        let Some(task) = &mut self.workers[worker].task else { return };
        let Poll::Ready(answer) = task.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { return };
        self.trace.push(format!("worker {worker} is answered {answer:?}"));
        match answer {
            Ok(_) => self.workers[worker].task = None,
            Err(_) => self.begin(worker),
        }
    }
}

/// The output of a future that waits for nothing.
pub(crate) fn ready<T>(task: impl Future<Output = T>) -> T {
    match Box::pin(task).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits for something"),
    }
}

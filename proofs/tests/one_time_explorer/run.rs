//! One run: the next worker, the faults, and when time passes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use storagebox_core::layer::Layered;
use storagebox_core::{Backend, Ids, ManualClock, OneTimeTokens};
use storagebox_memory::MemoryStore;
use storagebox_proofs::choices::Choices;
use storagebox_proofs::gate::{Gate, lock};
use storagebox_proofs::workers::{self, Task, Workers, ready};

use crate::judge::judge;
use crate::mutants::Mutant;
use crate::scenario::Scenario;
use crate::told::{Known, Told};
use crate::work::worked;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) of_workers: workers::Limits,
    /// The number of times that the clock may advance in a run.
    pub(crate) moments: usize,
}

const STEPS: usize = 200;

pub(crate) const TOKEN: &str = "token";
pub(crate) const LEASE: Duration = Duration::from_secs(30);
/// The time for which results are replayed.
pub(crate) const REPLAY: Duration = Duration::from_secs(600);

pub(crate) struct Run {
    pub(crate) store: MemoryStore,
    pub(crate) clock: ManualClock,
    pub(crate) told: Arc<Mutex<Told>>,
    pub(crate) ids: Arc<Counted>,
    pub(crate) workers: Workers,
    /// For each worker, the facts that were known at the first step of its call, or `None` before that step.
    known: Vec<Arc<Mutex<Option<Known>>>>,
    /// The number of times that the clock may still advance in this run.
    moments: usize,
    /// Whether the time to replay results has ended.
    pub(crate) was_over: bool,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Of(workers::Event),
    Pass(Duration),
}

/// A source of predictable, unique ids.
#[derive(Debug, Default)]
pub(crate) struct Counted(AtomicUsize);

impl Ids for Counted {
    fn fresh(&self) -> String {
        format!("id{}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}

pub(crate) fn tokens_of(store: &dyn Backend, ids: &Arc<Counted>) -> OneTimeTokens {
    let name = "links".parse().expect("a name");
    let tokens = store.token_store(&name).expect("tokens");
    let (leases, records) = (store.lease_repo(&name).expect("leases"), store.dedup_repo(&name).expect("records"));
    OneTimeTokens::new(tokens, leases, records).replay(REPLAY).expect("a time").ids(ids.clone())
}

impl Run {
    pub(crate) fn new(scenario: &'static Scenario, mutant: Option<Mutant>, limits: Limits) -> Self {
        let (clock, ids, told) = (ManualClock::new(), Arc::<Counted>::default(), Arc::<Mutex<Told>>::default());
        let store = MemoryStore::builder().clock(clock.clone()).build().expect("a store");
        ready(tokens_of(&store, &ids).create([TOKEN])).expect("a token");
        let gate = Gate::default();
        let gates: Vec<_> = scenario.workers.iter().map(|_| gate.another()).collect();
        let known: Vec<_> = gates.iter().map(|_| Arc::default()).collect();
        let tokens: Vec<_> = gates.iter().map(|gate| tokens_of(&gated(&store, mutant, gate), &ids)).collect();
        let (is_told, is_known) = (Arc::clone(&told), known.clone());
        let begun = move |worker: usize| -> Task {
            *lock(&is_known[worker]) = None;
            let (told, known) = (Arc::clone(&is_told), Arc::clone(&is_known[worker]));
            let worked = worked(scenario.workers[worker], tokens[worker].clone(), told, known);
            Box::pin(async move { worked.await.map_err(|error| format!("{error:?}")) })
        };
        let workers = Workers::new(gates, limits.of_workers, begun);
        Self { store, clock, told, ids, workers, known, moments: limits.moments, was_over: false }
    }

    pub(crate) fn finish(&mut self, choices: &mut Choices) -> Result<(), String> {
        self.workers.begin_all();
        for _ in 0..STEPS {
            let events = self.events();
            if events.is_empty() {
                return judge(self);
            }
            self.apply(events[choices.of(events.len())]);
            if let Some(broken) = lock(&self.told).broken.take() {
                return Err(broken);
            }
        }
        Err("the run does not end".to_owned())
    }

    fn events(&self) -> Vec<Event> {
        let mut events: Vec<_> = self.workers.events().into_iter().map(Event::Of).collect();
        // Once no worker is at work, the judge lets time pass.
        if self.moments > 0 && self.workers.is_at_work() {
            events.extend([Event::Pass(LEASE), Event::Pass(REPLAY)]);
        }
        events
    }

    fn apply(&mut self, event: Event) {
        match event {
            Event::Of(event) => {
                if let workers::Event::Step(worker, _) = event {
                    self.set_off(worker);
                }
                self.workers.apply(event);
            }
            Event::Pass(time) => {
                self.moments -= 1;
                self.pass(time);
            }
        }
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        self.workers.trace.push(format!("{time:?} pass"));
        self.clock.advance(time);
        self.was_over |= time >= REPLAY;
        lock(&self.told).passed(time >= REPLAY);
    }

    /// Records the known facts before the first step of the worker's call.
    fn set_off(&self, worker: usize) {
        let mut known = lock(&self.known[worker]);
        if known.is_none() {
            *known = Some(self.known());
        }
    }

    /// Returns the facts that the callers and the store know now.
    pub(crate) fn known(&self) -> Known {
        let name = "links".parse().expect("a name");
        let records = self.store.dedup_repo(&name).expect("records");
        let is_recorded = !ready(records.list(None, 1)).expect("a page").entries.is_empty();
        lock(&self.told).known(is_recorded)
    }
}

fn gated(store: &MemoryStore, mutant: Option<Mutant>, gate: &Gate) -> Layered {
    let store: Arc<dyn Backend> = match mutant {
        Some(mutant) => Arc::new(Layered::new(Arc::new(store.clone()), Arc::new(mutant))),
        None => Arc::new(store.clone()),
    };
    Layered::new(store, Arc::new(gate.clone()))
}

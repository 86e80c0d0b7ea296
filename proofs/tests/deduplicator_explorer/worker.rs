//! A worker: calls of the real deduplicator, polled by hand.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};

use storagebox_core::layer::Response;
use storagebox_core::{Assigned, Backend, Deduplicator, Ids, Namespace, Result};

use crate::call::Call;
use crate::gate::Gate;
use crate::mutants::Mutant;
use crate::scenario::{Plan, Scenario};

type Running = Pin<Box<dyn Future<Output = Result<Done>> + Send>>;

/// The answer to a worker's call.
#[derive(Debug)]
pub(crate) enum Done {
    Assigned(Assigned),
    Recovered,
}

pub(crate) struct Worker {
    number: usize,
    plan: Plan,
    /// The number of the plan's banks that were found empty.
    turn: usize,
    calls: u32,
    current: Option<Current>,
}

struct Current {
    gate: Gate,
    running: Running,
    /// The answered store calls with their answers.
    conversation: Vec<(Call, Response)>,
    /// Whether one of the call's store calls may have been applied.
    begun: bool,
    /// Whether the requested bank has had a free item ever since the call began.
    stocked: bool,
}

/// A source of nonces that are the same in every replay of a run and unique within the run.
#[derive(Debug)]
pub(crate) struct Numbered {
    prefix: String,
    next: AtomicU32,
}

impl Numbered {
    pub(crate) fn from(prefix: String) -> Arc<Self> {
        let next = AtomicU32::new(0);
        Arc::new(Self { prefix, next })
    }
}

impl Ids for Numbered {
    fn fresh(&self) -> String {
        format!("{}.{}", self.prefix, self.next.fetch_add(1, Ordering::Relaxed))
    }
}

impl Worker {
    pub(crate) fn new(number: usize, scenario: &Scenario, mutant: Option<Mutant>) -> Self {
        let mut worker = Self { number, plan: scenario.workers[number], turn: 0, calls: 0, current: None };
        worker.start(scenario, mutant);
        worker
    }

    /// Returns the number of banks that the worker found empty, and the flags `begun` and `stocked` of the current
    /// call.
    pub(crate) fn standing(&self) -> (usize, Option<(bool, bool)>) {
        let current = self.current.as_ref();
        (self.turn, current.map(|current| (current.begun, current.stocked)))
    }

    pub(crate) fn calls(&self) -> u32 {
        self.calls
    }

    pub(crate) fn conversation(&self) -> &[(Call, Response)] {
        self.current.as_ref().map_or(&[], |current| &current.conversation)
    }

    /// Returns the store call that the worker waits for.
    pub(crate) fn asked(&self) -> Option<Call> {
        self.current.as_ref()?.gate.asked()
    }

    /// Returns whether the worker has no call, or only a call that has not begun.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.current.as_ref().is_none_or(|current| !current.begun)
    }

    /// Returns the id that needs an item, and the requested bank.
    pub(crate) fn wants(&self) -> Option<(&'static str, Namespace)> {
        match self.plan {
            Plan::Assign { id, banks } => Some((id, Namespace::new(*banks.get(self.turn)?).expect("a name"))),
            Plan::Recover => None,
        }
    }

    /// Marks the current call as begun, and records whether the requested bank has a free item.
    pub(crate) fn begin(&mut self, has_free: impl Fn(&Namespace) -> bool) {
        let wanted = self.wants();
        let current = self.current.as_mut().expect("a call under way");
        if !current.begun {
            current.begun = true;
            current.stocked = wanted.is_some_and(|(_, bank)| has_free(&bank));
        }
    }

    /// Returns whether the requested bank has had a free item ever since the call began.
    pub(crate) fn is_stocked(&self) -> bool {
        self.current.as_ref().is_some_and(|current| current.stocked)
    }

    /// Records whether the requested bank still has a free item. Must be called after each event.
    pub(crate) fn note_stock(&mut self, has_free: impl Fn(&Namespace) -> bool) {
        if let (true, Some((_, bank))) = (self.is_stocked(), self.wants()) {
            self.current.as_mut().expect("a call under way").stocked = has_free(&bank);
        }
    }

    /// Answers the worker's store call. Returns the worker's result, or `None` if the worker makes another store call.
    pub(crate) fn resume(&mut self, answer: Result<Response>) -> Option<Result<Done>> {
        let current = self.current.as_mut().expect("a call under way");
        if let (Some(call), Ok(reply)) = (current.gate.asked(), &answer) {
            current.conversation.push((call, reply.clone()));
        }
        current.gate.answer(answer);
        match current.poll() {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        }
    }

    /// Ends the current call, which was answered or dropped, and starts the next call of the plan.
    pub(crate) fn go_on(&mut self, done: Option<&Result<Done>>, scenario: &Scenario, mutant: Option<Mutant>) {
        self.current = None;
        match done {
            Some(Ok(Done::Assigned(Assigned::Empty))) => self.turn += 1,
            Some(Ok(_)) => return,
            Some(Err(_)) | None => {}
        }
        self.start(scenario, mutant);
    }

    /// Starts the next call and polls it until its first store call waits.
    fn start(&mut self, scenario: &Scenario, mutant: Option<Mutant>) {
        if self.wants().is_none() && !matches!(self.plan, Plan::Recover) {
            return;
        }
        let gate = Gate::default();
        let ids = Numbered::from(format!("w{}c{}", self.number, self.calls));
        let dedup = deduplicator(&gate, scenario, mutant).ids(ids);
        let running: Running = match self.wants() {
            Some((id, bank)) => Box::pin(async move { dedup.assign(id, bank).await.map(Done::Assigned) }),
            None => Box::pin(recover(dedup)),
        };
        self.calls += 1;
        let mut current = Current { gate, running, conversation: vec![], begun: false, stocked: false };
        assert!(current.poll().is_pending(), "no call answers without a store");
        self.current = Some(current);
    }
}

impl Current {
    fn poll(&mut self) -> Poll<Result<Done>> {
        self.running.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }
}

async fn recover(dedup: Deduplicator) -> Result<Done> {
    let recovery = dedup.recover(None, 1).await?;
    assert_eq!(recovery.next, None, "the gate lists one page");
    assert!(recovery.failed.is_empty(), "{recovery:?}");
    Ok(Done::Recovered)
}

fn deduplicator(gate: &Gate, scenario: &Scenario, mutant: Option<Mutant>) -> Deduplicator {
    let store = match mutant {
        Some(mutant) => mutant.before(gate.store()),
        None => gate.store(),
    };
    let with = |dedup: Deduplicator, (name, _): &(&'static str, _)| {
        dedup.bank(*name, store.item_bank(&name.parse().expect("a name")).expect("a bank")).expect("a bank")
    };
    let records = store.dedup_repo(&"records".parse().expect("a name")).expect("a repository");
    scenario.stock.iter().fold(Deduplicator::new(records), with)
}

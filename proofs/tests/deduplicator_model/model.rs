//! The events that may happen next.

use storagebox_proofs::explore::{CounterexampleOf, World};

use crate::properties::{self, Violation};
use crate::protocol::{Call, Progress, Protocol};
use crate::state::State;
use crate::stores::{BANKS, Bank, Reply, Request};
use crate::symbol::Name;

/// The size of the model. The numbers of calls and crashes are not limited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) workers: usize,
    pub(crate) ids: usize,
    pub(crate) stock: [u8; BANKS],
    pub(crate) refills: [u8; BANKS],
    pub(crate) in_flight: usize,
    /// Whether workers may also recover records.
    pub(crate) recovery: bool,
    /// Whether to check that `Empty` is only returned for a bank that was empty.
    pub(crate) watches_stock: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Step {
        worker: Name,
        call: Call,
        request: Request,
        reply: Reply,
        progress: Progress,
    },
    /// A worker sends a request and gets no reply. The worker will send the request again, or crash.
    Timeout {
        worker: Name,
        call: Call,
        request: Request,
    },
    Crash(Name),
    /// A request in flight takes effect. The request stays in flight as long as it could have another effect.
    Landing {
        request: Request,
        reply: Reply,
    },
    Refill(Bank),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Model {
    pub(crate) protocol: Protocol,
    pub(crate) scope: Scope,
}

/// A broken promise with its trace.
pub(crate) type Broken = CounterexampleOf<Model>;

impl World for Model {
    type State = State;
    type Event = Event;
    type Violation = Violation;

    fn initial(&self) -> State {
        let mut state = State::new();
        for (bank, items) in (0..).zip(self.scope.stock) {
            (0..items).for_each(|_| state.stores.refill(bank));
        }
        state
    }

    fn successors(&self, state: &State, next: &mut Vec<(Event, State)>) {
        for (worker, call) in state.calls() {
            self.steps(state, worker, call, next);
            self.timeout(state, worker, call, next);
            self.crash(state, worker, next);
        }
        self.beginnings(state, next);
        self.landings(state, next);
        self.refills(state, next);
    }

    fn canonical(&self, state: State) -> State {
        state.canonical(self.protocol)
    }

    fn check(&self, state: &State) -> Result<(), Violation> {
        properties::check(self, state)
    }
}

impl Model {
    /// Adds the events in which an idle worker begins a call.
    fn beginnings(&self, state: &State, next: &mut Vec<(Event, State)>) {
        if state.calls().count() == self.scope.workers {
            return;
        }
        // All idle workers are interchangeable, so the first idle worker is enough.
        if let Some(worker) = state.workers.iter().position(|worker| worker.call.is_none()) {
            for call in self.possible_calls(state) {
                self.steps(state, worker, call, next);
                self.timeout(state, worker, call, next);
            }
        }
    }

    fn possible_calls(&self, state: &State) -> impl Iterator<Item = Call> {
        let Scope { recovery, watches_stock: always_stocked, .. } = self.scope;
        state.ids().take(self.scope.ids).flat_map(move |id| {
            let assignments = (0..BANKS as Bank).map(move |bank| Call { always_stocked, ..Call::assign(id, bank) });
            assignments.chain(recovery.then(|| Call::recover(id)))
        })
    }

    pub(crate) fn steps(&self, state: &State, worker: usize, mut call: Call, next: &mut Vec<(Event, State)>) {
        let name = state.workers[worker].name;
        let mut sent = *state;
        let request = call.request(self.protocol, || sent.draw_nonce());
        for choice in 0..sent.stores.choices(request) {
            let mut after = sent;
            let reply = after.perform(request, choice);
            let progress = call.hear(self.protocol, reply);
            after.advance(worker, call.id, progress);
            let event = Event::Step { worker: name, call, request, reply, progress };
            next.push((event, after));
        }
    }

    fn timeout(&self, state: &State, worker: usize, mut call: Call, next: &mut Vec<(Event, State)>) {
        let mut after = *state;
        let request = call.request(self.protocol, || after.draw_nonce());
        if after.stores.can_change(request) && self.has_room_for(request, state) {
            after.launch(request);
            after.workers[worker].call = Some(call);
            let event = Event::Timeout { worker: state.workers[worker].name, call, request };
            next.push((event, after));
        }
    }

    fn has_room_for(&self, request: Request, state: &State) -> bool {
        let in_flight = state.in_flight.iter().flatten().count();
        in_flight < self.scope.in_flight && !state.in_flight.contains(&Some(request))
    }

    fn crash(&self, state: &State, worker: usize, next: &mut Vec<(Event, State)>) {
        let mut after = *state;
        after.workers[worker].call = None;
        next.push((Event::Crash(state.workers[worker].name), after));
    }

    fn landings(&self, state: &State, next: &mut Vec<(Event, State)>) {
        for request in state.in_flight.into_iter().flatten() {
            for choice in 0..state.stores.choices(request) {
                let mut after = *state;
                let reply = after.perform(request, choice);
                next.push((Event::Landing { request, reply }, after));
            }
        }
    }

    fn refills(&self, state: &State, next: &mut Vec<(Event, State)>) {
        for (bank, (stock, refills)) in (0..).zip(self.scope.stock.into_iter().zip(self.scope.refills)) {
            if state.stores.added.of_bank(bank).len() < stock + refills {
                let mut after = *state;
                after.stores.refill(bank);
                next.push((Event::Refill(bank), after));
            }
        }
    }
}

//! The events that may happen next.

use storagebox_proofs::explore::World;

use crate::plan::Plan;
use crate::promises::{Promise, Violation, check};
use crate::state::{Endpoint, State, TokenId};
use crate::store::{Reply, Request, Token, Write};
use crate::worker::{At, Worker};

/// The size of the model. The numbers of crashes, copies and deliveries are not limited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) workers: usize,
    /// The number of token ids. An attempt stops if it needs an id and no id is left.
    pub(crate) ids: u8,
    pub(crate) in_flight: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Tokens {
    pub(crate) plan: Plan,
    pub(crate) scope: Scope,
    pub(crate) demands: &'static [Promise],
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Received(Endpoint, TokenId),
    Read(Worker, bool),
    Wrote(Request, Reply),
    Sent(TokenId),
    Acknowledged(Endpoint),
    /// The worker gets no reply to the request and gives up.
    Unanswered(Request),
    /// The request is applied now, and will be applied once more.
    Doubled(Request),
    Landed(Request),
    Crashed(Worker),
    Expired(TokenId),
}

impl World for Tokens {
    type State = State;
    type Event = Event;
    type Violation = Violation;

    fn initial(&self) -> State {
        State::new()
    }

    fn canonical(&self, state: State) -> State {
        state.canonical()
    }

    fn check(&self, state: &State) -> Result<(), Violation> {
        check(self, state)
    }

    fn successors(&self, state: &State, next: &mut Vec<(Event, State)>) {
        self.receptions(state, next);
        for place in 0..state.workers.len() {
            if let Some(worker) = state.workers[place] {
                self.steps(state, place, worker, next);
                self.losses(state, place, worker, next);
                next.push((Event::Crashed(worker), with_worker(*state, place, None)));
            }
        }
        self.landings(state, next);
        self.expiries(state, next);
    }
}

fn with_worker(mut state: State, place: usize, worker: Option<Worker>) -> State {
    state.workers[place] = worker;
    state
}

impl Tokens {
    /// Adds the events in which a free worker receives a copy.
    fn receptions(&self, state: &State, next: &mut Vec<(Event, State)>) {
        if state.workers.iter().flatten().count() == self.scope.workers {
            return;
        }
        // All free workers are interchangeable, so the first free worker is enough.
        let Some(free) = state.workers.iter().position(Option::is_none) else { return };
        for (endpoint, token) in state.copies() {
            let worker = Worker::new(&self.plan, endpoint, token);
            next.push((Event::Received(endpoint, token), with_worker(*state, free, Some(worker))));
        }
    }

    /// Adds the worker's next step, with the reply of the store.
    pub(crate) fn steps(&self, state: &State, place: usize, worker: Worker, next: &mut Vec<(Event, State)>) {
        match worker.at {
            At::Load | At::Check | At::LoadAgain => self.reads(state, place, worker, next),
            At::Dispatch => next.extend(self.dispatch(state, place, worker)),
            At::Acknowledge => {
                let mut after = with_worker(*state, place, None);
                after.acknowledged[worker.endpoint.slot()] = true;
                next.push((Event::Acknowledged(worker.endpoint), after));
            }
            _ => next.extend(self.write(state, place, worker)),
        }
    }

    fn reads(&self, state: &State, place: usize, worker: Worker, next: &mut Vec<(Event, State)>) {
        let there = state.token(worker.incoming) == Token::Live;
        for seems_there in [there, true] {
            let mut after = worker;
            after.read(&self.plan, state, seems_there);
            next.push((Event::Read(worker, seems_there), with_worker(*state, place, Some(after))));
            if there || !self.plan.stale_tokens {
                return;
            }
        }
    }

    fn dispatch(&self, state: &State, place: usize, mut worker: Worker) -> Option<(Event, State)> {
        let token = worker.dispatch(&self.plan)?;
        let mut after = with_worker(*state, place, Some(worker));
        after.hasty |= state.token(token) == Token::Unknown;
        after.sent = after.sent.with(token);
        Some((Event::Sent(token), after))
    }

    fn write(&self, state: &State, place: usize, mut worker: Worker) -> Option<(Event, State)> {
        let mut after = *state;
        let request = worker.request(&self.plan, &mut after, self.scope.ids)?;
        let reply = after.perform(&self.plan, request);
        after.workers[place] = worker.hear(&self.plan, &after, reply);
        Some((Event::Wrote(request, reply), after))
    }

    /// Adds two faults of the worker's next request: the worker gives up before the request is applied, or the request
    /// is applied now and once more later.
    fn losses(&self, state: &State, place: usize, mut worker: Worker, next: &mut Vec<(Event, State)>) {
        let mut sent = *state;
        let flying = state.in_flight.iter().flatten().count();
        let Some(room) = state.in_flight.iter().position(Option::is_none) else { return };
        if flying == self.scope.in_flight {
            return;
        }
        let Some(request) = worker.request(&self.plan, &mut sent, self.scope.ids) else { return };
        sent.in_flight[room] = Some(request);
        next.push((Event::Unanswered(request), with_worker(sent, place, None)));
        if self.plan.resends && matches!(request.write, Write::Create(_)) {
            let reply = sent.perform(&self.plan, request);
            let after = worker.hear(&self.plan, &sent, reply);
            next.push((Event::Doubled(request), with_worker(sent, place, after)));
        }
    }

    fn landings(&self, state: &State, next: &mut Vec<(Event, State)>) {
        for (place, request) in state.in_flight.iter().enumerate() {
            if let Some(request) = *request {
                let mut after = *state;
                after.in_flight[place] = None;
                after.perform(&self.plan, request);
                next.push((Event::Landed(request), after));
            }
        }
    }

    fn expiries(&self, state: &State, next: &mut Vec<(Event, State)>) {
        let live = (0..).zip(state.tokens).filter(|(_, token)| self.plan.expires && *token == Token::Live);
        for (token, _) in live {
            let mut after = *state;
            after.tokens[usize::from(token)] = Token::Gone;
            next.push((Event::Expired(token), after));
        }
    }
}

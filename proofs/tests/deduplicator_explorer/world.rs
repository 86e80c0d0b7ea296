//! The state of a run: two workers, two stores, the requests in flight, and the answers.

use std::collections::VecDeque;

use storagebox_core::layer::Response;
use storagebox_core::{Certainty, Error, Result};

use crate::answers::{Answers, told};
use crate::call::{Call, Shown};
use crate::event::Event;
use crate::mutants::Mutant;
use crate::properties::{Clause, Violation};
use crate::scenario::Scenario;
use crate::stores::Stores;
use crate::worker::{Done, Worker};

pub(crate) struct World {
    pub(crate) scenario: &'static Scenario,
    mutant: Option<Mutant>,
    pub(crate) stores: Stores,
    pub(crate) workers: Vec<Worker>,
    /// The late requests. No worker waits for their replies.
    pub(crate) late: VecDeque<Late>,
    pub(crate) refilled: Vec<bool>,
    pub(crate) faults_left: usize,
    pub(crate) answers: Answers,
    /// The events as text for people, or `None` if no trace is recorded.
    trace: Option<Vec<String>>,
}

#[derive(Clone, Debug, Hash)]
pub(crate) struct Late {
    pub(crate) call: Call,
    pub(crate) copies: usize,
}

impl World {
    pub(crate) fn new(scenario: &'static Scenario, mutant: Option<Mutant>, faults: usize, traced: bool) -> Self {
        Self {
            scenario,
            mutant,
            stores: Stores::open(scenario, mutant),
            workers: (0..scenario.workers.len()).map(|number| Worker::new(number, scenario, mutant)).collect(),
            late: VecDeque::new(),
            refilled: vec![false; scenario.refills.len()],
            faults_left: faults,
            answers: Answers::default(),
            trace: traced.then(Vec::new),
        }
    }

    pub(crate) fn trace(&self) -> &[String] {
        self.trace.as_deref().unwrap_or_default()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        for (number, worker) in self.workers.iter().enumerate() {
            let Some(call) = worker.asked() else { continue };
            events.push(Event::Deliver(number));
            if self.faults_left > 0 {
                events.extend([Event::Crash(number), Event::Fail(number)]);
                events.extend(call.writes().then_some(Event::Double(number)));
            }
        }
        events.extend((0..self.late.len()).map(Event::Land));
        let waiting = (0..self.refilled.len()).filter(|item| !self.refilled[*item]);
        events.extend(waiting.map(Event::Refill));
        events
    }

    /// Returns whether no call is in progress; requests may still be in flight.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.workers.iter().all(Worker::is_at_rest)
    }

    pub(crate) fn apply(&mut self, event: Event) -> Result<(), Violation> {
        let judged = match event {
            Event::Deliver(worker) => self.deliver(worker),
            Event::Fail(worker) => self.fail(worker),
            Event::Crash(worker) => self.crash(worker),
            Event::Double(worker) => self.double(worker),
            Event::Land(copy) => self.land(copy),
            Event::Refill(item) => self.refill(item),
        };
        self.note_stock();
        judged
    }

    /// Stops the workers permanently, in the middle of their calls.
    pub(crate) fn stop(&mut self) {
        for worker in std::mem::take(&mut self.workers) {
            if let (false, Some(call)) = (worker.is_at_rest(), worker.asked()) {
                self.tell(|| format!("in flight: {call}"));
                self.leave_behind(call, 1);
            }
        }
    }

    pub(crate) fn land_all(&mut self) -> Result<(), Violation> {
        while self.has_in_flight() {
            self.land(0)?;
        }
        Ok(())
    }

    pub(crate) fn has_in_flight(&self) -> bool {
        !self.late.is_empty()
    }

    fn deliver(&mut self, number: usize) -> Result<(), Violation> {
        let call = self.asked(number);
        self.begin(number);
        let reply = self.stores.land(&call);
        self.tell(|| format!("worker {number}: {call} -> {}", Shown(&reply)));
        self.resume(number, Ok(reply))
    }

    fn fail(&mut self, number: usize) -> Result<(), Violation> {
        let call = self.asked(number);
        self.tell(|| format!("worker {number}: {call} -> outcome unknown, two copies in flight"));
        self.leave_behind(call, 2);
        self.faults_left -= 1;
        self.resume(number, Err(Error::unknown("the reply was lost")))
    }

    fn crash(&mut self, number: usize) -> Result<(), Violation> {
        let call = self.asked(number);
        self.tell(|| format!("worker {number}: crashes; in flight twice: {call}"));
        self.leave_behind(call, 2);
        self.faults_left -= 1;
        self.workers[number].go_on(None, self.scenario, self.mutant);
        Ok(())
    }

    fn double(&mut self, number: usize) -> Result<(), Violation> {
        let call = self.asked(number);
        self.tell(|| format!("worker {number}: a second copy is in flight: {call}"));
        self.leave_behind(call, 1);
        self.begin(number);
        self.faults_left -= 1;
        Ok(())
    }

    fn land(&mut self, number: usize) -> Result<(), Violation> {
        let late = &mut self.late[number];
        let call = late.call.clone();
        late.copies -= 1;
        if late.copies == 0 {
            self.late.remove(number);
        }
        let reply = self.stores.land(&call);
        self.tell(|| format!("late: {call} -> {}", Shown(&reply)));
        Ok(())
    }

    fn refill(&mut self, number: usize) -> Result<(), Violation> {
        let (bank, item) = self.scenario.refills[number];
        self.stores.refill(bank, item);
        self.refilled[number] = true;
        self.tell(|| format!("refill: item {item} comes into bank {bank}"));
        Ok(())
    }

    fn asked(&self, worker: usize) -> Call {
        self.workers[worker].asked().expect("a worker that waits")
    }

    fn leave_behind(&mut self, call: Call, copies: usize) {
        if call.writes() {
            self.late.push_back(Late { call, copies });
        }
    }

    /// Answers the worker's store call, and checks the worker's result if the worker is done.
    fn resume(&mut self, number: usize, answer: Result<Response>) -> Result<(), Violation> {
        let Some(done) = self.workers[number].resume(answer) else {
            return Ok(());
        };
        self.tell(|| format!("worker {number} is answered {}", shown(&done)));
        let judged = self.judge(number, &done);
        self.workers[number].go_on(Some(&done), self.scenario, self.mutant);
        judged
    }

    fn judge(&mut self, number: usize, done: &Result<Done>) -> Result<(), Violation> {
        let worker = &self.workers[number];
        match (done, worker.wants()) {
            (Ok(Done::Assigned(assigned)), Some((id, bank))) => {
                let never_empty = worker.is_stocked() && !self.stores.is_empty(&bank);
                self.answers.add(id, assigned, never_empty)
            }
            (Ok(_), _) => Ok(()),
            (Err(error), _) => judge_error(error),
        }
    }

    fn begin(&mut self, number: usize) {
        self.workers[number].begin(|bank| !self.stores.is_empty(bank));
    }

    fn note_stock(&mut self) {
        for worker in &mut self.workers {
            worker.note_stock(|bank| !self.stores.is_empty(bank));
        }
    }

    pub(crate) fn tell(&mut self, what: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(what());
        }
    }
}

/// Checks that the error has an unknown outcome and is retryable.
fn judge_error(error: &Error) -> Result<(), Violation> {
    if error.certainty() == Certainty::Unknown && error.is_retryable() {
        return Ok(());
    }
    Violation::found(Clause::A3, format!("the error does not ask the caller to call again: {error}"))
}

fn shown(done: &Result<Done>) -> String {
    match done {
        Ok(Done::Assigned(assigned)) => told(assigned),
        Ok(Done::Recovered) => "that all is recovered".to_owned(),
        Err(error) => error.to_string(),
    }
}

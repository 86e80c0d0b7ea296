//! Records a history while the calls happen.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::attempt::{Attempt, History, Response};

/// Records the history of a run, from any number of threads.
///
/// Both ends of an attempt get their times under one lock, the first before the call and the second after it. The
/// recorded interval thus encloses the real one: two attempts may overlap in the history although they did not in the
/// run, but an attempt is recorded as over before another begins only if it was.
#[derive(Debug)]
pub struct Recorder<Op, Reply> {
    log: Mutex<Log<Op, Reply>>,
}

#[derive(Debug)]
struct Log<Op, Reply> {
    now: usize,
    history: History<Op, Reply>,
}

impl<Op, Reply> Log<Op, Reply> {
    fn tick(&mut self) -> usize {
        let at = self.now;
        self.now += 1;
        at
    }
}

impl<Op, Reply> Recorder<Op, Reply> {
    /// Creates an empty recorder.
    pub fn new() -> Self {
        Self { log: Mutex::new(Log { now: 0, history: History::empty() }) }
    }

    /// Records that `client` is about to call `op`.
    pub fn invoke(&self, client: usize, op: Op) -> Pending<'_, Op, Reply> {
        let mut log = self.lock();
        let invoked = log.tick();
        let position = log.history.attempts.len();
        log.history.attempts.push(Attempt { client, op, invoked, response: None });
        Pending { recorder: self, position }
    }

    /// Returns the history so far. Attempts that are still pending have an unknown outcome.
    pub fn history(&self) -> History<Op, Reply>
    where
        Op: Clone,
        Reply: Clone,
    {
        self.lock().history.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Log<Op, Reply>> {
        // If a client panics elsewhere, the history of the others must not be lost.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Op, Reply> Default for Recorder<Op, Reply> {
    fn default() -> Self {
        Self::new()
    }
}

/// An attempt that has no response yet.
///
/// Drop this value if the outcome is unknown: a call that timed out, a task that was cancelled.
#[derive(Debug)]
#[must_use = "an attempt without a response stays pending: its outcome counts as unknown"]
pub struct Pending<'r, Op, Reply> {
    recorder: &'r Recorder<Op, Reply>,
    position: usize,
}

impl<Op, Reply> Pending<'_, Op, Reply> {
    /// Records that the call has returned `reply`.
    pub fn respond(self, reply: Reply) {
        let mut log = self.recorder.lock();
        let at = log.tick();
        // Attempts are never removed, so the position is still valid.
        log.history.attempts[self.position].response = Some(Response { at, reply });
    }
}

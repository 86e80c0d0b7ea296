//! The messages that a loop holds, waiting or running.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use storagebox_core::{BoxError, Error, ErrorKind, Key, Message, Outcome, ProcessError, Processor};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tracing::debug;

use super::busy::Busy;
use super::consumed::Consumed;
use super::held::{Held, Settled};
use super::missed::Missed;
use super::options::Settings;
use super::turn::Turn;
use crate::delivery::{Delivery, Received, Settle};

const NOT_NOTED: &str = "the queue did not record that the message is about to run alone, so the message did not run";

pub(super) struct Worker<D> {
    processor: Processor,
    settings: Settings,
    waiting: VecDeque<Waiting<D>>,
    busy: Busy,
    turn: Turn,
    running: JoinSet<Ended>,
    jitter: fastrand::Rng,
    consumed: Consumed,
    missed: Missed,
}

struct Waiting<D> {
    held: Held<D>,
    message: Message,
}

pub(super) struct Ended {
    /// The processed message, or `None` if the copy was settled without being processed.
    pub(super) processed: Option<Processed>,
    pub(super) settle: Settle,
    pub(super) settled: Settled,
}

pub(super) struct Processed {
    message: Message,
    pub(super) result: Result<Outcome, ProcessError>,
}

impl<D: Delivery> Worker<D> {
    pub(super) fn new(processor: &Processor, settings: Settings) -> Self {
        let (waiting, busy, turn) = (VecDeque::new(), Busy::new(settings.lease), Turn::here());
        let (running, jitter) = (JoinSet::new(), fastrand::Rng::new());
        let (consumed, missed) = (Consumed::default(), Missed::default());
        Self { processor: processor.clone(), settings, waiting, busy, turn, running, jitter, consumed, missed }
    }

    pub(super) fn has_room(&self) -> bool {
        let held = self.running.len() + self.waiting.len();
        held < self.settings.concurrency.saturating_add(self.settings.prefetch) && self.held_up_until().is_none()
    }

    /// Returns until when the loop takes no messages because a message must run alone, or `None` if the loop may take
    /// messages.
    pub(super) fn held_up_until(&self) -> Option<Instant> {
        // The lone message may end the worker, and with it every message that the worker has taken.
        self.busy.until().filter(|_| self.busy.is_alone() || self.suspect().is_some())
    }

    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Adds a delivery to the waiting messages. Parks the delivery if it is malformed, or if its message ended too many
    /// workers.
    pub(super) fn receive(&mut self, delivery: D, entity_of: &impl Fn(&Received) -> Result<Key, BoxError>) {
        let held = Held::new(delivery, self.settings.lease);
        match self.settings.policy.check(held.delivery().lapsed()).and_then(|()| message(held.delivery(), entity_of)) {
            Ok(message) => self.waiting.push_back(Waiting { held, message }),
            Err(error) => {
                debug!(%error, "a delivery is parked unprocessed");
                self.put(held, Settle::Park);
            }
        }
    }

    /// Counts an error of the stream. If a retry cannot succeed, gives back all waiting messages and returns true: the
    /// loop must end.
    pub(super) fn misses(&mut self, error: BoxError) -> bool {
        self.consumed.stream_errors += 1;
        let last = self.missed.note(error);
        self.ends_with(last)
    }

    fn ends_with(&mut self, error: Option<Arc<Error>>) -> bool {
        let is_over = error.is_some();
        if is_over {
            self.consumed.error = error;
            self.give_back();
        }
        is_over
    }

    /// Begins to process waiting messages, the oldest first, as far as the concurrency and the entities in progress
    /// allow.
    pub(super) fn begin(&mut self) {
        while self.running.len() < self.settings.concurrency {
            let next = self.next();
            let Some(Waiting { held, message }) = next.and_then(|at| self.waiting.remove(at)) else { return };
            self.busy.begin(message.entity.clone(), held.is_suspect());
            let turn = held.is_suspect().then(|| self.turn.clone());
            let (processor, policy, share) = (self.processor.clone(), self.settings.policy, self.jitter.f64());
            self.running.spawn(async move {
                let result = process(&held, &message, &processor, turn).await;
                let settle = policy.settle(&result, held.delivery().attempt(), share);
                let settled = held.settle(settle).await;
                Ended { processed: Some(Processed { message, result }), settle, settled }
            });
        }
    }

    /// Returns the index of the next message to run, or `None` if no message may begin now.
    fn next(&self) -> Option<usize> {
        // A message that may have crashed a worker is next, and begins once nothing else runs, so that a crash cannot
        // be the fault of another message. Without such a message, the oldest message whose entity is free is next.
        if self.busy.is_alone() {
            return None;
        }
        match self.suspect() {
            Some(suspect) => Some(suspect).filter(|_| self.busy.until().is_none()),
            None => self.waiting.iter().position(|waiting| !self.busy.has(&waiting.message.entity)),
        }
    }

    /// Returns the index of the oldest message that must run alone and is the first of its entity.
    fn suspect(&self) -> Option<usize> {
        let entity = |at: usize| &self.waiting[at].message.entity;
        let is_next = |at: usize| !self.busy.has(entity(at)) && !(0..at).any(|older| entity(older) == entity(at));
        (0..self.waiting.len()).find(|at| self.waiting[*at].held.is_suspect() && is_next(*at))
    }

    pub(super) fn give_back(&mut self) {
        for Waiting { held, .. } in std::mem::take(&mut self.waiting) {
            self.put(held, Settle::Retry { after: Duration::ZERO });
        }
    }

    fn put(&mut self, held: Held<D>, settle: Settle) {
        self.running.spawn(async move { Ended { processed: None, settle, settled: held.settle(settle).await } });
    }

    /// Waits until a copy is settled. Returns `None` if no copy is in progress.
    pub(super) async fn ended(&mut self) -> Option<Result<Ended, JoinError>> {
        self.running.join_next().await
    }

    /// Counts a settled copy and frees its entity. If the queue refuses every settlement, gives back all waiting
    /// messages and returns true: the loop must end.
    pub(super) fn count(&mut self, ended: Result<Ended, JoinError>) -> bool {
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // A task is aborted only at the end of the loop or of the runtime.
                Err(_) => return false,
            },
        };
        self.consumed.count(&ended);
        if let Some(processed) = ended.processed {
            self.observe(processed);
        }
        let last = ended.settled.result.err().and_then(|error| self.missed.note_unsettled(error));
        self.ends_with(last)
    }

    fn observe(&mut self, Processed { message: Message { id, token, entity, body }, result }: Processed) {
        self.busy.end(&entity);
        if let Some(observer) = &self.settings.observer {
            observer(&Received { id, token, body }, &result);
        }
    }

    pub(super) fn consumed(self) -> Consumed {
        self.consumed
    }
}

/// Reads the message of a delivery. Returns an error if `entity_of` panics.
fn message(
    delivery: &impl Delivery,
    entity_of: &impl Fn(&Received) -> Result<Key, BoxError>,
) -> Result<Message, BoxError> {
    // The panic would end this loop, and every later loop that receives the message.
    let received = delivery.received()?;
    let entity = catch_unwind(AssertUnwindSafe(|| entity_of(received))).map_err(|_| "`entity_of` panicked")??;
    let Received { id, token, body } = received.clone();
    Ok(Message { id, token, entity, body })
}

/// Processes a message. With a `turn`, first waits until no other message runs alone, but at most for one lease, and
/// until the queue has recorded the run.
async fn process<D: Delivery>(
    held: &Held<D>,
    message: &Message,
    processor: &Processor,
    turn: Option<Turn>,
) -> Result<Outcome, ProcessError> {
    let Some(turn) = turn else { return handle(processor, message).await };
    let _turn = turn.take(held.lease()).await;
    match held.begin_alone().await {
        Ok(()) => handle(processor, message).await,
        Err(error) => Err(ProcessError::Store(Error::new(ErrorKind::Unavailable, NOT_NOTED).caused_by(error))),
    }
}

/// Calls the processor. Returns an error if the handler panics.
async fn handle(processor: &Processor, message: &Message) -> Result<Outcome, ProcessError> {
    let processing = AssertUnwindSafe(processor.process(message)).catch_unwind();
    processing.await.unwrap_or_else(|_| Err(ProcessError::Handler("the handler panicked".into())))
}

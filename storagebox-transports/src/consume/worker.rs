//! The messages that a loop holds: who waits, who runs.

use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::time::Duration;

use futures_util::FutureExt;
use storagebox_core::{BoxError, Key, Message, Outcome, ProcessError, Processor};
use tokio::task::{JoinError, JoinSet};
use tracing::debug;

use super::consumed::Consumed;
use super::held::{Held, Settled};
use super::options::Settings;
use super::verdict::Policy;
use crate::delivery::{Delivery, Received, Settle};

pub(super) struct Worker<D> {
    processor: Processor,
    settings: Settings,
    /// In the order of their arrival.
    waiting: VecDeque<Waiting<D>>,
    /// The entities whose message is being processed.
    busy: HashSet<Key>,
    running: JoinSet<Ended>,
    jitter: fastrand::Rng,
    consumed: Consumed,
}

struct Waiting<D> {
    held: Held<D>,
    message: Message,
}

/// A copy that the loop has done with.
pub(super) struct Ended {
    /// `None` for a copy that was settled without being processed.
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
        let (waiting, busy, running) = (VecDeque::new(), HashSet::new(), JoinSet::new());
        let (jitter, consumed) = (fastrand::Rng::new(), Consumed::default());
        Self { processor: processor.clone(), settings, waiting, busy, running, jitter, consumed }
    }

    pub(super) fn has_room(&self) -> bool {
        self.running.len() + self.waiting.len() < self.settings.concurrency.saturating_add(self.settings.prefetch)
    }

    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes a delivery in. What is no message is parked.
    pub(super) fn receive(&mut self, delivery: D, entity_of: &impl Fn(&Received) -> Result<Key, BoxError>) {
        let held = Held::new(delivery, self.settings.lease);
        match message(held.delivery(), entity_of) {
            Ok(message) => self.waiting.push_back(Waiting { held, message }),
            Err(error) => {
                debug!(%error, "a delivery is parked unprocessed");
                self.put(held, Settle::Park);
            }
        }
    }

    /// Counts an error of the stream.
    pub(super) fn miss(&mut self, error: &BoxError) {
        debug!(%error, "the queue gave no delivery");
        self.consumed.stream_errors += 1;
    }

    /// Begins with the oldest messages whose entities are free.
    pub(super) fn begin(&mut self) {
        while self.running.len() < self.settings.concurrency {
            let is_free = |waiting: &Waiting<D>| !self.busy.contains(&waiting.message.entity);
            let oldest = self.waiting.iter().position(is_free);
            let Some(Waiting { held, message }) = oldest.and_then(|at| self.waiting.remove(at)) else { return };
            self.busy.insert(message.entity.clone());
            let (processor, policy) = (self.processor.clone(), self.settings.policy);
            self.running.spawn(work(held, message, processor, policy, self.jitter.f64()));
        }
    }

    /// Gives back all that only waits.
    pub(super) fn give_back(&mut self) {
        for Waiting { held, .. } in std::mem::take(&mut self.waiting) {
            self.put(held, Settle::Retry { after: Duration::ZERO });
        }
    }

    fn put(&mut self, held: Held<D>, settle: Settle) {
        self.running.spawn(async move { Ended { processed: None, settle, settled: held.settle(settle).await } });
    }

    /// Waits for the next copy that is done with; `None` if none is under way.
    pub(super) async fn ended(&mut self) -> Option<Result<Ended, JoinError>> {
        self.running.join_next().await
    }

    /// Counts a copy and frees its entity.
    pub(super) fn count(&mut self, ended: Result<Ended, JoinError>) {
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // Nobody aborts a task but the loop's end, and the runtime's.
                Err(_) => return,
            },
        };
        self.consumed.count(&ended);
        let Some(Processed { message: Message { id, token, entity, body }, result }) = ended.processed else { return };
        self.busy.remove(&entity);
        if let Some(observer) = &self.settings.observer {
            observer(&Received { id, token, body }, &result);
        }
    }

    pub(super) fn consumed(&self) -> Consumed {
        self.consumed
    }
}

fn message(
    delivery: &impl Delivery,
    entity_of: &impl Fn(&Received) -> Result<Key, BoxError>,
) -> Result<Message, BoxError> {
    let received = delivery.received()?;
    let entity = entity_of(received)?;
    let Received { id, token, body } = received.clone();
    Ok(Message { id, token, entity, body })
}

async fn work<D: Delivery>(held: Held<D>, message: Message, processor: Processor, policy: Policy, share: f64) -> Ended {
    let result = process(&processor, &message).await;
    let settle = policy.settle(&result, held.delivery().attempt(), share);
    let settled = held.settle(settle).await;
    Ended { processed: Some(Processed { message, result }), settle, settled }
}

/// A message on which the handler panics must not end the loop, nor each of its successors.
async fn process(processor: &Processor, message: &Message) -> Result<Outcome, ProcessError> {
    let processing = AssertUnwindSafe(processor.process(message)).catch_unwind();
    processing.await.unwrap_or_else(|_| Err(ProcessError::Handler("the handler panicked".into())))
}

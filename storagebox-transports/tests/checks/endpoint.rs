//! An endpoint whose handler counts its effects in the entity's state.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use storagebox_core::{
    Backend, BoxError, Decision, Destination, EntityLedger, Handler, Joins, Key, Message, OpId, Outcome, Payload,
    ProcessError, Processor, TokenStore, async_trait,
};
use storagebox_memory::MemoryStore;
use storagebox_transports::{ConsumeOptions, Consumed, Received, consume};
use tokio::sync::{Notify, Semaphore};

use super::{Deliveries, Queue};

/// Returns the entity of a message: the text of the message's body.
pub(crate) fn entity_of(received: &Received) -> Result<Key, BoxError> {
    Ok(String::from_utf8_lossy(received.body.as_bytes()).as_ref().try_into()?)
}

/// A handler that waits for the test and then adds 1 to the state of the entity.
pub(crate) struct Counts {
    gate: Semaphore,
    begun: AtomicUsize,
    has_begun: Notify,
}

impl Counts {
    /// Lets the next `runs` runs of the handler pass.
    pub(crate) fn let_pass(&self, runs: usize) {
        self.gate.add_permits(runs);
    }

    /// Returns how many runs of the handler have begun.
    pub(crate) fn runs(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }

    pub(crate) async fn has_begun(&self, runs: usize) {
        loop {
            let next = self.has_begun.notified();
            if self.runs() >= runs {
                return;
            }
            next.await;
        }
    }
}

#[async_trait]
impl Handler for Counts {
    async fn handle(&self, state: Option<Payload>, _: &Message) -> Result<Decision, BoxError> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.has_begun.notify_waiters();
        self.gate.acquire().await?.forget();
        Ok(Decision::put(format!("{}", count(state) + 1))?)
    }
}

fn count(state: Option<Payload>) -> usize {
    state.map_or(0, |state| String::from_utf8_lossy(state.as_bytes()).parse().unwrap())
}

/// A processor on a memory store, with a method that sends messages to the queue.
pub(crate) struct Endpoint {
    pub(crate) processor: Processor,
    pub(crate) handler: Arc<Counts>,
    pub(crate) tokens: Arc<dyn TokenStore>,
    entities: Arc<dyn EntityLedger>,
    queue: Destination,
}

impl Endpoint {
    /// Creates an endpoint whose handler does not wait.
    pub(crate) fn new(queue: &impl Queue) -> Self {
        let endpoint = Self::held(queue);
        endpoint.handler.let_pass(Semaphore::MAX_PERMITS / 2);
        endpoint
    }

    /// Creates an endpoint whose handler waits until [`Counts::let_pass`] is called.
    pub(crate) fn held(queue: &impl Queue) -> Self {
        let handler = Counts { gate: Semaphore::new(0), begun: AtomicUsize::new(0), has_begun: Notify::new() };
        let (store, handler) = (MemoryStore::new(), Arc::new(handler));
        let tokens = store.token_store(&"tokens".parse().unwrap()).unwrap();
        let entities = store.entity_ledger(&"entities".parse().unwrap(), &Joins::default()).unwrap();
        let handle = {
            let handler = Arc::clone(&handler);
            move |state, message: Message| {
                let handler = Arc::clone(&handler);
                async move { handler.handle(state, &message).await }
            }
        };
        let processor = Processor::new(Arc::clone(&entities), Arc::clone(&tokens), handle);
        let processor = processor.sends(Arc::clone(&tokens), Arc::new(queue.dispatcher()));
        Self { processor, handler, tokens, entities, queue: queue.name() }
    }

    /// Sends a message for this entity. A call with the same `op` sends a copy of the same message.
    pub(crate) async fn send(&self, op: &str, entity: &str) {
        assert_eq!(self.processor.issue(op, [(self.queue.as_str(), entity)]).await.unwrap(), 1);
    }

    /// Returns how many messages have changed this entity.
    pub(crate) async fn effects(&self, entity: &str) -> usize {
        let (key, message) = (entity.parse().unwrap(), "none".parse().unwrap());
        count(self.entities.open(&key, &message, None).await.unwrap().state)
    }

    /// Returns whether the message of this `op` is finished and its token is gone.
    pub(crate) async fn is_over(&self, op: &str) -> bool {
        let op: OpId = op.parse().unwrap();
        !self.tokens.exists(&format!("{op}-0").parse().unwrap()).await.unwrap()
    }

    /// Consumes until `results` messages have a result. Returns what the loop counted, and the results as text.
    pub(crate) async fn consume<Q: Queue>(&self, queue: &Q, results: usize) -> (Consumed, Vec<String>) {
        self.consume_from(queue.deliveries(), results, options::<Q>()).await
    }

    pub(crate) async fn consume_from<D: storagebox_transports::Delivery>(
        &self,
        deliveries: Deliveries<D>,
        results: usize,
        options: ConsumeOptions,
    ) -> (Consumed, Vec<String>) {
        let seen = Seen::default();
        let options = options.observe(seen.observer()).until(seen.clone().has(results));
        let consumed = consume(deliveries, entity_of, &self.processor, options).await;
        (consumed, seen.take())
    }
}

pub(crate) fn options<Q: Queue>() -> ConsumeOptions {
    ConsumeOptions::default().lease(Q::LEASE).unwrap()
}

/// The result of each message, as text.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    results: Arc<Mutex<Vec<String>>>,
    more: Arc<Notify>,
}

impl Seen {
    pub(crate) fn observer(&self) -> impl Fn(&Received, &Result<Outcome, ProcessError>) + use<> {
        let seen = self.clone();
        move |received, result| {
            let result = result.as_ref().map_or_else(ToString::to_string, |outcome| format!("{outcome:?}"));
            seen.results.lock().unwrap().push(format!("{}: {result}", received.id));
            seen.more.notify_waiters();
        }
    }

    /// Waits until `results` messages have a result.
    pub(crate) async fn has(self, results: usize) {
        loop {
            let more = self.more.notified();
            if self.results.lock().unwrap().len() >= results {
                return;
            }
            more.await;
        }
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.results.lock().unwrap())
    }
}

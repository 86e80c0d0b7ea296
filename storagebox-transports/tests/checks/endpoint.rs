//! An endpoint whose handler counts in the entity's state how often it took effect.

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

/// The body of a message is its entity.
pub(crate) fn entity_of(received: &Received) -> Result<Key, BoxError> {
    Ok(String::from_utf8_lossy(received.body.as_bytes()).as_ref().try_into()?)
}

/// Counts, and waits in between while it is held.
pub(crate) struct Counts {
    gate: Semaphore,
    begun: AtomicUsize,
    has_begun: Notify,
}

impl Counts {
    /// Lets so many runs of the handler go on.
    pub(crate) fn let_pass(&self, runs: usize) {
        self.gate.add_permits(runs);
    }

    /// How often the handler has begun.
    pub(crate) fn runs(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }

    /// Waits until the handler has begun so often.
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

/// An endpoint over a memory store, which sends to a queue.
pub(crate) struct Endpoint {
    pub(crate) processor: Processor,
    pub(crate) handler: Arc<Counts>,
    pub(crate) tokens: Arc<dyn TokenStore>,
    entities: Arc<dyn EntityLedger>,
    queue: Destination,
}

impl Endpoint {
    /// One whose handler never waits.
    pub(crate) fn new(queue: &impl Queue) -> Self {
        let endpoint = Self::held(queue);
        endpoint.handler.let_pass(Semaphore::MAX_PERMITS / 2);
        endpoint
    }

    /// One whose handler waits until it is let pass.
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

    /// Sends a message for this entity. Again with the same `op`, it sends another copy.
    pub(crate) async fn send(&self, op: &str, entity: &str) {
        assert_eq!(self.processor.issue(op, [(self.queue.as_str(), entity)]).await.unwrap(), 1);
    }

    /// How often messages of this entity took effect.
    pub(crate) async fn effects(&self, entity: &str) -> usize {
        let (key, message) = (entity.parse().unwrap(), "none".parse().unwrap());
        count(self.entities.open(&key, &message, None).await.unwrap().state)
    }

    /// Whether the message of this `op` is finished, by its token.
    pub(crate) async fn is_over(&self, op: &str) -> bool {
        let op: OpId = op.parse().unwrap();
        !self.tokens.exists(&format!("{op}-0").parse().unwrap()).await.unwrap()
    }

    /// Consumes until so many results were seen. Returns also how each began.
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

/// The options of a worker whose queue is one of these checks.
pub(crate) fn options<Q: Queue>() -> ConsumeOptions {
    ConsumeOptions::default().lease(Q::LEASE)
}

/// The results that a loop reported.
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

    /// Waits for so many results.
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

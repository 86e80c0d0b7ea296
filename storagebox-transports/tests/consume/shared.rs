//! What the tests of the loop have in common.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use storagebox_core::{Backend, BoxError, Decision, Joins, Message, MissingToken, Payload, Processor};
use storagebox_memory::MemoryStore;
use storagebox_transports::Received;

use crate::checks::{Deliveries, Queue};
use crate::queue::{Copy, MemoryQueue};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// A copy whose body is its entity, from a sender that creates no token.
pub(crate) fn received(id: &str, entity: &str) -> Received {
    Received { id: id.parse().unwrap(), token: None, body: Payload::try_from(entity).unwrap() }
}

/// The first copies of a queue; then the stream ends.
pub(crate) fn first(queue: &MemoryQueue, copies: usize) -> Deliveries<Copy> {
    queue.deliveries().take(copies).boxed()
}

/// What happened, in its order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A processor of messages without tokens, whose handler is this.
pub(crate) fn processor<H, F>(handle: H) -> Processor
where
    H: Fn(Message) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Decision, BoxError>> + Send + 'static,
{
    let store = MemoryStore::new();
    let tokens = store.token_store(&"tokens".parse().unwrap()).unwrap();
    let entities = store.entity_ledger(&"entities".parse().unwrap(), &Joins::default()).unwrap();
    let handler = move |_: Option<Payload>, message: Message| handle(message);
    Processor::new(entities, tokens, handler).without_token(MissingToken::Unprotected)
}

/// A processor that takes a second for each message, and notes when it begins and ends.
pub(crate) fn slow(log: &Log) -> Processor {
    let log = log.clone();
    processor(move |message| {
        let log = log.clone();
        async move {
            log.note(format!("begin {}", message.id));
            tokio::time::sleep(SECOND).await;
            log.note(format!("end {}", message.id));
            Ok(Decision::keep())
        }
    })
}

/// A processor whose handler always fails.
pub(crate) fn failing() -> Processor {
    processor(|_| async { Err("the handler says no".into()) })
}

/// A processor whose handler never returns for the entity "stuck".
pub(crate) fn stuck() -> Processor {
    processor(|message| async move {
        if message.entity.as_str() == "stuck" {
            std::future::pending::<()>().await;
        }
        Ok(Decision::keep())
    })
}

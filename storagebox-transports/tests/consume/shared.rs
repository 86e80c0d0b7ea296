//! Helpers for the tests of the loop.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use storagebox_core::{Backend, BoxError, Decision, Joins, Message, MissingToken, Payload, Processor};
use storagebox_memory::MemoryStore;
use storagebox_transports::Received;

use crate::checks::{Deliveries, Queue};
use crate::queue::{Copy, MemoryQueue};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// Returns a message without a token, with the entity as its body.
pub(crate) fn received(id: &str, entity: &str) -> Received {
    Received { id: id.parse().unwrap(), token: None, body: Payload::try_from(entity).unwrap() }
}

/// Returns a stream of the first `copies` deliveries of a queue.
pub(crate) fn first(queue: &MemoryQueue, copies: usize) -> Deliveries<Copy> {
    queue.deliveries().take(copies).boxed()
}

/// The events of a test, in order.
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

/// Returns a processor that also accepts messages without tokens.
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

/// Returns a processor that takes a second for each message, and logs the begin and the end of that second.
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

pub(crate) fn failing() -> Processor {
    processor(|_| async { Err("the handler says no".into()) })
}

/// Returns a processor whose handler never returns for the entity "stuck".
pub(crate) fn stuck() -> Processor {
    processor(|message| async move {
        if message.entity.as_str() == "stuck" {
            std::future::pending::<()>().await;
        }
        Ok(Decision::keep())
    })
}

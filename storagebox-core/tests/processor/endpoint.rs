//! An endpoint over a memory store that records its calls.

use std::sync::{Arc, Mutex};

use storagebox_core::layer::{Call, Layer, Layered, Next, Response};
use storagebox_core::{
    Backend, BoxError, Decision, Dispatcher, EntityLedger, Error, ErrorKind, Handler, Joins, Message, Namespace,
    Outgoing, Processor, Result, TokenStore, async_trait,
};
use storagebox_memory::MemoryStore;

/// A layer that records the names of all operations, and makes one operation fail.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    made: Arc<Mutex<Vec<&'static str>>>,
    fails: Arc<Mutex<Option<&'static str>>>,
}

impl Calls {
    pub(crate) fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.made.lock().unwrap())
    }

    /// Makes the operation fail from now on, or no operation if `operation` is `None`.
    pub(crate) fn fail(&self, operation: Option<&'static str>) {
        *self.fails.lock().unwrap() = operation;
    }
}

#[async_trait]
impl Layer for Calls {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        self.made.lock().unwrap().push(call.operation());
        if *self.fails.lock().unwrap() == Some(call.operation()) {
            return Err(Error::new(ErrorKind::Unavailable, "it is down"));
        }
        next.run().await
    }
}

/// A dispatcher that collects the messages, or refuses them.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) sent: Mutex<Vec<Outgoing>>,
    pub(crate) is_down: Mutex<bool>,
}

#[async_trait]
impl Dispatcher for Queue {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        if *self.is_down.lock().unwrap() {
            return Err("the queue is down".into());
        }
        self.sent.lock().unwrap().extend_from_slice(messages);
        Ok(())
    }
}

pub(crate) fn name(name: &str) -> Namespace {
    name.parse().unwrap()
}

pub(crate) struct Endpoint {
    pub(crate) store: Arc<dyn Backend>,
    pub(crate) calls: Calls,
    pub(crate) queue: Arc<Queue>,
    pub(crate) joins: Joins,
}

impl Endpoint {
    pub(crate) fn new(incoming: bool, outgoing: bool) -> Self {
        let calls = Calls::default();
        let store = Arc::new(Layered::new(Arc::new(MemoryStore::new()), Arc::new(calls.clone())));
        let tokens = |joined: bool| joined.then(|| name("tokens"));
        let joins = Joins { incoming: tokens(incoming), outgoing: tokens(outgoing) };
        Self { store, calls, queue: Arc::default(), joins }
    }

    pub(crate) fn tokens(&self) -> Arc<dyn TokenStore> {
        self.store.token_store(&name("tokens")).unwrap()
    }

    pub(crate) fn entities(&self) -> Arc<dyn EntityLedger> {
        self.store.entity_ledger(&name("entities"), &self.joins).unwrap()
    }

    pub(crate) fn processor(&self, handler: impl Handler + 'static) -> Processor {
        Processor::new(self.entities(), self.tokens(), handler).sends(self.tokens(), self.queue.clone())
    }

    /// Returns a message whose token exists.
    pub(crate) async fn message(&self, id: &str) -> Message {
        let token = format!("token of {id}").parse().unwrap();
        self.tokens().create_tokens(std::slice::from_ref(&token)).await.unwrap();
        self.calls.take();
        Message::new(id, "entity", "").unwrap().with_token(token)
    }

    pub(crate) async fn is_clean(&self, message: &Message) -> bool {
        let is_live = self.tokens().exists(message.token.as_ref().unwrap()).await.unwrap();
        !is_live && self.entities().pending(None, 10).await.unwrap().entries.is_empty()
    }
}

/// A handler that appends the message's id to the state and sends this number of messages.
pub(crate) struct Sends(pub(crate) usize);

#[async_trait]
impl Handler for Sends {
    async fn handle(&self, state: Option<storagebox_core::Payload>, message: &Message) -> Result<Decision, BoxError> {
        let state = state.map_or(String::new(), |state| String::from_utf8_lossy(state.as_bytes()).into_owned());
        let mut decision = Decision::put(format!("{state}{}", message.id))?;
        for number in 0..self.0 {
            decision = decision.send("next", format!("{number}"))?;
        }
        Ok(decision)
    }
}

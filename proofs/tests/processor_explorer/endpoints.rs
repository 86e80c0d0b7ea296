//! The endpoint that is explored, and the endpoint that processes its messages.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use storagebox_core::layer::{Call, Layer, Layered, Next, Request, Response};
use storagebox_core::{
    Backend, BoxError, Decision, Dispatcher, Handler, Ids, Joins, Message, Namespace, Outgoing, Payload, Processor,
    Result, TokenId, TokenStore,
};
use storagebox_memory::MemoryStore;
use storagebox_proofs::gate::{Gate, Permit, lock};

use crate::mutants::Mutant;
use crate::scenario::{Decides, Joined};

pub(crate) fn namespace(name: &str) -> Namespace {
    name.parse().expect("a name")
}

/// The sent messages, in the order of sending. The flag says whether the token existed when the message was sent.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    pub(crate) sent: Mutex<Vec<(Outgoing, bool)>>,
}

impl Wire {
    pub(crate) fn sent(&self) -> Vec<(Outgoing, bool)> {
        lock(&self.sent).clone()
    }
}

/// The tokens that the workers tried to create.
#[derive(Debug, Default)]
pub(crate) struct Created(pub(crate) Mutex<Vec<TokenId>>);

#[async_trait]
impl Layer for Created {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let created = match call.request {
            Request::CreateTokens { tokens, .. } => tokens,
            Request::Commit { commit, .. } => &commit.create,
            _ => &[],
        };
        lock(&self.0).extend_from_slice(created);
        next.run().await
    }
}

struct Sender {
    gate: Option<Gate>,
    wire: Arc<Wire>,
    tokens: Arc<dyn TokenStore>,
}

#[async_trait]
impl Dispatcher for Sender {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        if let Some(gate) = &self.gate {
            assert_eq!(gate.pass("dispatch", false).await, Permit::Go);
        }
        for message in messages {
            let is_there = self.tokens.exists(&message.token).await?;
            lock(&self.wire.sent).push((message.clone(), is_there));
        }
        Ok(())
    }
}

/// A source of predictable, unique ids.
#[derive(Debug, Default)]
pub(crate) struct Counted(AtomicUsize);

impl Ids for Counted {
    fn fresh(&self) -> String {
        format!("id{}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// A handler that appends the message's id to the state, and sends a different body in every run.
struct Adds {
    decides: Decides,
    ids: Arc<Counted>,
}

#[async_trait]
impl Handler for Adds {
    async fn handle(&self, state: Option<Payload>, message: &Message) -> Result<Decision, BoxError> {
        let state = state.map_or(String::new(), |state| String::from_utf8_lossy(state.as_bytes()).into_owned());
        if self.decides == Decides::AfterTheOther && message.id.as_str() == "a" && !state.contains('b') {
            return Ok(Decision::keep());
        }
        let decision = match self.decides {
            Decides::Deletes => Decision::delete(),
            _ => Decision::put(format!("{state}{}", message.id))?,
        };
        match self.decides {
            Decides::SendsNothing => Ok(decision),
            _ => Ok(decision.send("second", format!("{} by run {}", message.id, self.ids.fresh()))?),
        }
    }
}

#[derive(Clone)]
pub(crate) struct Endpoints {
    pub(crate) store: MemoryStore,
    pub(crate) wire: Arc<Wire>,
    pub(crate) created: Arc<Created>,
    ids: Arc<Counted>,
    joins: Joins,
    decides: Decides,
}

impl Endpoints {
    pub(crate) fn new(joined: Joined, decides: Decides) -> Self {
        let joins = Joins {
            incoming: joined.incoming().then(|| namespace("tokens")),
            outgoing: joined.outgoing().then(|| namespace("tokens")),
        };
        Self {
            store: MemoryStore::new(),
            wire: Arc::default(),
            created: Arc::default(),
            ids: Arc::default(),
            joins,
            decides,
        }
    }

    pub(crate) fn tokens(&self) -> Arc<dyn TokenStore> {
        self.store.token_store(&namespace("tokens")).expect("tokens")
    }

    /// Creates the processor of the first endpoint.
    pub(crate) fn first(&self) -> Processor {
        self.endpoint("first", &self.store, None, self.decides)
    }

    /// Creates the processor of the first endpoint, for the worker behind this gate.
    pub(crate) fn first_behind(&self, gate: &Gate, mutant: Option<Mutant>) -> Processor {
        let mut store: Arc<dyn Backend> = Arc::new(self.store.clone());
        if let Some(mutant) = mutant {
            store = Arc::new(Layered::new(store, Arc::new(mutant)));
        }
        let store = Arc::new(Layered::new(store, Arc::new(gate.clone())));
        let store = Layered::new(store, self.created.clone());
        self.endpoint("first", &store, Some(gate.clone()), self.decides)
    }

    /// Creates the processor of the second endpoint, which sends nothing and does not wait at a gate.
    pub(crate) fn second(&self) -> Processor {
        self.endpoint("second", &self.store, None, Decides::SendsNothing)
    }

    fn endpoint(&self, name: &str, store: &dyn Backend, gate: Option<Gate>, decides: Decides) -> Processor {
        let entities = store.entity_ledger(&namespace(name), &self.joins).expect("entities");
        let tokens = store.token_store(&namespace("tokens")).expect("tokens");
        let handler = Adds { decides, ids: Arc::clone(&self.ids) };
        let sender = Sender { gate, wire: Arc::clone(&self.wire), tokens: self.tokens() };
        Processor::new(entities, Arc::clone(&tokens), handler).sends(tokens, Arc::new(sender)).ids(self.ids.clone())
    }
}

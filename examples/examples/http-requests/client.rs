//! The client processes an order, and asks the server for a payment. It is a processor of messages itself, so after a
//! crash it may repeat everything that it does.
//!
//! A request has the id of the message that asks for it, which is the same in every attempt. The first message stores
//! that the order has asked for a payment. A second message has the request's id, and executes and ends the request.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::{Method, StatusCode};
use storagebox::messages::{BoxError, Dispatcher, Handler, Outgoing, ProcessError};
use storagebox::values::TokenId;
use storagebox::{Decision, Message, Outcome, Payload, Processor, Store, Tokens, async_trait};

use crate::http::Http;

pub(crate) const ORDER: &str = "order-7";
const AMOUNT: &str = "12";
/// The state of an order whose payment is requested.
const ASKED: &str = "asked";

/// The way in which the client asks for a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// The client stores a request, which the server executes once.
    Requests,
    /// The client sends a single `POST`, as most clients do.
    Plain,
}

/// The queue of the client's unacknowledged messages.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: Mutex<VecDeque<Message>>,
    seen: Mutex<Vec<Message>>,
    /// The tokens of all messages, including messages that never enter the queue.
    tokens: Mutex<BTreeSet<TokenId>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    fn push(&self, message: Message) {
        lock(&self.tokens).extend(message.token.clone());
        lock(&self.seen).push(message.clone());
        lock(&self.waiting).push_back(message);
    }

    /// Returns all messages that have entered the queue so far.
    pub(crate) fn seen(&self) -> Vec<Message> {
        lock(&self.seen).clone()
    }

    fn tokens(&self) -> BTreeSet<TokenId> {
        lock(&self.tokens).clone()
    }
}

pub(crate) struct Client {
    orders: Processor,
    tokens: Tokens,
    queue: Arc<Queue>,
}

impl Client {
    /// Opens a client. The names of its namespaces begin with `name`.
    pub(crate) fn open(
        store: &Store,
        name: &str,
        http: &Arc<Http>,
        queue: &Arc<Queue>,
        protocol: Protocol,
    ) -> storagebox::Result<Self> {
        let orders = format!("{name}-orders");
        let handler = Buys { http: Arc::clone(http), protocol };
        let tokens = store.tokens(&orders)?;
        let sender = Sends { http: Arc::clone(http), queue: Arc::clone(queue), tokens: tokens.clone() };
        let orders = store.processor(&orders, handler)?.sends(&orders, sender)?.build()?;
        Ok(Self { orders, tokens, queue: Arc::clone(queue) })
    }

    /// Processes messages until no message waits.
    pub(crate) async fn work(&self) -> Result<(), ProcessError> {
        loop {
            let Some(message) = lock(&self.queue.waiting).front().cloned() else { return Ok(()) };
            let _ = self.process(&message).await?;
            lock(&self.queue.waiting).pop_front();
        }
    }

    pub(crate) async fn process(&self, message: &Message) -> Result<Outcome, ProcessError> {
        self.orders.process(message).await
    }

    /// Returns the client's tokens and entries that still exist.
    pub(crate) async fn left(&self) -> storagebox::Result<Vec<String>> {
        let mut left = vec![];
        for token in self.queue.tokens() {
            left.extend(self.tokens.exists(&token).await?.then(|| format!("the token {token}")));
        }
        let pending = self.orders.pending().all().await?;
        left.extend(pending.iter().map(|entry| format!("the entry of {}", entry.message)));
        Ok(left)
    }
}

/// Creates the order's token, and puts the order into the queue.
pub(crate) async fn order(store: &Store, name: &str, queue: &Queue) -> storagebox::Result<()> {
    let token = format!("{ORDER}-token");
    store.tokens(format!("{name}-orders"))?.create([&token]).await?;
    queue.push(Message::new(ORDER, ORDER, AMOUNT)?.with_token(token.parse()?));
    Ok(())
}

/// The handler of orders, which pays for an order. With [`Protocol::Requests`], the handler may repeat its calls,
/// because the server executes a request once.
struct Buys {
    http: Arc<Http>,
    protocol: Protocol,
}

#[async_trait]
impl Handler for Buys {
    async fn handle(&self, state: Option<Payload>, message: &Message) -> Result<Decision, BoxError> {
        match (state, self.protocol) {
            (None, Protocol::Requests) => Ok(Decision::put(ASKED)?.send("ask", &message.body)?),
            (None, Protocol::Plain) => {
                let receipt = self.http.fetched(Method::POST, "/pay", &message.body).await?;
                Ok(Decision::put(receipt)?)
            }
            (Some(state), _) if state.as_bytes() == ASKED.as_bytes() => {
                let path = format!("/requests/{}", message.id);
                self.http.fetched(Method::POST, &path, &Payload::default()).await?;
                let receipt = self.http.fetched(Method::GET, &path, &Payload::default()).await?;
                Ok(Decision::put(receipt)?.send("end", message.id.as_str())?)
            }
            (Some(_), _) => Ok(Decision::keep()),
        }
    }
}

/// The dispatcher of the client's messages. For each message, the dispatcher stores or ends a request at the server.
struct Sends {
    http: Arc<Http>,
    queue: Arc<Queue>,
    tokens: Tokens,
}

impl Sends {
    /// Stores a request at the server, and sends the message that executes it.
    async fn ask(&self, request: &Outgoing) -> Result<(), BoxError> {
        let path = format!("/requests/{}", request.id);
        let (status, _) = self.http.call(Method::PUT, &path, &request.body).await?;
        if !matches!(status, StatusCode::CREATED | StatusCode::OK) {
            return Err(format!("PUT {path} returned {status}").into());
        }
        self.queue.push(Message::new(&request.id, ORDER, &request.body)?.with_token(request.token.clone()));
        Ok(())
    }

    async fn end(&self, message: &Outgoing) -> Result<(), BoxError> {
        let path = format!("/requests/{}", String::from_utf8_lossy(message.body.as_bytes()));
        let (status, _) = self.http.call(Method::DELETE, &path, &Payload::default()).await?;
        if status != StatusCode::NO_CONTENT {
            return Err(format!("DELETE {path} returned {status}").into());
        }
        // The message has had its effect, so no client needs to process it.
        let _ = self.tokens.consume(&message.token).by(message.id.as_str()).await?;
        Ok(())
    }
}

#[async_trait]
impl Dispatcher for Sends {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        for message in messages {
            lock(&self.queue.tokens).insert(message.token.clone());
            match message.destination.as_str() {
                "ask" => self.ask(message).await?,
                _ => self.end(message).await?,
            }
        }
        Ok(())
    }
}

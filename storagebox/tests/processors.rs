//! Processors within one store, and between two stores.
#![cfg(feature = "memory")]
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

use std::sync::{Arc, Mutex};

use storagebox::messages::{BoxError, Dispatcher, MissingToken, Outgoing, ProcessError};
use storagebox::parts::Joins;
use storagebox::{Decision, Message, Outcome, Payload, Store};
use storagebox_core::async_trait;

#[derive(Clone, Default)]
struct Queue(Arc<Mutex<Vec<Outgoing>>>);

#[async_trait]
impl Dispatcher for Queue {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        self.0.lock().unwrap().extend_from_slice(messages);
        Ok(())
    }
}

impl Queue {
    fn next(&self, entity: &str) -> Message {
        let Outgoing { id, token, body, .. } = self.0.lock().unwrap().remove(0);
        Message::new(id, entity, body).unwrap().with_token(token)
    }
}

async fn memory() -> Store {
    Store::open("memory:").await.unwrap()
}

async fn keeps(_: Option<Payload>, message: Message) -> Result<Decision, BoxError> {
    Ok(Decision::put(message.body)?)
}

async fn sends_on(_: Option<Payload>, message: Message) -> Result<Decision, BoxError> {
    Ok(Decision::put("paid")?.send("shipping", message.body)?)
}

/// Each service has its own store, which has the tokens of the messages that the service receives.
#[tokio::test]
async fn two_services_with_own_stores_process_a_message_once() {
    let (here, there, queue) = (memory().await, memory().await, Queue::default());
    let theirs = there.tokens("shipping").unwrap();
    let payments = here.processor("payments", sends_on).unwrap().sends_to(&theirs, queue.clone()).build().unwrap();
    let shipping = there.processor("shipping", keeps).unwrap().build().unwrap();

    here.tokens("payments").unwrap().create(["t"]).await.unwrap();
    let order = Message::new("m", "order-7", "1 book").unwrap().with_token("t".parse().unwrap());
    assert_eq!(payments.process(&order).await.unwrap(), Outcome::Processed { sent: 1 });
    let parcel = queue.next("order-7");
    assert_eq!(shipping.process(&parcel).await.unwrap(), Outcome::Processed { sent: 0 });
    assert_eq!(shipping.process(&parcel).await.unwrap(), Outcome::Duplicate { cleaned: false });
    assert_eq!(shipping.state("order-7").await.unwrap(), Some("1 book".try_into().unwrap()));
    assert_eq!(payments.pending().all().await.unwrap(), []);
}

/// The receiver has its entities in another store than the tokens.
#[tokio::test]
async fn a_receiver_consumes_tokens_in_the_store_of_the_sender() {
    let (sender, receiver, queue) = (memory().await, memory().await, Queue::default());
    let tokens = sender.tokens("parcels").unwrap();
    let payments = sender.processor("payments", sends_on).unwrap().sends("parcels", queue.clone()).unwrap();
    let payments = payments.build().unwrap();
    let shipping = receiver.processor("shipping", keeps).unwrap().receives_from(&tokens).build().unwrap();

    payments.issue("order-7", [("shipping", "1 book")]).await.unwrap();
    let parcel = queue.next("order-7");
    let token = parcel.token.clone().unwrap();
    assert!(tokens.exists(&token).await.unwrap());
    assert_eq!(shipping.process(&parcel).await.unwrap(), Outcome::Processed { sent: 0 });
    assert!(!tokens.exists(&token).await.unwrap(), "the token is consumed in the sender's store");
    assert_eq!(shipping.process(&parcel).await.unwrap(), Outcome::Duplicate { cleaned: false });
    assert_eq!(shipping.state("order-7").await.unwrap(), Some("1 book".try_into().unwrap()));
    assert_eq!(shipping.pending().all().await.unwrap(), []);
}

/// A program splits entities and tokens for a store that cannot change both in one step.
#[tokio::test]
async fn tokens_are_joined_unless_the_builder_splits_them() {
    let (store, queue) = (memory().await, Queue::default());
    let builder = || store.processor("a", keeps).unwrap().receives("in").unwrap().sends("out", queue.clone()).unwrap();
    let joined = builder().build().unwrap();
    let both = Joins { incoming: Some("in".parse().unwrap()), outgoing: Some("out".parse().unwrap()) };
    assert!(format!("{joined:?}").contains(&format!("{both:?}")), "{joined:?}");
    let split = builder().split().build().unwrap();
    assert!(format!("{split:?}").contains(&format!("{:?}", Joins::default())), "{split:?}");
}

#[tokio::test]
async fn a_message_without_a_token_follows_the_policy() {
    let store = memory().await;
    let message = Message::new("m", "e", "x").unwrap();
    let strict = store.processor("a", keeps).unwrap().build().unwrap();
    assert!(matches!(strict.process(&message).await, Err(ProcessError::NoToken)));
    let lax = store.processor("a", keeps).unwrap().without_token(MissingToken::Unprotected).build().unwrap();
    assert_eq!(lax.process(&message).await.unwrap(), Outcome::Processed { sent: 0 });
}

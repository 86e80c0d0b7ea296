//! The processor on this store: the requests per message, and that a finished message leaves nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use storagebox_core::{
    Backend, BoxError, Clock, Decision, Dispatcher, EntityLedger, Handler, Joins, Message, Outcome, Outgoing, Payload,
    Processor, Result, TokenStore, async_trait,
};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::dynamodb::faults::Faults;

use crate::scene::{recorded, with_place};
use crate::support::{Place, failed};

#[derive(Debug, Default)]
struct Queue(Mutex<Vec<Outgoing>>);

#[async_trait]
impl Dispatcher for Queue {
    async fn dispatch(&self, messages: &[Outgoing]) -> std::result::Result<(), BoxError> {
        self.0.lock().unwrap().extend_from_slice(messages);
        Ok(())
    }
}

/// Changes the entity, and sends this number of messages.
struct Sends(usize);

#[async_trait]
impl Handler for Sends {
    async fn handle(&self, state: Option<Payload>, message: &Message) -> std::result::Result<Decision, BoxError> {
        let state = state.map_or(String::new(), |state| String::from_utf8_lossy(state.as_bytes()).into_owned());
        let mut decision = Decision::put(format!("{state}{} ", message.id))?;
        for number in 0..self.0 {
            decision = decision.send("next", format!("{number}"))?;
        }
        Ok(decision)
    }
}

/// A clock that advances at each reading, as real clocks do between two requests.
#[derive(Debug, Default)]
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Duration {
        BEGIN + Duration::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

const BEGIN: Duration = Duration::from_secs(1_700_000_000);

/// A processor on a store whose requests are counted.
struct Endpoint {
    faults: Faults,
    entities: Arc<dyn EntityLedger>,
    tokens: Arc<dyn TokenStore>,
    processor: Processor,
    queue: Arc<Queue>,
}

impl Endpoint {
    /// Creates an endpoint whose messages each send `sends` others.
    async fn new(place: &Place, (incoming, outgoing): (bool, bool), sends: usize) -> Result<Self> {
        let (store, faults) = recorded(&place.table, place.builder().clock(Ticking::default())).await?;
        let (entities, tokens, queue) = (entities(&store, incoming, outgoing)?, tokens(&store)?, Arc::default());
        let processor = Processor::new(Arc::clone(&entities), Arc::clone(&tokens), Sends(sends));
        let processor = processor.sends(Arc::clone(&tokens), Arc::clone(&queue) as _);
        Ok(Self { faults, entities, tokens, processor, queue })
    }

    /// Returns a message whose token was created just before.
    async fn message(&self, id: &str) -> Result<Message> {
        let token = format!("token of {id}").parse()?;
        self.tokens.create_tokens(std::slice::from_ref(&token)).await?;
        Ok(Message::new(id, "entity", "")?.with_token(token))
    }

    /// Processes a message. Returns the outcome and the number of requests.
    async fn processed(&self, message: &Message) -> Result<(Outcome, usize)> {
        self.faults.taken();
        let outcome = self.processor.process(message).await.map_err(failed)?;
        Ok((outcome, self.faults.taken().len()))
    }

    async fn state(&self) -> Result<Option<Payload>> {
        Ok(self.entities.open(&"entity".parse()?, &"nobody".parse()?, None).await?.state)
    }
}

fn tokens(store: &DynamoStore) -> Result<Arc<dyn TokenStore>> {
    store.token_store(&"tokens".parse()?)
}

fn entities(store: &DynamoStore, incoming: bool, outgoing: bool) -> Result<Arc<dyn EntityLedger>> {
    let tokens = |joined: bool| joined.then(|| "tokens".parse()).transpose();
    let joins = Joins { incoming: tokens(incoming)?, outgoing: tokens(outgoing)? };
    store.entity_ledger(&"entities".parse()?, &joins)
}

/// The joins, the number of messages that are sent, and the number of requests.
const PLANS: [((bool, bool), usize, usize); 5] =
    [((false, false), 1, 7), ((false, true), 1, 5), ((true, false), 1, 5), ((true, true), 1, 3), ((true, true), 0, 2)];

#[tokio::test]
async fn a_message_takes_as_few_requests_as_its_stores_allow() -> Result<()> {
    for (joins, sends, requests) in PLANS {
        with_place(async |place| {
            let endpoint = Endpoint::new(place, joins, sends).await?;
            // The first message registers the namespaces.
            let _ = endpoint.processed(&endpoint.message("first ").await?).await?;
            let second = endpoint.message("second").await?;
            let processed = (Outcome::Processed { sent: sends }, requests);
            assert_eq!(endpoint.processed(&second).await?, processed, "{joins:?}, {sends}");
            let again = endpoint.processed(&second).await?.0;
            assert_eq!(again, Outcome::Duplicate { cleaned: false }, "{joins:?}, {sends}");

            assert_eq!(endpoint.state().await?, Some(Payload::try_from("first  second ")?));
            assert!(!endpoint.tokens.exists(second.token.as_ref().unwrap()).await?);
            assert_eq!(endpoint.entities.pending(None, 10).await?.entries, []);
            let sent = endpoint.queue.0.lock().unwrap().clone();
            assert_eq!(sent.len(), 2 * sends);
            for message in sent {
                assert!(endpoint.tokens.exists(&message.token).await?, "{message:?}");
            }
            Ok(())
        })
        .await?;
    }
    Ok(())
}

/// All copies of each message are processed at once.
#[tokio::test(flavor = "multi_thread")]
async fn racing_copies_take_effect_once() -> Result<()> {
    const MESSAGES: usize = 4;
    for (joins, sends, _) in PLANS {
        with_place(async |place| {
            let endpoint = Endpoint::new(place, joins, sends).await?;
            let mut copies = tokio::task::JoinSet::new();
            for number in 0..MESSAGES {
                let message = endpoint.message(&format!("m{number}")).await?;
                for _ in 0..4 {
                    let (processor, message) = (endpoint.processor.clone(), message.clone());
                    copies.spawn(async move { processor.process(&message).await.map(drop) });
                }
            }
            for copy in copies.join_all().await {
                copy.map_err(failed)?;
            }
            let state = endpoint.state().await?.map(|state| String::from_utf8_lossy(state.as_bytes()).into_owned());
            let mut changes: Vec<_> = state.iter().flat_map(|state| state.split_whitespace()).collect();
            changes.sort_unstable();
            assert_eq!(changes, ["m0", "m1", "m2", "m3"], "{joins:?}, {sends}");
            assert_eq!(endpoint.entities.pending(None, 10).await?.entries, [], "{joins:?}, {sends}");
            let sent = endpoint.queue.0.lock().unwrap().clone();
            let distinct: std::collections::BTreeSet<_> =
                sent.iter().map(|message| (&message.id, &message.token)).collect();
            assert_eq!(distinct.len(), MESSAGES * sends, "{sent:?}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

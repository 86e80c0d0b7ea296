//! The processor on this backend's entities and tokens, with each of the four ways to join them.

use std::sync::{Arc, Mutex};

use storagebox_core::{
    Abandoned, Backend, BoxError, Decision, Dispatcher, EntityLedger, Handler, Joins, Message, Outcome, Outgoing,
    Payload, ProcessError, Processor, Result, TokenStore, async_trait,
};
use storagebox_sqlite::SqliteStore;
use tokio::task::JoinSet;

use super::{key, namespace, token};
use crate::costs::Metered;
use crate::support::{Place, failed};

/// A queue that keeps the messages, or refuses them while it is down.
#[derive(Debug, Default)]
struct Queue {
    sent: Mutex<Vec<Outgoing>>,
    is_down: Mutex<bool>,
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

/// Adds the message's id to the state, and sends this number of messages.
struct Sends(usize);

#[async_trait]
impl Handler for Sends {
    async fn handle(&self, state: Option<Payload>, message: &Message) -> Result<Decision, BoxError> {
        let state = state.map_or(String::new(), |state| String::from_utf8_lossy(state.as_bytes()).into_owned());
        let mut decision = Decision::put(format!("{state}{}", message.id))?;
        for number in 0..self.0 {
            decision = decision.send("next", format!("{number}"))?;
        }
        Ok(decision)
    }
}

struct Endpoint {
    entities: Arc<dyn EntityLedger>,
    tokens: Arc<dyn TokenStore>,
    queue: Arc<Queue>,
}

impl Endpoint {
    fn of(store: &SqliteStore, (incoming, outgoing): (bool, bool)) -> Result<Self> {
        let tokens = |joined: bool| joined.then(|| namespace("tokens"));
        let joins = Joins { incoming: tokens(incoming), outgoing: tokens(outgoing) };
        let entities = store.entity_ledger(&namespace("entities"), &joins)?;
        Ok(Self { entities, tokens: store.token_store(&namespace("tokens"))?, queue: Arc::default() })
    }

    fn processor(&self, sent: usize) -> Processor {
        let processor = Processor::new(Arc::clone(&self.entities), Arc::clone(&self.tokens), Sends(sent));
        processor.sends(Arc::clone(&self.tokens), Arc::clone(&self.queue) as _)
    }

    /// Creates a message and its token.
    async fn message(&self, id: &str) -> Result<Message> {
        let token = token(&format!("token of {id}"));
        self.tokens.create_tokens(std::slice::from_ref(&token)).await?;
        Ok(Message::new(id, "entity", "")?.with_token(token))
    }

    /// Asserts that the message has no entry and no token left, and that the messages that it sent have live tokens.
    async fn assert_is_finished(&self, message: &Message, sent: usize) -> Result<()> {
        assert!(self.entities.pending(None, 10).await?.entries.is_empty());
        let opened = self.entities.open(&key(), &message.id, None).await?;
        assert_eq!(opened.state, Some(message.id.as_str().try_into()?), "it was processed once");
        assert!(!self.tokens.exists(message.token.as_ref().unwrap()).await?);
        let queued = self.queue.sent.lock().unwrap().clone();
        assert_eq!(queued.len(), sent);
        for outgoing in queued {
            assert!(self.tokens.exists(&outgoing.token).await?);
        }
        Ok(())
    }
}

const PLANS: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

/// Each step that changes something costs one transaction, and reads cost none.
#[tokio::test]
async fn a_message_is_processed_once_at_the_cost_of_its_plan() -> Result<()> {
    for (joins, sent, cost) in PLANS
        .into_iter()
        .zip([5, 3, 4, 2])
        .map(|(joins, cost)| (joins, 3, cost))
        .chain([((false, false), 0, 3), ((true, true), 0, 1)])
    {
        let place = Place::ready().await?;
        let mut metered = Metered::of(&place)?;
        let endpoint = Endpoint::of(&metered.store, joins)?;
        let (message, processor) = (endpoint.message("m").await?, endpoint.processor(sent));
        endpoint.entities.open(&key(), &message.id, None).await?;
        let process = async { processor.process(&message).await.map_err(failed) };
        assert_eq!(metered.note("process", process).await?, Outcome::Processed { sent });
        let again = async { processor.process(&message).await.map_err(failed) };
        assert_eq!(metered.note("again", again).await?, Outcome::Duplicate { cleaned: false });
        assert_eq!(metered.noted, [("process", cost), ("again", 0)], "{joins:?} with {sent} messages");
        endpoint.assert_is_finished(&message, sent).await?;
    }
    Ok(())
}

#[tokio::test]
async fn what_was_begun_is_finished_without_the_message() -> Result<()> {
    for joins in PLANS {
        let place = Place::ready().await?;
        let endpoint = Endpoint::of(&place.store()?, joins)?;
        let (message, processor) = (endpoint.message("m").await?, endpoint.processor(2));
        *endpoint.queue.is_down.lock().unwrap() = true;
        let error = processor.process(&message).await.unwrap_err();
        assert!(matches!(error, ProcessError::Dispatch(_)), "{error:?}");
        let pending = endpoint.entities.pending(None, 10).await?.entries;
        assert_eq!(pending.len(), 1, "{joins:?}");
        assert_eq!(processor.abandon(&message).await.map_err(failed)?, Abandoned::Pending);
        *endpoint.queue.is_down.lock().unwrap() = false;
        let resumed = processor.resume(&pending[0].key, &pending[0].message).await.map_err(failed)?;
        assert_eq!(resumed, Some(Outcome::Resumed { sent: 2 }), "{joins:?}");
        assert_eq!(processor.resume(&pending[0].key, &pending[0].message).await.map_err(failed)?, None);
        endpoint.assert_is_finished(&message, 2).await?;
    }
    Ok(())
}

/// The copies come through two clients on one file.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_copies_one_is_processed() -> Result<()> {
    for joins in PLANS {
        let place = Place::ready().await?;
        let (one, other) = (Endpoint::of(&place.store()?, joins)?, Endpoint::of(&place.store()?, joins)?);
        let message = one.message("m").await?;
        let mut copies = JoinSet::new();
        for number in 0..8 {
            let (processor, message) = ([&one, &other][number % 2].processor(1), message.clone());
            copies.spawn(async move { processor.process(&message).await.map_err(failed) });
        }
        copies.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
        let mut sent: Vec<_> = [&one, &other].iter().flat_map(|end| end.queue.sent.lock().unwrap().clone()).collect();
        // A copy that arrives between the choice and the end of the message sends the same message again.
        sent.dedup_by(|one, other| one.id == other.id && one.token == other.token);
        assert_eq!(sent.len(), 1, "{joins:?}: {sent:?}");
        *one.queue.sent.lock().unwrap() = sent;
        one.assert_is_finished(&message, 1).await?;
    }
    Ok(())
}

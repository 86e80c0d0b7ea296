//! The processor on this store, in all four forms: what a message does, and how many round trips it takes.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use storagebox_core::{
    Backend, BoxError, Decision, Dispatcher, Handler, Joins, Message, Namespace, Outcome, Outgoing, Payload, Processor,
    Result, TokenId, async_trait,
};
use storagebox_postgres::Statements;
use tokio::task::JoinSet;

use super::store;
use crate::round_trips::metered;
use crate::scene::with_database;
use crate::support::failed;

/// Whether the ledger joins the incoming and the outgoing tokens, the number of messages that are sent, and the number
/// of round trips.
const PLANS: [(bool, bool, usize, usize); 5] =
    [(false, false, 3, 7), (false, true, 3, 5), (true, false, 3, 5), (true, true, 3, 3), (true, true, 0, 2)];

#[derive(Debug, Default)]
struct Queue(Mutex<Vec<Outgoing>>);

#[async_trait]
impl Dispatcher for Queue {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        self.0.lock().unwrap().extend_from_slice(messages);
        Ok(())
    }
}

/// A handler that adds the message to the state, and sends this many messages.
struct Sends(usize);

#[async_trait]
impl Handler for Sends {
    async fn handle(&self, state: Option<Payload>, message: &Message) -> Result<Decision, BoxError> {
        let state = state.map_or(String::new(), |state| String::from_utf8_lossy(state.as_bytes()).into_owned());
        (0..self.0).try_fold(Decision::put(format!("{state}{};", message.id))?, |decision, number| {
            Ok(decision.send("next", format!("{number}"))?)
        })
    }
}

fn tokens() -> Result<Namespace> {
    "tokens".parse()
}

fn processor(store: &dyn Backend, joins: (bool, bool), sent: usize, queue: &Arc<Queue>) -> Result<Processor> {
    let joined = |is_joined: bool| is_joined.then(tokens).transpose();
    let joins = Joins { incoming: joined(joins.0)?, outgoing: joined(joins.1)? };
    let (entities, tokens) = (store.entity_ledger(&"entities".parse()?, &joins)?, store.token_store(&tokens()?)?);
    Ok(Processor::new(entities, tokens.clone(), Sends(sent)).sends(tokens, Arc::clone(queue) as _))
}

/// Returns a message whose token exists.
async fn message(store: &dyn Backend, id: &str) -> Result<Message> {
    let token = TokenId::new(format!("token of {id}"))?;
    store.token_store(&tokens()?)?.create_tokens(std::slice::from_ref(&token)).await?;
    Ok(Message::new(id, "entity", "")?.with_token(token))
}

/// Checks that no entry and no token of the messages is left, and that the messages that they sent have their tokens.
async fn assert_finished(store: &dyn Backend, messages: &[Message], queue: &Queue) -> Result<()> {
    let (tokens, entities) =
        (store.token_store(&tokens()?)?, store.entity_ledger(&"entities".parse()?, &Joins::default())?);
    assert_eq!(entities.pending(None, 10).await?.entries, []);
    for message in messages {
        assert!(!tokens.exists(message.token.as_ref().expect("a token")).await?);
    }
    let sent = queue.0.lock().unwrap().clone();
    for outgoing in sent {
        assert!(tokens.exists(&outgoing.token).await?, "{outgoing:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_message_takes_as_few_round_trips_as_its_form_allows() -> Result<()> {
    with_database(async |database| {
        for (incoming, outgoing, sent, trips) in PLANS {
            let place = &database.place().await?;
            let (mut metered, queue) = (metered(place, Statements::Simple, "").await?, Arc::default());
            let store = Arc::clone(&metered.store);
            let processor = processor(&*store, (incoming, outgoing), sent, &queue)?;
            let messages = [message(&*store, "warm").await?, message(&*store, "m").await?];
            for message in &messages {
                let process = async { processor.process(message).await.map_err(failed) };
                assert_eq!(metered.note("process", process).await?, Outcome::Processed { sent });
            }
            assert_eq!(metered.noted[1], ("process", trips), "joined: {incoming}, {outgoing}, sent: {sent}");
            let again = processor.process(&messages[1]).await.map_err(failed)?;
            assert_eq!(again, Outcome::Duplicate { cleaned: false });
            assert_finished(&*store, &messages, &queue).await?;
        }
        Ok(())
    })
    .await
}

/// Copies of four messages to one entity, four of each at once, over two clients.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_message_changes_its_entity_once_however_many_copies_are_processed_at_once() -> Result<()> {
    with_database(async |database| {
        for (incoming, outgoing, sent, _) in PLANS {
            let place = &database.place().await?;
            let (stores, queue) = ([store(place)?, store(place)?], Arc::default());
            let mut messages = vec![];
            for number in 0..4 {
                messages.push(message(&stores[0], &format!("{number}")).await?);
            }
            let mut copies = JoinSet::new();
            for copy in 0..4 {
                for message in messages.clone() {
                    let processor = processor(&stores[copy % 2], (incoming, outgoing), sent, &queue)?;
                    copies.spawn(async move { processor.process(&message).await.map(drop).map_err(failed) });
                }
            }
            copies.join_all().await.into_iter().collect::<Result<()>>()?;
            assert_finished(&stores[0], &messages, &queue).await?;
            let entities = stores[0].entity_ledger(&"entities".parse()?, &Joins::default())?;
            let state = entities.open(&"entity".try_into()?, &"0".try_into()?, None).await?.state;
            let state = String::from_utf8_lossy(state.expect("a state").as_bytes()).into_owned();
            let mut changed: Vec<_> = state.split_terminator(';').collect();
            changed.sort_unstable();
            assert_eq!(changed, ["0", "1", "2", "3"], "joined: {incoming}, {outgoing}");
            let sent_tokens: BTreeSet<_> =
                queue.0.lock().unwrap().iter().map(|outgoing: &Outgoing| outgoing.token.clone()).collect();
            assert_eq!(sent_tokens.len(), 4 * sent, "one token for each message that is sent");
        }
        Ok(())
    })
    .await
}

//! A processor on this store, and its round trips, which a proxy counts.

use std::sync::{Arc, Mutex};

use storagebox_conformance::Proxy;
use storagebox_core::{
    Backend, BoxError, Decision, Dispatcher, EntityLedger, Handler, Joins, Message, Outcome, Outgoing, Payload,
    Processor, Result, TokenStore, async_trait,
};

use super::token;
use crate::scene::{at_once, with_place};
use crate::support::{Place, failed};

#[derive(Debug, Default)]
struct Queue(Mutex<Vec<Outgoing>>);

#[async_trait]
impl Dispatcher for Queue {
    async fn dispatch(&self, messages: &[Outgoing]) -> std::result::Result<(), BoxError> {
        self.0.lock().map_err(|_| "a panic")?.extend_from_slice(messages);
        Ok(())
    }
}

/// A handler that adds the message's id to the state and sends this number of messages.
struct Sends(usize);

#[async_trait]
impl Handler for Sends {
    async fn handle(&self, state: Option<Payload>, message: &Message) -> std::result::Result<Decision, BoxError> {
        let state = state.map_or(String::new(), |state| String::from_utf8_lossy(state.as_bytes()).into_owned());
        let mut decision = Decision::put(format!("{state}{}", message.id))?;
        for number in 0..self.0 {
            decision = decision.send("next", format!("{number}"))?;
        }
        Ok(decision)
    }
}

/// An endpoint on a store behind a proxy.
struct Endpoint {
    proxy: Proxy,
    entities: Arc<dyn EntityLedger>,
    tokens: Arc<dyn TokenStore>,
    queue: Arc<Queue>,
}

impl Endpoint {
    async fn of(place: &Place, incoming: bool, outgoing: bool) -> Result<Self> {
        let proxy = Proxy::start(place.server.address()).await.map_err(failed)?;
        let store = place.builder()?.connect(&place.server.url_at(proxy.addr()))?;
        let joined = |is: bool| is.then(|| "tokens".parse()).transpose();
        let joins = Joins { incoming: joined(incoming)?, outgoing: joined(outgoing)? };
        let entities = store.entity_ledger(&"entities".parse()?, &joins)?;
        Ok(Self { proxy, entities, tokens: store.token_store(&"tokens".parse()?)?, queue: Arc::default() })
    }

    fn processor(&self, sends: usize) -> Processor {
        let processor = Processor::new(Arc::clone(&self.entities), Arc::clone(&self.tokens), Sends(sends));
        processor.sends(Arc::clone(&self.tokens), Arc::clone(&self.queue) as _)
    }

    /// Returns a message with a live token.
    async fn message(&self, id: &str, entity: &str) -> Result<Message> {
        let its = token(&format!("token of {id}"))?;
        self.tokens.create_tokens(std::slice::from_ref(&its)).await?;
        Ok(Message::new(id, entity, "")?.with_token(its))
    }

    async fn is_clean(&self, message: &Message) -> Result<bool> {
        let is_live = match &message.token {
            Some(token) => self.tokens.exists(token).await?,
            None => false,
        };
        Ok(!is_live && self.entities.pending(None, 10).await?.entries.is_empty())
    }

    /// Returns the round trips of a message that sends `sends` messages, on a warm connection, and those of its copy.
    async fn trips(&self, id: &str, sends: usize) -> Result<(usize, usize)> {
        let (message, processor) = (self.message(id, id).await?, self.processor(sends));
        let mut trips = [0; 2];
        for (trips, expected) in
            trips.iter_mut().zip([Outcome::Processed { sent: sends }, Outcome::Duplicate { cleaned: false }])
        {
            let before = self.proxy.round_trips();
            assert_eq!(processor.process(&message).await.map_err(failed)?, expected);
            *trips = self.proxy.round_trips() - before;
        }
        assert!(self.is_clean(&message).await?);
        Ok((trips[0], trips[1]))
    }
}

#[tokio::test]
async fn a_message_takes_as_few_round_trips_as_its_plan_has_steps() -> Result<()> {
    with_place(async |place| {
        for ((incoming, outgoing, sends), expected) in [
            ((false, false, 3), (7, 3)),
            ((false, true, 3), (5, 3)),
            ((true, false, 3), (5, 1)),
            ((true, true, 3), (3, 1)),
            ((true, true, 0), (2, 1)),
        ] {
            let endpoint = Endpoint::of(place, incoming, outgoing).await?;
            let name = format!("{incoming} {outgoing} {sends}");
            endpoint.trips(&format!("warm {name}"), sends).await?;
            assert_eq!(endpoint.trips(&name, sends).await?, expected, "{name}");
        }
        Ok(())
    })
    .await
}

/// Many messages of one entity arrive at once, each of them twice, at two clients. Each message counts once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_workers_on_one_entity_process_each_message_once() -> Result<()> {
    with_place(async |place| {
        for joined in [false, true] {
            let (one, other) = (Endpoint::of(place, joined, joined).await?, Endpoint::of(place, joined, joined).await?);
            let (entity, mut messages) = (format!("entity {joined}"), vec![]);
            let ids: Vec<_> = ('A'..='P').map(|id| if joined { id } else { id.to_ascii_lowercase() }).collect();
            for id in &ids {
                messages.push(one.message(&id.to_string(), &entity).await?);
            }
            let workers = [one.processor(1), other.processor(1)].into_iter().flat_map(|processor| {
                let works = messages.clone().into_iter().map(move |message| (processor.clone(), message));
                works.map(|(processor, message)| async move { processor.process(&message).await.map_err(failed) })
            });
            at_once(workers).await?;
            let opened = one.entities.open(&entity.parse()?, &"m".parse()?, None).await?;
            let mut state = opened.state.ok_or_else(|| failed("no state"))?.as_bytes().to_vec();
            state.sort_unstable();
            assert_eq!(String::from_utf8_lossy(&state), String::from_iter(&ids));
            for message in &messages {
                assert!(one.is_clean(message).await?, "{message:?}");
            }
        }
        Ok(())
    })
    .await
}

//! Workers that process copies of the same messages at once.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use storagebox_core::{
    Backend, BoxError, Decision, Dispatcher, EntityLedger, Handler, Joins, Message, Outgoing, Payload, Processor,
    Result, TokenId, TokenStore, async_trait,
};
use tokio::task::JoinSet;

use super::{failed, id};

const MESSAGES: usize = 4;

/// A transport that keeps the messages that were sent.
#[derive(Debug, Default)]
struct Queue(Mutex<Vec<Outgoing>>);

#[async_trait]
impl Dispatcher for Queue {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        self.0.lock().map_err(|_| "a panic")?.extend_from_slice(messages);
        Ok(())
    }
}

/// A handler that adds the message's id to the state, and sends one message.
struct Sends;

#[async_trait]
impl Handler for Sends {
    async fn handle(&self, state: Option<Payload>, message: &Message) -> Result<Decision, BoxError> {
        let state = String::from_utf8(state.unwrap_or_default().into_bytes().to_vec())?;
        Ok(Decision::put(format!("{state}{};", message.id))?.send("next", "content")?)
    }
}

/// The entities and the tokens of one client.
struct Client {
    entities: Arc<dyn EntityLedger>,
    tokens: Arc<dyn TokenStore>,
    processor: Processor,
}

impl Client {
    fn of(store: &dyn Backend, (incoming, outgoing): (bool, bool), queue: &Arc<Queue>) -> Result<Self> {
        let name = format!("joined-{incoming}-{outgoing}");
        let joined = |is_joined: bool| is_joined.then(|| id(&name));
        let joins = Joins { incoming: joined(incoming), outgoing: joined(outgoing) };
        let (entities, tokens) = (store.entity_ledger(&id(&name), &joins)?, store.token_store(&id(&name))?);
        let processor = Processor::new(Arc::clone(&entities), Arc::clone(&tokens), Sends);
        let processor = processor.sends(Arc::clone(&tokens), Arc::clone(queue) as _);
        Ok(Self { entities, tokens, processor })
    }

    /// Creates messages with live tokens.
    async fn messages(&self) -> Result<Vec<Message>> {
        let tokens: Vec<TokenId> = (0..MESSAGES).map(|number| id(&format!("token of {number}"))).collect();
        self.tokens.create_tokens(&tokens).await?;
        let message = |(number, token)| Ok(Message::new(format!("{number}"), "entity", "")?.with_token(token));
        tokens.into_iter().enumerate().map(message).collect()
    }

    /// Checks that each message changed the entity once and sent one message. No entry and no token may be left.
    async fn assert_finished(&self, messages: &[Message], queue: &Queue) -> Result<()> {
        assert_eq!(self.entities.pending(None, 10).await?.entries, []);
        for message in messages {
            assert!(!self.tokens.exists(message.token.as_ref().expect("a token")).await?, "{message:?}");
        }
        let state = self.entities.open(&id("entity"), &id("look"), None).await?.state.unwrap_or_default();
        let mut changes: Vec<_> = state.as_bytes().split_inclusive(|byte| *byte == b';').collect();
        changes.sort_unstable();
        assert_eq!(changes, [b"0;", b"1;", b"2;", b"3;"]);
        let sent = queue.0.lock().expect("no panic").clone();
        let distinct: BTreeSet<_> = sent.iter().map(|sent| (&sent.id, &sent.token)).collect();
        assert_eq!(distinct.len(), MESSAGES, "a message was sent with two ids or tokens: {sent:?}");
        for (_, token) in distinct {
            assert!(self.tokens.exists(token).await?, "{token} was sent and is not there");
        }
        Ok(())
    }
}

/// Processes four copies of each message at once over two clients, in the four ways to join entities and tokens.
pub async fn racing_copies_take_effect_once(stores: [&dyn Backend; 2]) -> Result<()> {
    for joins in [(false, false), (false, true), (true, false), (true, true)] {
        let queue = Arc::default();
        let clients = [Client::of(stores[0], joins, &queue)?, Client::of(stores[1], joins, &queue)?];
        let (messages, mut copies) = (clients[0].messages().await?, JoinSet::new());
        for copy in 0..4 {
            for message in messages.clone() {
                let processor = clients[copy % 2].processor.clone();
                copies.spawn(async move { processor.process(&message).await.map(drop).map_err(failed) });
            }
        }
        copies.join_all().await.into_iter().collect::<Result<()>>()?;
        clients[0].assert_finished(&messages, &queue).await?;
    }
    Ok(())
}

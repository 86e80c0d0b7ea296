//! Measures the time saved if tokens change in the same step as the entities.

use std::sync::Arc;

use storagebox::dedup::Version;
use storagebox::messages::{BoxError, Dispatcher, EntryId, Outgoing, Output};
use storagebox::parts::{Backend, Chosen, Commit, Committed, EntityLedger, Ids, Joins, RandomIds, TokenStore};
use storagebox::values::{Namespace, TokenId};
use storagebox::{Consumed, Decision, MemoryStore, Message, OpId, Outcome, Payload, Processor, async_trait};

use super::side::{Caller, ids, prepared};
use crate::error::{Failure, Result};
use crate::row::{Load, Prepared, Row, Side, Target};

const ENTITIES: usize = 1_024;

/// Returns the rows that process messages. Each message changes an entity and sends one message.
pub(super) fn rows() -> Vec<Row> {
    [1, 16].map(joined_against_the_article).into()
}

fn joined_against_the_article(concurrency: usize) -> Row {
    Row {
        id: "P16",
        op: "process, joined",
        backend: "memory",
        concurrency,
        guess: 5_000,
        meter: None,
        target: Target::ratio(2.0),
        ours: Side::new(joined),
        floor: Side::new(by_hand),
    }
}

async fn joined(load: Load) -> Result<Prepared> {
    by_a_processor(&MemoryStore::new(), load).await
}

async fn by_hand(load: Load) -> Result<Prepared> {
    by_the_article(&MemoryStore::new(), load).await
}

/// Processes messages with a processor, which changes tokens and entities in one step.
pub(super) async fn by_a_processor(store: &impl Backend, load: Load) -> Result<Prepared> {
    let names = Names::new()?;
    let [incoming, outgoing] = [store.token_store(&names.incoming)?, store.token_store(&names.outgoing)?];
    let joins = Joins { incoming: Some(names.incoming), outgoing: Some(names.outgoing) };
    let entities = store.entity_ledger(&names.entities, &joins)?;
    let processor = Processor::new(entities, Arc::clone(&incoming), decide).sends(outgoing, Arc::new(Sink));
    Ok(prepared(load, ByProcessor(processor), messages(load, &*incoming).await?))
}

pub(super) async fn by_the_article(store: &impl Backend, load: Load) -> Result<Prepared> {
    let names = Names::new()?;
    let [incoming, outgoing] = [store.token_store(&names.incoming)?, store.token_store(&names.outgoing)?];
    let entities = store.entity_ledger(&names.entities, &Joins::default())?;
    let messages = messages(load, &*incoming).await?;
    Ok(prepared(load, ByTheArticle { entities, incoming, outgoing }, messages))
}

struct Names {
    entities: Namespace,
    incoming: Namespace,
    outgoing: Namespace,
}

impl Names {
    fn new() -> Result<Self> {
        Ok(Self { entities: "orders".parse()?, incoming: "orders".parse()?, outgoing: "parcels".parse()? })
    }
}

/// Creates the tokens of a measurement's messages, and returns the messages.
async fn messages(load: Load, incoming: &dyn TokenStore) -> Result<Vec<Message>> {
    let message = |(number, id): (usize, String)| {
        let message = Message::new(id.clone(), format!("order-{}", number % ENTITIES), "1 book")?;
        Ok(message.with_token(id.parse()?))
    };
    let messages: Vec<Message> = ids(load).enumerate().map(message).collect::<Result<_>>()?;
    let tokens: Vec<TokenId> = messages.iter().filter_map(|message| message.token.clone()).collect();
    incoming.create_tokens(&tokens).await?;
    Ok(messages)
}

async fn decide(_state: Option<Payload>, order: Message) -> Result<Decision, BoxError> {
    Ok(Decision::put(order.body.clone())?.send("parcels", order.body)?)
}

struct Sink;

#[async_trait]
impl Dispatcher for Sink {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        std::hint::black_box(messages);
        Ok(())
    }
}

struct ByProcessor(Processor);

impl Caller for ByProcessor {
    type Argument = Message;

    async fn call(&self, message: &Message) -> Result<()> {
        match self.0.process(message).await {
            Ok(Outcome::Processed { sent: 1 }) => Ok(()),
            other => Err(Failure::NotNew { answer: format!("{other:?}") }),
        }
    }
}

/// Processes messages in the separate steps of the article.
struct ByTheArticle {
    entities: Arc<dyn EntityLedger>,
    incoming: Arc<dyn TokenStore>,
    outgoing: Arc<dyn TokenStore>,
}

impl Caller for ByTheArticle {
    type Argument = Message;

    /// Processes a message. Begins again if another message changes the entity between two steps.
    async fn call(&self, message: &Message) -> Result<()> {
        let Some(token) = &message.token else { return Err(not_new(message)) };
        loop {
            let opened = self.entities.open(&message.entity, &message.id, None).await?;
            if !self.incoming.exists(token).await? {
                return Err(not_new(message));
            }
            let decision = decide(opened.state, message.clone()).await.map_err(|_| not_new(message))?;
            let attempt = OpId::new(RandomIds.fresh())?;
            let (entry, outgoing) = sent(&attempt, message, &decision)?;
            let commit = commit(message, opened.version, attempt, decision);
            if self.entities.commit(&commit).await? == Committed::Committed {
                return self.finish(&entry, token, &outgoing).await;
            }
        }
    }
}

impl ByTheArticle {
    async fn finish(&self, entry: &EntryId, token: &TokenId, outgoing: &[Outgoing]) -> Result<()> {
        let tokens: Vec<_> = outgoing.iter().map(|outgoing| outgoing.token.clone()).collect();
        self.outgoing.create_tokens(&tokens).await?;
        let Chosen::Chosen(_) = self.entities.choose(entry, &entry.commit).await? else {
            return Err(Failure::NotNew { answer: "no entry".to_owned() });
        };
        Sink.dispatch(outgoing).await.map_err(|_| Failure::NotNew { answer: "not sent".to_owned() })?;
        match self.incoming.consume(token, &entry.commit).await? {
            Consumed::Now => {}
            other => return Err(Failure::NotNew { answer: format!("{other:?}") }),
        }
        self.entities.remove(entry).await?;
        Ok(())
    }
}

fn sent(attempt: &OpId, message: &Message, decision: &Decision) -> Result<(EntryId, Vec<Outgoing>)> {
    let outgoing = decision.outputs.iter().enumerate().map(|(index, Output { destination, body })| {
        let id = format!("{attempt}-{index}");
        let (destination, body) = (destination.clone(), body.clone());
        Ok(Outgoing { id: id.parse()?, token: id.parse()?, destination, body })
    });
    let entry = EntryId { key: message.entity.clone(), message: message.id.clone(), commit: attempt.clone() };
    Ok((entry, outgoing.collect::<Result<_>>()?))
}

/// Returns the commit of an incoming message. The entry of the commit contains the message to be sent.
fn commit(message: &Message, opened: Option<Version>, attempt: OpId, decision: Decision) -> Commit {
    Commit {
        key: message.entity.clone(),
        message: message.id.clone(),
        opened,
        change: decision.change,
        attempt,
        entry: decision.outputs.into_iter().next().map(|output| output.body),
        consume: None,
        create: vec![],
    }
}

fn not_new(message: &Message) -> Failure {
    Failure::NotNew { answer: format!("{message:?} was processed before") }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;

    const LOAD: Load = Load { slice: 1, calls: 200, tasks: 4 };

    #[test]
    fn both_sides_process_every_message() {
        Builder::new_multi_thread().build().unwrap().block_on(async {
            for side in [joined(LOAD).await.unwrap(), by_hand(LOAD).await.unwrap()] {
                for task in side.tasks {
                    task.await.unwrap();
                }
            }
        });
    }
}

//! Many workers on one entity: each of them makes progress.

use std::fmt;
use std::time::Duration;

use storagebox::messages::ProcessError;
use storagebox::{Message, Payload, Processor, Result, Store};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::chain::received;
use super::sums::Sums;
use crate::Failure;
use crate::place::Place;
use crate::tally::Tally;

const WORKERS: usize = 32;
/// The number of messages that each worker processes, one after another.
const MESSAGES: usize = 20;
/// The maximum number of redeliveries per message.
const MOST_TIMES: usize = 10;
/// The number of store clients that the workers share. More clients could use up the connections of a server.
const CLIENTS: usize = 4;
const ENTITY: &str = "soak-hot";

/// The time that each message took, from its first delivery to the answer.
pub(super) struct Waits {
    sorted: Vec<Duration>,
    /// The number of redeliveries after a retryable error.
    contended: usize,
}

/// Lets all workers process their messages at once, and checks that each message changed the entity exactly once.
pub(super) async fn one(place: &Place, tally: &Tally) -> Result<Waits, Failure> {
    let mut stores = vec![];
    for _ in 0..CLIENTS {
        stores.push(place.store().await?);
    }
    let mut work = JoinSet::new();
    for number in 0..WORKERS {
        work.spawn(worker(stores[number % CLIENTS].clone(), number));
    }
    let mut waits = Waits { sorted: vec![], contended: 0 };
    while let Some(ended) = work.join_next().await {
        let (durations, contended) = ended??;
        waits.sorted.extend(durations);
        waits.contended += contended;
    }
    waits.sorted.sort_unstable();
    let processor = stores[0].processor(ENTITY, received)?.build()?;
    let found = Sums::of(processor.state(ENTITY).await?.as_ref())?;
    if found != (0..(WORKERS * MESSAGES) as u64).fold(Sums::default(), Sums::with) {
        tally.wrong(format!("{WORKERS} workers left one entity with the sums {found}"));
    }
    Ok(waits)
}

async fn worker(store: Store, number: usize) -> Result<(Vec<Duration>, usize), Failure> {
    let (processor, tokens) = (store.processor(ENTITY, received)?.build()?, store.tokens(ENTITY)?);
    let (mut waits, mut contended) = (vec![], 0);
    for message in 0..MESSAGES {
        let number = number * MESSAGES + message;
        let token = format!("soak-hot-{number}");
        tokens.create([token.as_str()]).await?;
        let message = Message::new(token.as_str(), ENTITY, Payload::try_from(number.to_string())?)?;
        let begun = Instant::now();
        contended += processed(&processor, &message.with_token(token.parse()?)).await?;
        waits.push(begun.elapsed());
    }
    Ok((waits, contended))
}

/// Processes the message. Returns the number of redeliveries.
async fn processed(processor: &Processor, message: &Message) -> Result<usize, ProcessError> {
    let mut again = 0;
    loop {
        match processor.process(message).await {
            Err(ProcessError::Store(error)) if error.is_retryable() && again < MOST_TIMES => again += 1,
            outcome => return outcome.map(|_| again),
        }
    }
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |share: usize| self.sorted[(self.sorted.len() * share / 100).min(self.sorted.len() - 1)].as_millis();
        let [half, most, all] = [50, 99, 100].map(at);
        let (messages, contended) = (self.sorted.len(), self.contended);
        write!(
            f,
            "{WORKERS} workers on one entity: {messages} messages, half of them within {half} ms, 99 % within {most} \
             ms, all within {all} ms; {contended} calls began again after contention"
        )
    }
}

//! Two endpoints: orders, and the parcels that orders send.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use storagebox::messages::{BoxError, ProcessError};
use storagebox::values::TokenId;
use storagebox::{Decision, Message, Outcome, Payload, Processor, Result, Store, Tokens};

use super::drawn::Drawn;
use super::pass_memory;
use super::queue::{Copy, ENTITIES, OUTPUTS, Queue, lock, order};
use super::sums::Sums;
use crate::Failure;
use crate::tally::Tally;

/// The namespace of orders and of their tokens.
pub(super) const ORDERS: &str = "soak-orders";
pub(super) const PARCELS: &str = "soak-parcels";

/// Whether tokens change in the same step as the entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    Joined,
    Split,
}

pub(super) struct Chain {
    orders: Processor,
    parcels: Processor,
    store: Store,
    queue: Arc<Queue>,
    drawn: Arc<Drawn>,
}

impl Chain {
    pub(super) fn of(store: &Store, plan: Plan, queue: &Arc<Queue>, drawn: &Arc<Drawn>) -> Result<Self> {
        let orders = store.processor(ORDERS, ordered)?.sends(PARCELS, Arc::clone(queue))?;
        let parcels = store.processor(PARCELS, received)?;
        let (orders, parcels) = match plan {
            Plan::Joined => (orders.build()?, parcels.build()?),
            Plan::Split => (orders.split().build()?, parcels.split().build()?),
        };
        let [orders, parcels] = [orders, parcels].map(|processor| processor.ids(Arc::clone(drawn) as _));
        Ok(Self { orders, parcels, store: store.clone(), queue: Arc::clone(queue), drawn: Arc::clone(drawn) })
    }

    pub(super) async fn process(&self, copy: &Copy) -> Result<Outcome, ProcessError> {
        let processor = if copy.is_parcel { &self.parcels } else { &self.orders };
        processor.process(&copy.message).await
    }

    /// Checks that every message took effect once, and that no entry and no token is left.
    pub(super) async fn finished(&self, count: usize, tally: &Tally) -> Result<(), Failure> {
        let orders = (0..count as u64).fold(Sums::default(), Sums::with);
        self.ensure(tally, &self.orders, "soak-order", orders).await?;
        let sent = (0..count).flat_map(|number| (0..number % OUTPUTS).map(move |output| parcel(number, output)));
        self.ensure(tally, &self.parcels, "soak-parcel", sent.fold(Sums::default(), Sums::with)).await?;
        self.one_token_for_all_copies(tally);
        self.no_token_is_left(count, tally).await?;
        self.nothing_grew(tally).await
    }

    async fn ensure(&self, tally: &Tally, of: &Processor, entity: &str, expected: Sums) -> Result<(), Failure> {
        let mut found = Sums::default();
        for number in 0..ENTITIES {
            let state = of.state(format!("{entity}-{number}")).await?;
            found = found.and(Sums::of(state.as_ref())?);
        }
        if found != expected {
            tally.wrong(format!("the entities {entity} have the sums {found} instead of {expected}"));
        }
        no_entry_is_left(of, entity, tally).await
    }

    fn one_token_for_all_copies(&self, tally: &Tally) {
        let mut copies = BTreeMap::<String, BTreeSet<(String, TokenId)>>::new();
        for outgoing in lock(&self.queue.sent).iter() {
            let body = String::from_utf8_lossy(outgoing.body.as_bytes()).into_owned();
            copies.entry(body).or_default().insert((outgoing.id.to_string(), outgoing.token.clone()));
        }
        if let Some((body, copies)) = copies.iter().find(|(_, copies)| copies.len() > 1) {
            tally.wrong(format!("the parcel {body} was sent with several ids or tokens: {copies:?}"));
        }
    }

    /// Checks that no token of a message or of an abandoned attempt is left.
    async fn no_token_is_left(&self, count: usize, tally: &Tally) -> Result<(), Failure> {
        let received: Vec<_> = (0..count).filter_map(|number| order(number).ok()?.token).collect();
        none_lives(&self.store.tokens(ORDERS)?, &received, tally).await?;
        let of =
            |id: &String| (0..OUTPUTS).filter_map(|output| format!("{id}-{output}").parse().ok()).collect::<Vec<_>>();
        let attempted: Vec<TokenId> = self.drawn.all().iter().flat_map(of).collect();
        none_lives(&self.store.tokens(PARCELS)?, &attempted, tally).await
    }

    /// Waits until the store has forgotten all ended operations, and then runs maintenance until nothing is left to
    /// delete.
    async fn nothing_grew(&self, tally: &Tally) -> Result<(), Failure> {
        pass_memory().await;
        let mut deleted = 0;
        loop {
            let maintained = self.store.maintain(10_000).await?;
            deleted += maintained.deleted;
            if !maintained.more {
                break;
            }
        }
        println!("upkeep after all has deleted {deleted} entries; {tally}");
        Ok(())
    }
}

async fn no_entry_is_left(of: &Processor, entity: &str, tally: &Tally) -> Result<(), Failure> {
    let left = of.pending().all().await?;
    if !left.is_empty() {
        tally.wrong(format!("entries of {entity} are left: {left:?}"));
    }
    Ok(())
}

/// Checks that none of the tokens exists.
async fn none_lives(tokens: &Tokens, all: &[TokenId], tally: &Tally) -> Result<(), Failure> {
    for some in all.chunks(64) {
        let looks = some.iter().map(|token| async move { (token, tokens.exists(token).await) });
        for (token, lives) in futures_util::future::join_all(looks).await {
            if lives? {
                tally.wrong(format!("the token {token:?} is left"));
            }
        }
    }
    Ok(())
}

fn number_of(body: &Payload) -> Result<u64, BoxError> {
    Ok(std::str::from_utf8(body.as_bytes())?.parse()?)
}

/// Returns the number of the parcel with the index `output` in the order `number`.
fn parcel(number: usize, output: usize) -> u64 {
    (number * OUTPUTS + output) as u64
}

async fn ordered(state: Option<Payload>, message: Message) -> Result<Decision, BoxError> {
    let number = number_of(&message.body)?;
    let mut decision = Decision::put(Sums::of(state.as_ref())?.with(number).to_string())?;
    let number = usize::try_from(number)?;
    for output in 0..number % OUTPUTS {
        let parcel = parcel(number, output);
        let entity = format!("soak-parcel-{}", parcel % ENTITIES as u64);
        decision = decision.send(entity, parcel.to_string())?;
    }
    Ok(decision)
}

pub(super) async fn received(state: Option<Payload>, message: Message) -> Result<Decision, BoxError> {
    Ok(Decision::put(Sums::of(state.as_ref())?.with(number_of(&message.body)?).to_string())?)
}

//! Messages that are parked past every memory of the store, and then sent again.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::StreamExt;
use storagebox::{Dispatcher, Outgoing, TokenId};
use storagebox_transports::{Delivery, Received, Settle};

use crate::balance::Balance;
use crate::copy::Copy;
use crate::crew::Crew;
use crate::failure::Failure;
use crate::messages::{ARTICLES, PIECES};
use crate::place::{Dedup, Place};
use crate::run::Run;
use crate::stage::Stage;
use crate::tally::Said;
use crate::wait::Wait;

/// For how long the store remembers tokens that are gone. The calls of this run take less.
pub(crate) const REMEMBER: &str = "5s";

/// Orders whose parcels are parked.
pub(crate) const ORDERS: u64 = 5;

/// How many entries one call of upkeep deletes at the most.
const ENTRIES: usize = 10_000;

/// What upkeep has deleted in all.
#[derive(Debug, Default)]
struct Upkeep(u64);

/// Shelves are empty, so that shipping parks its messages. Upkeep deletes what the store remembers, the shelves are
/// filled, the messages are sent again; upkeep deletes what is remembered of that, and a copy of each comes once more.
pub(crate) async fn parked(place: &Place) -> Result<Balance, Failure> {
    let (run, mut upkeep) = (Run::open(place).await?, Upkeep::default());
    let paying = Crew::start(place, &[Stage::Orders, Stage::Payments], 1, &run.tally);
    run.deposit().await?;
    run.until("deposits", |seen| seen.coins > 0).await?;
    run.place_only(ORDERS).await?;
    run.until("payments", |seen| seen.bank.orders == ORDERS && seen.half_done == [0; 3]).await?;
    let copies = copies(&run).await?;
    let shipping = Crew::start(place, &[Stage::Shipping], 1, &run.tally);
    run.said(Said::Parked, ORDERS).await?;
    // The tokens of orders, payments and requests to the bank.
    upkeep.has_deleted(3 * ORDERS, &run).await?;
    run.supply().await?;
    run.until("pieces", |seen| seen.pieces == ARTICLES * PIECES).await?;
    run.site.queues.redrive(&run.site.queue(Stage::Shipping)?).await.map_err(Failure::Queues)?;
    run.until("parcels", |seen| seen.is_over()).await?;
    // Those of parcels and of requests to the carrier.
    upkeep.has_deleted(5 * ORDERS, &run).await?;
    run.site.queues.dispatch(&copies).await.map_err(Failure::Queues)?;
    let late = if place.dedup == Dedup::On { Said::Duplicate } else { Said::Processed };
    run.said(late, ORDERS).await?;
    shipping.stop().await?;
    paying.stop().await?;
    Balance::of(&run.site, ORDERS, ARTICLES * PIECES).await
}

/// A copy of each message for shipping, as an observer of the wire has them. The messages stay in the queue.
async fn copies(run: &Run) -> Result<Vec<Outgoing>, Failure> {
    let queue = run.site.queue(Stage::Shipping)?;
    let mut deliveries = run.site.queues.deliveries(&queue, false);
    let (mut copies, mut held) = (BTreeMap::new(), Vec::new());
    while copies.len() < ORDERS as usize {
        let Some(delivery) = deliveries.next().await else { break };
        let delivery = delivery.map_err(Failure::Queues)?;
        if let Ok(Received { id, token: Some(token), body }) = delivery.received().cloned() {
            copies.insert(id.clone(), outgoing(&queue, id, token, body));
        }
        held.push(delivery);
    }
    for delivery in held {
        give_back(&delivery).await?;
    }
    Ok(copies.into_values().collect())
}

fn outgoing(
    queue: &storagebox::Destination,
    id: storagebox::MessageId,
    token: TokenId,
    body: storagebox::Payload,
) -> Outgoing {
    Outgoing { id, token, destination: queue.clone(), body }
}

async fn give_back(delivery: &Copy) -> Result<(), Failure> {
    delivery.settle(Settle::Retry { after: Duration::ZERO }).await.map_err(Failure::Queues)
}

impl Run {
    /// Waits until shipping has said it so often.
    async fn said(&self, said: Said, times: u64) -> Result<(), Failure> {
        let mut wait = Wait::for_("shipping to speak", &self.log);
        while self.tally.counts().of(Stage::Shipping, said) < times {
            wait.look_again(self.tally.counts().events()).await?;
        }
        Ok(())
    }
}

impl Upkeep {
    /// Upkeep deletes what the store need not remember any more. Waits until it has deleted so much in all.
    async fn has_deleted(&mut self, entries: u64, run: &Run) -> Result<(), Failure> {
        let mut wait = Wait::for_("the end of the store's memory", &run.log);
        while self.0 < entries {
            self.0 += run.site.store.maintain(ENTRIES).await?.deleted;
            wait.look_again(self.0).await?;
        }
        Ok(())
    }
}

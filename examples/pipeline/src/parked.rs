//! Messages that are parked past every memory of the store, and then sent again.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use futures_util::StreamExt;
use storagebox::messages::{Dispatcher, Outgoing};
use storagebox_testkit::Folder;
use storagebox_transports::{Delivery, Received, Settle};

use crate::balance::Balance;
use crate::broker::Broker;
use crate::copy::Copy;
use crate::crew::Crew;
use crate::failure::Failure;
use crate::messages::{ARTICLES, COINS, CUSTOMERS, PIECES};
use crate::place::{Dedup, Place};
use crate::run::Run;
use crate::stage::Stage;
use crate::tally::Said;
use crate::wait::Wait;

/// For how long the store remembers tokens that are gone. The calls of this run take less.
const REMEMBER: &str = "3s";

/// Orders whose parcels are parked.
const ORDERS: u64 = 5;

/// How many entries one call of upkeep deletes at the most.
const ENTRIES: usize = 10_000;

#[derive(Args, Clone)]
pub(crate) struct Parked {
    /// The URL of a broker, or the kind of a server to start.
    #[arg(long, env = "PIPELINE_TRANSPORT", hide_env_values = true, default_value = "redis")]
    transport: String,
    /// With `off`, stages ignore the tokens of their messages.
    #[arg(long, default_value = "on")]
    dedup: Dedup,
}

impl Parked {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let broker = Broker::open(&self.transport).await?;
        let balance = at(&broker, self.dedup).await?;
        println!("{balance}");
        // With the deduplication off, nobody consumes tokens.
        let verdict = if self.dedup == Dedup::On { balance.whole() } else { balance.goods() };
        verdict.map_err(Failure::Unbalanced)
    }
}

/// Over a broker, with a store in a SQLite file, whatever the broker: a store gets its memory when it is set up.
pub(crate) async fn at(broker: &Broker, dedup: Dedup) -> Result<Balance, Failure> {
    let folder = Folder::new("pipeline")?;
    let store = format!("{}?remember={REMEMBER}", Place::sqlite(folder.path()));
    parked(&Place { name: Place::fresh_name(), store, transport: broker.url(), folder: folder.path().into(), dedup })
        .await
}

/// Shelves are empty, so that shipping parks its messages. Upkeep deletes what the store remembers, the shelves are
/// filled, the messages are sent again; upkeep deletes what is remembered of that, and a copy of each comes once more.
async fn parked(place: &Place) -> Result<Balance, Failure> {
    let run = Run::open(place).await?;
    let paying = Crew::start(place, &[Stage::Orders, Stage::Payments], 1, &run.tally);
    run.deposit().await?;
    run.until("deposits", |seen| seen.coins == CUSTOMERS * COINS).await?;
    run.place_only(ORDERS).await?;
    run.until("payments", |seen| seen.bank.orders == ORDERS && seen.half_done == [0; 3]).await?;
    let copies = copies(&run).await?;
    let shipping = Crew::start(place, &[Stage::Shipping], 1, &run.tally);
    run.said(Said::Parked, ORDERS).await?;
    // The tokens of deposits, orders, payments and requests to the bank. With the deduplication off, only the last end.
    let is_on = place.dedup == Dedup::On;
    run.forgets(if is_on { CUSTOMERS + 3 * ORDERS } else { ORDERS }).await?;
    run.supply().await?;
    run.until("pieces", |seen| seen.pieces == ARTICLES * PIECES).await?;
    run.site.queues.redrive(&run.site.queue(Stage::Shipping)?).await.map_err(Failure::Queues)?;
    run.until("parcels", |seen| run.is_over(seen)).await?;
    // Those of supplies, parcels and requests to the carrier.
    run.forgets(if is_on { ARTICLES + 2 * ORDERS } else { ORDERS }).await?;
    let late = if is_on { Said::Duplicate } else { Said::Processed };
    let before = run.tally.counts().of(Stage::Shipping, late);
    run.site.queues.dispatch(&copies).await.map_err(Failure::Queues)?;
    run.said(late, before + ORDERS).await?;
    // A copy of before may have been counted as one of these.
    run.until_quiet().await?;
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
            copies.insert(id.clone(), Outgoing { id, token, destination: queue.clone(), body });
        }
        held.push(delivery);
    }
    for delivery in held {
        give_back(&delivery).await?;
    }
    Ok(copies.into_values().collect())
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

    /// Waits until upkeep has deleted so many entries, which are all that the store remembers of tokens that are gone.
    async fn forgets(&self, entries: u64) -> Result<(), Failure> {
        let (mut deleted, mut wait) = (0, Wait::for_("the end of the store's memory", &self.log));
        while deleted < entries {
            deleted += self.site.store.maintain(ENTRIES).await?.deleted;
            wait.look_again(deleted).await?;
        }
        Ok(())
    }
}

//! Parks messages until the store has forgotten the consumed tokens, and then sends them again.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::{ArgAction, Args};
use futures_util::StreamExt;
use storagebox::messages::Outgoing;
use storagebox_testkit::Folder;
use storagebox_transports::{Delivery, Received, Settle};
use tokio::time::sleep;

use crate::audit::Audit;
use crate::events::Event;
use crate::failure::Failure;
use crate::pipeline::{Settings, on_or_off};
use crate::run::Run;
use crate::server::Server;
use crate::stage::{ENTITIES, Stage};
use crate::workers::Workers;

/// How long the store remembers consumed tokens. The time must be longer than any call of the run.
const REMEMBER: &str = "3s";
/// The number of orders whose parcels are parked.
const ORDERS: u32 = 5;
/// The maximum number of entries that one call of `maintain` deletes.
const MAX_DELETED: usize = 10_000;
/// The pause between two calls of `maintain`.
const MAINTENANCE_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Args)]
pub(crate) struct Parked {
    /// The URL of a broker, or the name of a server to start.
    #[arg(long, env = "PIPELINE_TRANSPORT", hide_env_values = true, default_value = "redis")]
    transport: String,
    /// With `off`, stages ignore the tokens of their messages.
    #[arg(long, default_value = "on", action = ArgAction::Set, value_parser = on_or_off())]
    dedup: bool,
}

impl Parked {
    pub(crate) async fn execute(self) -> Result<(), Failure> {
        let server = Server::start(&self.transport).await?;
        let url = server.map_or(self.transport, |server| server.url());
        let audit = park(url, self.dedup).await?;
        println!("{audit}");
        Ok(audit.check()?)
    }
}

/// Carries out a run that parks messages at the broker with this URL. Returns the audit of the run.
pub(crate) async fn park(transport: String, dedup: bool) -> Result<Audit, Failure> {
    let folder = Folder::new("pipeline")?;
    // The store is always a new SQLite file, because the setup of a store sets how long it remembers tokens.
    let mut settings = Settings::new(folder.path(), transport, None, dedup);
    settings.store += &format!("?remember={REMEMBER}");
    let run = Run::open(&settings).await?;
    run.unless_stuck(run.park()).await?;
    Audit::of(&run.pipeline).await
}

impl Run {
    /// Parks the messages for shipping, lets the store forget all consumed tokens, and sends the messages again.
    /// Repeats this with a copy of each message.
    async fn park(&self) -> Result<(), Failure> {
        let settings = &self.pipeline.settings;
        let paying = Workers::start(settings, &[Stage::Orders, Stage::Payments], 1);
        self.supply(Stage::Payments).await?;
        self.place(0..ORDERS).await?;
        self.until(|view| view.bank.orders == ORDERS && view.unfinished() == 0).await?;
        let copies = self.copies().await?;
        // The shelves are empty, so the workers park the messages.
        let shipping = Workers::start(settings, &[Stage::Shipping], 1);
        self.until_event(|events| events.count(Event::Parked(Stage::Shipping)) >= ORDERS).await?;
        // These are the tokens of supplies, orders, payments and requests to the bank. Without deduplication, only the
        // tokens of requests end.
        self.forget(if settings.dedup { ENTITIES + 3 * ORDERS } else { ORDERS }).await?;
        self.supply(Stage::Shipping).await?;
        let queue = self.pipeline.queue(Stage::Shipping.name())?;
        self.pipeline.queues.redrive(&queue).await?;
        self.until_over().await?;
        // These are the tokens of supplies, parcels and requests to the carrier.
        self.forget(if settings.dedup { ENTITIES + 2 * ORDERS } else { ORDERS }).await?;
        let late = if settings.dedup { Event::Duplicate } else { Event::Processed }(Stage::Shipping);
        let before = self.events()?.count(late);
        self.pipeline.queues.dispatcher().dispatch(&copies).await?;
        self.until_event(|events| events.count(late) >= before + ORDERS).await?;
        // Another copy may have been counted as one of these copies, so the run waits until no copy is left.
        self.settle().await?;
        shipping.stop().await?;
        paying.stop().await
    }

    /// Returns a copy of each message for shipping. The messages stay in the queue.
    async fn copies(&self) -> Result<Vec<Outgoing>, Failure> {
        let queue = self.pipeline.queue(Stage::Shipping.name())?;
        let mut deliveries = self.pipeline.queues.deliveries(&queue, true)?;
        let (mut copies, mut held) = (BTreeMap::new(), Vec::new());
        while copies.len() < ORDERS as usize {
            let Some(delivery) = deliveries.next().await else { break };
            let delivery = delivery?;
            if let Ok(Received { id, token: Some(token), body }) = delivery.received().cloned() {
                copies.insert(id.clone(), Outgoing { id, token, destination: queue.clone(), body });
            }
            held.push(delivery);
        }
        for delivery in held {
            delivery.settle(Settle::Retry { after: Duration::ZERO }).await?;
        }
        Ok(copies.into_values().collect())
    }

    /// Calls `maintain` until the store has deleted `entries` entries.
    async fn forget(&self, entries: u32) -> Result<(), Failure> {
        let mut deleted = 0;
        while deleted < entries.into() {
            deleted += self.pipeline.store.maintain(MAX_DELETED).await?.deleted;
            sleep(MAINTENANCE_INTERVAL).await;
        }
        Ok(())
    }
}

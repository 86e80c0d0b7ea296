//! A run: orders are placed, workers take them through the stages, and all must come out even.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::try_join_all;
use storagebox::Processor;
use storagebox::messages::ProcessError;

use crate::balance::Balance;
use crate::broker::Broker;
use crate::crew::Crew;
use crate::failure::Failure;
use crate::kills::Kills;
use crate::messages::{ARTICLES, Body, COINS, CUSTOMERS, Order, PIECES};
use crate::picture::Picture;
use crate::place::{Place, Site};
use crate::queues::LEASE;
use crate::stage::Stage;
use crate::tally::{Counts, Tally};
use crate::wait::Wait;
use crate::watch::{Seen, Watch};

/// How many orders may be on their way at once.
const ON_THE_WAY: u64 = 120;
/// How many are placed at once.
const AT_ONCE: u64 = 8;

/// What to do.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) place: Place,
    pub(crate) broker: Broker,
    /// How many orders are placed at least: more if there are kills left.
    pub(crate) orders: u64,
    /// Workers of each stage.
    pub(crate) workers: usize,
    pub(crate) kills: Kills,
}

/// A pipeline at work.
pub(crate) struct Run {
    pub(crate) site: Site,
    pub(crate) tally: Arc<Tally>,
    pub(crate) log: PathBuf,
    placed: AtomicU64,
    arrived: AtomicU64,
    is_killing: AtomicBool,
    picture: Mutex<Picture>,
    /// What sends the first messages.
    edge: Processor,
}

/// Runs a plan to its end. What is left of it is for the caller to judge.
pub(crate) async fn run(plan: &Plan) -> Result<(Balance, Counts), Failure> {
    let run = Run::open(&plan.place).await?;
    if plan.kills.brokers > 0 {
        plan.broker.keep_queues().await?;
    }
    let crew = Crew::start(&plan.place, &Stage::ALL, plan.workers, &run.tally);
    run.work(plan, &crew).await?;
    crew.stop().await?;
    let balance = Balance::of(&run.site, run.placed(), ARTICLES * PIECES).await?;
    Ok((balance, run.tally.counts()))
}

impl Run {
    pub(crate) async fn open(place: &Place) -> Result<Self, Failure> {
        let site = Site::open(place).await?;
        site.setup().await?;
        let (edge, log) = (site.processor(Stage::Orders)?, place.log());
        let (placed, arrived, is_killing) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(true));
        let (tally, picture) = (Arc::default(), Mutex::new(Picture::new()));
        Ok(Self { site, tally, log, placed, arrived, is_killing, picture, edge })
    }

    pub(crate) fn placed(&self) -> u64 {
        self.placed.load(Ordering::Relaxed)
    }

    async fn work(&self, plan: &Plan, crew: &Crew) -> Result<(), Failure> {
        self.deposit().await?;
        self.supply().await?;
        let all_there = |seen: &Seen| (seen.coins, seen.pieces) == (CUSTOMERS * COINS, ARTICLES * PIECES);
        self.until("coins and pieces", all_there).await?;
        let killed = async {
            plan.kills.carry_out(3 * plan.orders, crew, &plan.broker, &self.tally, &self.log).await?;
            self.is_killing.store(false, Ordering::Relaxed);
            Ok(())
        };
        let is_placed = AtomicBool::new(false);
        let placed = async {
            self.place_orders(plan.orders).await?;
            is_placed.store(true, Ordering::Relaxed);
            Ok(())
        };
        let over =
            |seen: &Seen| is_placed.load(Ordering::Relaxed) && seen.placed == self.placed() && self.is_over(seen);
        tokio::try_join!(killed, placed, self.until("the last parcels", over))?;
        if plan.kills.any() { self.until_quiet().await } else { Ok(()) }
    }

    /// Gives each customer the coins to begin with.
    pub(crate) async fn deposit(&self) -> Result<(), Failure> {
        let deposits = (0..CUSTOMERS).map(|customer| Body::Deposit { customer, coins: COINS });
        self.issue("deposits", Stage::Payments, deposits).await
    }

    /// Fills the shelves.
    pub(crate) async fn supply(&self) -> Result<(), Failure> {
        let supplies = (0..ARTICLES).map(|article| Body::Supply { article, pieces: PIECES });
        self.issue("supplies", Stage::Shipping, supplies).await
    }

    /// Places so many orders, and more while there are kills left, so that each hits a pipeline at work.
    async fn place_orders(&self, orders: u64) -> Result<(), Failure> {
        while self.placed() < orders || self.is_killing.load(Ordering::Relaxed) {
            let mut wait = Wait::for_("room for orders", &self.log);
            while self.placed().saturating_sub(self.arrived.load(Ordering::Relaxed)) >= ON_THE_WAY {
                wait.look_again(self.tally.counts().events()).await?;
            }
            let (first, most) = (self.placed(), orders.saturating_sub(self.placed()));
            let some = if most == 0 { AT_ONCE } else { AT_ONCE.min(most) };
            try_join_all((first..first + some).map(|number| self.place(number))).await?;
            self.placed.fetch_add(some, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Places so many orders and no more.
    pub(crate) async fn place_only(&self, orders: u64) -> Result<(), Failure> {
        self.is_killing.store(false, Ordering::Relaxed);
        self.place_orders(orders).await
    }

    async fn place(&self, number: u64) -> Result<(), Failure> {
        self.issue(&format!("order-{number}"), Stage::Orders, [Body::Order(Order::numbered(number))]).await
    }

    /// Sends the first messages of a chain, again and again with the same operation until they are sent.
    async fn issue(
        &self,
        name: &str,
        stage: Stage,
        bodies: impl IntoIterator<Item = Body> + Clone,
    ) -> Result<(), Failure> {
        let mut wait = Wait::for_("a message to be sent", &self.log);
        loop {
            let bodies = bodies.clone().into_iter().map(Body::payload).collect::<Result<Vec<_>, _>>()?;
            let messages = bodies.into_iter().map(|body| (self.site.names.queue(stage), body));
            match self.edge.issue(self.site.names.of(name), messages).await {
                Ok(_) => return Ok(()),
                Err(ProcessError::Store(error)) if !error.is_retryable() => return Err(error.into()),
                Err(_) => wait.look_again(self.tally.counts().events()).await?,
            }
        }
    }

    /// Shows the picture until what is seen is as it should be. A look that fails is made again: the broker may be the
    /// store too, and be down.
    pub(crate) async fn until(&self, what: &'static str, is_so: impl Fn(&Seen) -> bool) -> Result<(), Failure> {
        let (mut watch, mut wait) = (Watch::of(&self.site)?, Wait::for_(what, &self.log));
        loop {
            let counts = self.tally.counts();
            match watch.look(self.placed()).await {
                Ok(seen) => {
                    self.arrived.store(seen.carrier.orders, Ordering::Relaxed);
                    self.picture.lock().unwrap_or_else(PoisonError::into_inner).show(&seen, &counts);
                    if is_so(&seen) {
                        return Ok(());
                    }
                }
                Err(Failure::Store(error)) if error.is_retryable() => {}
                Err(failure) => return Err(failure),
            }
            wait.look_again(counts.events()).await?;
        }
    }

    /// Waits until nothing more happens: copies of workers that were killed, or whose settlement was lost, come again after
    /// a lease.
    pub(crate) async fn until_quiet(&self) -> Result<(), Failure> {
        let mut wait = Wait::for_("the last copies", &self.log);
        while wait.quiet() < 3 * LEASE {
            wait.look_again(self.tally.counts().events()).await?;
        }
        self.until("the outboxes", |seen| self.is_over(seen)).await
    }

    pub(crate) fn is_over(&self, seen: &Seen) -> bool {
        seen.is_over(self.site.dedup)
    }
}

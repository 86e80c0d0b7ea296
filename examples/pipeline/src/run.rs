//! A run places orders, starts workers that process them, kills some of the workers, and checks the result.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{ArgAction, Args, value_parser};
use fastrand::Rng;
use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::ProgressBar;
use storagebox::messages::ProcessError;
use storagebox::{Payload, Processor};
use storagebox_testkit::Folder;
use tokio::time::sleep;

use crate::audit::Audit;
use crate::events::{Event, Events};
use crate::failure::Failure;
use crate::pipeline::{Pipeline, Settings, on_or_off};
use crate::queues::LEASE;
use crate::server::{SERVERS, Server};
use crate::services::CARRIER;
use crate::stage::{Body, ENTITIES, Order, STOCK, Stage};
use crate::view::View;
use crate::workers::{self, Workers};

/// The maximum number of orders in flight.
const MAX_IN_FLIGHT: u32 = 120;
/// The number of orders that are placed concurrently.
const CONCURRENCY: usize = 8;
/// The pause between two views of the pipeline, and before a failed call is repeated.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The time without a new event after which a run fails. RabbitMQ takes a minute to start.
const MAX_IDLE: Duration = Duration::from_secs(300);
/// The maximum random delay between an event and a kill, in milliseconds. With random delays, a kill can hit every step
/// of a message.
const MAX_KILL_DELAY: u64 = 30;

#[derive(Args)]
pub(crate) struct RunCommand {
    /// The URL of a broker (postgres://, redis://, nats:// or amqp://), or the name of a server to start: `redis`,
    /// `postgres`, `nats` or `rabbitmq`. The server ends with the run.
    #[arg(long, env = "PIPELINE_TRANSPORT", hide_env_values = true, default_value = "redis")]
    transport: String,
    /// The URL of the store. Defaults to the server that the run starts, or to a SQLite file if that server cannot be a
    /// store.
    #[arg(long, env = "PIPELINE_STORE", hide_env_values = true)]
    store: Option<String>,
    /// The name of the run. Defaults to a random name.
    #[arg(long)]
    name: Option<String>,
    /// The folder for the SQLite files of the external services (bank and carrier) and of the store. Defaults to a
    /// temporary folder.
    #[arg(long)]
    folder: Option<PathBuf>,
    /// With `off`, stages ignore the tokens of their messages, so that some orders are paid or shipped more than once.
    #[arg(long, default_value = "on", action = ArgAction::Set, value_parser = on_or_off())]
    dedup: bool,
    #[command(flatten)]
    load: Load,
}

/// The orders, workers and kills of a run.
#[derive(Args, Clone)]
pub(crate) struct Load {
    /// The number of orders. More orders are placed if not all kills are done after these orders.
    #[arg(long, default_value_t = 500, value_parser = value_parser!(u32).range(1..=500_000))]
    pub(crate) orders: u32,
    /// The number of workers of each stage.
    #[arg(long, default_value_t = 2, value_parser = value_parser!(u16).range(1..=64))]
    pub(crate) workers: u16,
    /// The number of workers that are killed (SIGKILL).
    #[arg(long, default_value_t = 0)]
    pub(crate) kill_workers: u32,
    /// How often the broker is killed and started again. The run must have started the broker.
    #[arg(long, default_value_t = 0)]
    pub(crate) kill_broker: u32,
    /// The seed of the kills. Defaults to a random seed, which is printed.
    #[arg(long, default_value_t = fastrand::u64(..1 << 32), hide_default_value = true)]
    pub(crate) seed: u64,
}

impl RunCommand {
    pub(crate) async fn execute(self) -> Result<(), Failure> {
        match (self.load.kill_broker, SERVERS.contains(&self.transport.as_str())) {
            (1.., false) => return Err(Failure::ForeignBroker),
            (_, false) if !self.transport.contains("://") => return Err(Failure::NoTransport),
            _ => {}
        }
        let server = Server::start(&self.transport).await?;
        let scratch = Folder::new("pipeline")?;
        let settings = self.settings(server.as_deref(), &scratch);
        std::fs::create_dir_all(&settings.folder)?;
        println!("run {}, seed {}", settings.name, self.load.seed);
        let audit = run(&settings, server.as_ref(), &self.load).await?;
        println!("{audit}");
        audit.check()?;
        println!("every order was paid once and shipped once");
        Ok(())
    }

    fn settings(&self, server: Option<&Server>, scratch: &Folder) -> Settings {
        let folder = self.folder.as_deref().unwrap_or(scratch.path());
        let transport = server.map_or_else(|| self.transport.clone(), Server::url);
        let store = self.store.clone().or_else(|| server?.store());
        let settings = Settings::new(folder, transport, store, self.dedup);
        Settings { name: self.name.clone().unwrap_or(settings.name), ..settings }
    }
}

impl Load {
    fn kills(&self) -> u32 {
        self.kill_workers + self.kill_broker
    }

    /// Returns the kills in random order: true for the broker, false for a worker.
    fn kill_order(&self, random: &mut Rng) -> Vec<bool> {
        let mut order: Vec<_> = (0..self.kills()).map(|kill| kill < self.kill_broker).collect();
        random.shuffle(&mut order);
        order
    }
}

/// Carries out a run, and returns the unchecked audit.
pub(crate) async fn run(settings: &Settings, server: Option<&Arc<Server>>, load: &Load) -> Result<Audit, Failure> {
    let run = Run::open(settings).await?;
    if let Some(server) = server.filter(|_| load.kill_broker > 0) {
        server.keep_new_queues().await?;
    }
    let workers = Workers::start(settings, &Stage::ALL, load.workers.into());
    run.unless_stuck(run.carry_out(load, &workers, server)).await?;
    workers.stop().await?;
    Audit::of(&run.pipeline).await
}

pub(crate) struct Run {
    pub(crate) pipeline: Pipeline,
    screen: ProgressBar,
    /// The processor that sends two kinds of messages: orders, and supplies of stock.
    edge: Processor,
}

impl Run {
    pub(crate) async fn open(settings: &Settings) -> Result<Self, Failure> {
        let pipeline = Pipeline::open(settings).await?;
        pipeline.setup().await?;
        let edge = pipeline.processor(Stage::Orders)?;
        Ok(Self { pipeline, screen: ProgressBar::new_spinner(), edge })
    }

    /// Runs the work. Fails if no event is recorded for `MAX_IDLE`.
    pub(crate) async fn unless_stuck(&self, work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
        tokio::select! {
            result = work => return result,
            result = self.until_quiet(MAX_IDLE) => result?,
        }
        let log = workers::end_of_log(&self.pipeline.settings);
        Err(Failure::Stuck { seconds: MAX_IDLE.as_secs(), log })
    }

    async fn carry_out(&self, load: &Load, workers: &Workers, server: Option<&Arc<Server>>) -> Result<(), Failure> {
        self.supply(Stage::Payments).await?;
        self.supply(Stage::Shipping).await?;
        let is_done = |view: &View| view.placed >= load.orders && view.events.kills() == load.kills();
        let all_done = self.until(|view| is_done(view) && view.is_over(self.pipeline.settings.dedup));
        tokio::try_join!(self.kill(load, workers, server), self.place_all(load), all_done)?;
        if load.kills() > 0 { self.settle().await } else { Ok(()) }
    }

    /// Supplies all entities of a stage with stock, and waits until every entity has its stock.
    pub(crate) async fn supply(&self, stage: Stage) -> Result<(), Failure> {
        let supplies = (0..ENTITIES).map(|entity| Body::Supply { stage, entity });
        self.issue(format!("supply-{}", stage.name()), stage, supplies).await?;
        self.until(|view| view.stock(stage) == STOCK).await
    }

    /// Kills workers and the broker at random times during the run. The seed decides the times and the order.
    async fn kill(&self, load: &Load, workers: &Workers, server: Option<&Arc<Server>>) -> Result<(), Failure> {
        let mut random = Rng::with_seed(load.seed);
        let gap = (load.orders * Stage::ALL.len() as u32 / (load.kills() + 1)).max(1);
        for (kills, is_broker) in (1..).zip(load.kill_order(&mut random)) {
            let goal = self.events()?.messages() + random.u32(1..=2 * gap);
            self.until_event(|events| events.messages() >= goal).await?;
            sleep(Duration::from_millis(random.u64(..MAX_KILL_DELAY))).await;
            match server.filter(|_| is_broker) {
                Some(server) => {
                    server.kill().await?;
                    Event::BrokerKilled.record(&self.pipeline.settings)?;
                }
                None => workers.kill(random.usize(..workers.len())),
            }
            self.until_event(|events| events.kills() == kills).await?;
        }
        Ok(())
    }

    /// Places the orders of the load, and more orders until all kills are done, so that each kill hits a busy pipeline.
    async fn place_all(&self, load: &Load) -> Result<(), Failure> {
        loop {
            let events = self.events()?;
            let placed = events.count(Event::OrderPlaced);
            let missing = match load.orders.saturating_sub(placed) {
                0 if events.kills() == load.kills() => return Ok(()),
                0 => CONCURRENCY as u32,
                missing => missing,
            };
            let in_flight = placed - self.pipeline.services.books(CARRIER, placed).await?.orders;
            let room = MAX_IN_FLIGHT.saturating_sub(in_flight);
            self.place(placed..placed + missing.min(room)).await?;
            sleep(POLL_INTERVAL).await;
        }
    }

    pub(crate) async fn place(&self, numbers: Range<u32>) -> Result<(), Failure> {
        let place = async |number| {
            self.issue(format!("order-{number}"), Stage::Orders, [Body::Order(Order::numbered(number))]).await?;
            Ok(Event::OrderPlaced.record(&self.pipeline.settings)?)
        };
        stream::iter(numbers).map(place).buffer_unordered(CONCURRENCY).try_collect().await
    }

    /// Sends orders or supplies to a stage. Retries with the same operation until the call succeeds.
    async fn issue(&self, op: String, stage: Stage, bodies: impl IntoIterator<Item = Body>) -> Result<(), Failure> {
        let bodies: Vec<_> = bodies.into_iter().map(|body| Payload::json(&body)).collect::<Result<_, _>>()?;
        loop {
            let messages = bodies.iter().map(|body| (stage.name(), body.clone()));
            match self.edge.issue(self.pipeline.name(&op), messages).await {
                Ok(_) => return Ok(()),
                Err(ProcessError::Store(error)) if !error.is_retryable() => return Err(error.into()),
                Err(_) => sleep(POLL_INTERVAL).await,
            }
        }
    }

    /// Shows views of the pipeline until a view meets the condition. Ignores failures while the store is not reachable.
    pub(crate) async fn until(&self, is_reached: impl Fn(&View) -> bool) -> Result<(), Failure> {
        loop {
            sleep(POLL_INTERVAL).await;
            let view = match View::read(&self.pipeline).await {
                Err(Failure::Store(error)) if error.is_retryable() => continue,
                view => view?,
            };
            view.show(&self.screen);
            if is_reached(&view) {
                return Ok(());
            }
        }
    }

    pub(crate) async fn until_over(&self) -> Result<(), Failure> {
        self.until(|view| view.is_over(self.pipeline.settings.dedup)).await
    }

    /// Waits until the broker delivers no more copies of messages. After the kill of a worker, the broker delivers the
    /// worker's messages again when their lease ends.
    pub(crate) async fn settle(&self) -> Result<(), Failure> {
        self.until_over().await?;
        self.until_quiet(3 * LEASE).await?;
        self.until_over().await
    }

    pub(crate) fn events(&self) -> Result<Events, Failure> {
        Ok(Events::read(&self.pipeline.settings)?)
    }

    pub(crate) async fn until_event(&self, is_reached: impl Fn(&Events) -> bool) -> Result<(), Failure> {
        while !is_reached(&self.events()?) {
            sleep(POLL_INTERVAL).await;
        }
        Ok(())
    }

    /// Waits until no event has been recorded for this time.
    async fn until_quiet(&self, time: Duration) -> Result<(), Failure> {
        let (mut events, mut since) = (self.events()?, Instant::now());
        while since.elapsed() < time {
            sleep(POLL_INTERVAL).await;
            let now = self.events()?;
            if now != events {
                (events, since) = (now, Instant::now());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_the_order_of_the_kills() {
        let load = Load { orders: 1, workers: 1, kill_workers: 20, kill_broker: 5, seed: 7 };
        let [one, two] = [(); 2].map(|()| load.kill_order(&mut Rng::with_seed(load.seed)));
        assert_eq!((one.len(), one.iter().filter(|is_broker| **is_broker).count()), (25, 5));
        assert_eq!(one, two);
    }
}

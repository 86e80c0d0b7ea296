//! `pipeline run`.

use std::path::PathBuf;

use clap::Args;
use storagebox_testkit::Folder;

use crate::broker::{Broker, KINDS};
use crate::failure::Failure;
use crate::kills::Kills;
use crate::place::{Dedup, Place};
use crate::run::{self, Plan};

#[derive(Args, Clone)]
pub(crate) struct RunCommand {
    /// The URL of a broker (postgres://, redis://, nats:// or amqp://); or `redis`, `postgres`, `nats` or `rabbitmq`, to
    /// start a server of this kind that ends with the run.
    #[arg(long, env = "PIPELINE_TRANSPORT", hide_env_values = true, default_value = "redis")]
    transport: String,
    /// The URL of the store. Defaults to the server that is started, if it is a store too, and to a SQLite file else.
    #[arg(long, env = "PIPELINE_STORE", hide_env_values = true)]
    store: Option<String>,
    /// The name of the run. Defaults to one that no other run has.
    #[arg(long)]
    name: Option<String>,
    /// Where the books of the bank and the carrier are, and the SQLite file. Defaults to a folder that goes with the run.
    #[arg(long)]
    folder: Option<PathBuf>,
    /// How many orders are placed: at least 1, and more while there are kills left.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=500_000))]
    orders: u64,
    /// Workers of each stage.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    workers: u16,
    /// With `off`, stages ignore the tokens of their messages, to show what becomes of the money then.
    #[arg(long, default_value = "on")]
    dedup: Dedup,
    /// How many workers are killed on the way (SIGKILL).
    #[arg(long, default_value_t = 0)]
    kill_workers: usize,
    /// How often the broker is killed and started again. It must be one that the run has started.
    #[arg(long, default_value_t = 0)]
    kill_broker: usize,
    /// The seed of the kills. Defaults to a random one, which is printed.
    #[arg(long)]
    seed: Option<u64>,
}

impl RunCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        self.check()?;
        let broker = Broker::open(&self.transport).await?;
        let scratch = Folder::new("pipeline")?;
        let plan = self.plan(broker, scratch.path().to_owned())?;
        println!("run {}, seed {}", plan.place.name, plan.kills.seed);
        let (balance, _) = run::run(&plan).await?;
        println!("{balance}");
        let verdict = match plan.place.dedup {
            Dedup::On => balance.whole(),
            Dedup::Off => balance.goods(),
        };
        verdict.map_err(Failure::Unbalanced)?;
        println!("every order was paid once and shipped once");
        Ok(())
    }

    /// Before anything is started.
    fn check(&self) -> Result<(), Failure> {
        match (self.kill_broker, KINDS.contains(&self.transport.as_str())) {
            (1.., false) => Err(Failure::ForeignBroker),
            (_, false) if !self.transport.contains("://") => Err(Failure::NoTransport),
            _ => Ok(()),
        }
    }

    fn plan(&self, broker: Broker, scratch: PathBuf) -> Result<Plan, Failure> {
        let folder = self.folder.clone().unwrap_or(scratch);
        std::fs::create_dir_all(&folder)?;
        let store = self.store.clone().or_else(|| broker.store());
        let store = store.unwrap_or_else(|| Place::sqlite(&folder));
        let name = self.name.clone().unwrap_or_else(Place::fresh_name);
        let place = Place { name, store, transport: broker.url(), folder, dedup: self.dedup };
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
        let kills = Kills { workers: self.kill_workers, brokers: self.kill_broker, seed };
        Ok(Plan { place, broker, orders: self.orders, workers: self.workers.into(), kills })
    }
}

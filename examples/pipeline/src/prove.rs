//! `pipeline prove`: what the example promises, over each transport, with everything killed.

use clap::Args;
use storagebox_testkit::Folder;

use crate::balance::Balance;
use crate::broker::{Broker, KINDS};
use crate::failure::Failure;
use crate::kills::Kills;
use crate::parked;
use crate::place::{Dedup, Place};
use crate::run::{self, Plan};
use crate::tally::{Counts, Said};

#[derive(Args, Clone)]
pub(crate) struct Prove {
    /// The transports. Defaults to all of them, one after another.
    #[arg(value_parser = KINDS)]
    transports: Vec<String>,
    /// Orders of the run with the deduplication on, at least.
    #[arg(long, default_value_t = 1_500)]
    orders: u64,
    /// How many workers are killed in it.
    #[arg(long, default_value_t = 100)]
    kill_workers: usize,
    /// How often the broker is killed in it.
    #[arg(long, default_value_t = 5)]
    kill_broker: usize,
    /// The seed of the kills. Defaults to a random one, which is printed.
    #[arg(long)]
    seed: Option<u64>,
}

impl Prove {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
        println!("seed {seed}");
        let all = KINDS.map(str::to_owned).to_vec();
        for transport in if self.transports.is_empty() { all } else { self.transports.clone() } {
            let proof = Proof::of(transport, seed).await?;
            proof.with_deduplication(&self).await?;
            proof.without_deduplication(&self).await?;
            proof.parked().await?;
        }
        Ok(())
    }
}

/// The proof of one transport, with one broker.
struct Proof {
    transport: String,
    broker: Broker,
    seed: u64,
}

impl Proof {
    async fn of(transport: String, seed: u64) -> Result<Self, Failure> {
        let broker = Broker::open(&transport).await?;
        Ok(Self { transport, broker, seed })
    }

    async fn with_deduplication(&self, asked: &Prove) -> Result<(), Failure> {
        let kills = Kills { workers: asked.kill_workers, brokers: asked.kill_broker, seed: self.seed };
        let (balance, counts) = self.killed(Dedup::On, asked.orders, kills).await?;
        self.say("deduplication on", &balance, Some(&counts));
        balance.whole().map_err(Failure::Unbalanced)
    }

    /// A third of the same; some orders must be paid or shipped more than once.
    async fn without_deduplication(&self, asked: &Prove) -> Result<(), Failure> {
        let (workers, brokers) = (asked.kill_workers.div_ceil(3), asked.kill_broker.div_ceil(3));
        let kills = Kills { workers, brokers, seed: self.seed };
        let (balance, counts) = self.killed(Dedup::Off, asked.orders.div_ceil(3), kills).await?;
        self.say("deduplication off", &balance, Some(&counts));
        let Err(doubled) = balance.none_doubled() else { return Err(Failure::NoneDoubled(self.kind())) };
        println!("{:<9} deduplication off, as it must be: {doubled}", self.transport);
        Ok(())
    }

    async fn killed(&self, dedup: Dedup, orders: u64, kills: Kills) -> Result<(Balance, Counts), Failure> {
        let folder = Folder::new("pipeline")?;
        let (name, transport) = (Place::fresh_name(), self.broker.url());
        let store = self.broker.store().unwrap_or_else(|| Place::sqlite(folder.path()));
        let place = Place { name, store, transport, folder: folder.path().to_owned(), dedup };
        run::run(&Plan { place, broker: self.broker.clone(), orders, workers: 2, kills }).await
    }

    async fn parked(&self) -> Result<(), Failure> {
        let balance = parked::at(&self.broker, Dedup::On).await?;
        self.say("parked past all memory, sent again, and copied once more", &balance, None);
        balance.whole().map_err(Failure::Unbalanced)
    }

    fn say(&self, what: &str, balance: &Balance, counts: Option<&Counts>) {
        let store = self.broker.store().filter(|_| counts.is_some()).map_or("sqlite", |_| self.kind());
        let killed = counts.map_or(String::new(), |counts| {
            let Counts { workers_killed, brokers_killed, .. } = counts;
            let (duplicates, resumed) = (counts.all(Said::Duplicate), counts.all(Said::Resumed));
            format!(
                "killed {workers_killed} workers and the broker {brokers_killed} times; {duplicates} duplicates, \
                 {resumed} resumed; "
            )
        });
        println!("{:<9} {what}: {killed}{balance}; store {store}", self.transport);
    }

    fn kind(&self) -> &'static str {
        KINDS.into_iter().find(|kind| *kind == self.transport).unwrap_or("none")
    }
}

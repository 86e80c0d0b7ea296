//! The Postgres backend's rows.

mod aged;
mod article;
mod bank;
mod client;
mod cluster;
mod counter;
mod load;
mod side;
mod template;
mod update;

use std::sync::Arc;

use sqlx::postgres::PgConnection;
use storagebox::{Bounds, Retention, Strategy};

use crate::error::Result;
use crate::row::{Load, Row, Side, Target};

use bank::{Bank, PlainTakes};
use client::Client;
use cluster::{Cluster, Database};
use counter::Hot;
use side::side;

const MILLION: usize = 1_000_000;
/// Shards of a counter.
const SHARDS: u16 = 32;

pub(crate) fn rows(slow: bool) -> Vec<Row> {
    let rows = Rows(Cluster::default());
    let mut all = Vec::new();
    all.extend([1, 16].map(|callers| rows.cost_of_the_library(callers, true)));
    all.extend([1, 16].map(|callers| rows.cost_of_the_library(callers, false)));
    all.extend([16, 64].map(|callers| rows.cost_of_the_promises(callers)));
    all.push(rows.after_a_checkpoint(slow));
    all.push(rows.combined());
    all.extend([false, true].map(|snapshot| rows.aged(snapshot)));
    all.push(rows.of_size(slow));
    all.extend(
        [(false, 1.9), (true, 4.0)].map(|(combining, ratio)| rows.against_the_article(combining, ratio)),
    );
    all.push(rows.load());
    all.push(rows.hot_counter());
    all.push(rows.sharded_counter("apply, 32 shards", Bounds::NONE, 4.0));
    all.push(rows.sharded_counter("apply, 32 shards, bounds", Bounds::at_most(1_000_000_000), 3.0));
    all
}

/// Makes rows that share a server.
struct Rows(Cluster);

impl Rows {
    fn row(
        &self,
        (id, op): (&'static str, &'static str),
        concurrency: usize,
        target: Target,
        ours: Side,
        floor: Side,
    ) -> Row {
        let meter = Some(Box::new(self.0.clone()) as _);
        Row {
            id,
            op,
            backend: "postgres",
            concurrency,
            guess: 200.max(concurrency * 10),
            meter,
            target,
            ours,
            floor,
        }
    }

    fn cost_of_the_library(&self, callers: usize, durable: bool) -> Row {
        let (op, ratio) = if durable { ("take", 0.95) } else { ("take, synchronous_commit off", 0.9) };
        let target = Target { extra_cpu: Some(3.0), ..Target::ratio(ratio) };
        let cluster = self.0.clone();
        let world = move || {
            let cluster = cluster.clone();
            async move {
                let database = cluster.database(MILLION).await?;
                if !durable {
                    without_waiting(&database).await?;
                }
                let client = Client::new(database.options()?)?;
                Ok((Bank::new(database, MILLION, false)?, client))
            }
        };
        let floor = side(world.clone(), |world: Arc<(Bank, Client)>, load| async move {
            let (bank, client) = &*world;
            bank.refill(load).await?;
            let takes = PlainTakes::new(bank.database(), client, load).await?;
            Ok(side::prepared(load, takes, side::ids(load).collect()))
        });
        let ours = side(world, |world: Arc<(Bank, Client)>, load| async move {
            world.0.refill(load).await?;
            world.0.takes(load)
        });
        self.row(("P1", op), callers, target, ours, floor)
    }

    fn cost_of_the_promises(&self, callers: usize) -> Row {
        let ours = self.takes(MILLION, false);
        self.row(
            ("P2", "take, one at a time"),
            callers,
            Target::ratio(0.65),
            ours,
            self.updates(update::by_key),
        )
    }

    /// Every page that is written for the first time after a checkpoint goes to the log as a whole.
    fn after_a_checkpoint(&self, slow: bool) -> Row {
        let (op, items) = match slow {
            true => ("take after a checkpoint, of 1e7", 10 * MILLION),
            false => ("take after a checkpoint, of 1e6", MILLION),
        };
        let target = Target { log: Some(2000.0), ..Target::ratio(0.65) };
        let cluster = self.0.clone();
        let ours = side(
            move || bank(cluster.clone(), items, false),
            |bank: Arc<Bank>, load| async move {
                bank.refill(load).await?;
                bank.database().server().run("CHECKPOINT".to_owned()).await?;
                bank.takes(load)
            },
        );
        let cluster = self.0.clone();
        let floor = side(
            move || plain(cluster.clone(), 0),
            |plain: Arc<Plain>, load| async move {
                plain.database.server().run("CHECKPOINT".to_owned()).await?;
                Ok(update::by_key(&plain.client, load))
            },
        );
        self.row(("P2", op), 16, target, ours, floor)
    }

    fn combined(&self) -> Row {
        let ours = self.takes(MILLION, true);
        self.row(("P3", "take, combined"), 64, Target::ratio(2.0), ours, self.updates(update::by_key))
    }

    fn aged(&self, snapshot: bool) -> Row {
        let (op, ratio) = match snapshot {
            true => ("take, 9 of 10 taken, old snapshot", 0.5),
            false => ("take, 9 of 10 taken, no vacuum", 0.8),
        };
        let cluster = self.0.clone();
        let ours = side(
            move || aged_bank(cluster.clone(), snapshot),
            |aged: Arc<(Bank, Option<PgConnection>)>, load| async move {
                aged.0.refill(load).await?;
                aged.0.takes(load)
            },
        );
        self.row(("P4", op), 16, Target::ratio(ratio), ours, self.takes(MILLION, false))
    }

    fn of_size(&self, slow: bool) -> Row {
        let (op, items) = match slow {
            true => ("take of 1e7 against 1e4", 10 * MILLION),
            false => ("take of 1e6 against 1e4", MILLION),
        };
        self.row(("P5", op), 16, Target::ratio(0.8), self.takes(items, false), self.takes(10_000, false))
    }

    fn against_the_article(&self, combining: bool, ratio: f64) -> Row {
        let op = if combining { "take, combined, and article 1" } else { "take and article 1" };
        let cluster = self.0.clone();
        let floor = side(
            move || article_tables(cluster.clone()),
            |plain: Arc<Plain>, load| async move { Ok(article::takes(&plain.client, load)) },
        );
        self.row(("P6", op), 32, Target::ratio(ratio), self.takes(MILLION, combining), floor)
    }

    fn load(&self) -> Row {
        let cluster = self.0.clone();
        let ours = side(
            move || bank(cluster.clone(), 0, true),
            |bank: Arc<Bank>, load| async move { load::add(bank.library(), load) },
        );
        let cluster = self.0.clone();
        let floor = side(
            move || plain(cluster.clone(), 0),
            |plain: Arc<Plain>, load| async move {
                load::plain(&plain.client, bank::number(&plain.database).await?, load)
            },
        );
        let row = self.row(("P12", "add, in items"), 1, Target::ratio(0.9), ours, floor);
        Row { guess: 20_000, ..row }
    }

    fn hot_counter(&self) -> Row {
        let ours = self.changes(Strategy::Marker { retention: Retention::DEFAULT });
        self.row(("P13", "apply, hot key, Marker"), 64, Target::ratio(2.5), ours, self.updates(update::hot))
    }

    fn sharded_counter(&self, op: &'static str, bounds: Bounds, ratio: f64) -> Row {
        let ours = self.changes(Strategy::Sharded { shards: SHARDS, bounds, retention: Retention::DEFAULT });
        self.row(("P14", op), 64, Target::ratio(ratio), ours, self.updates(update::hot))
    }

    /// Takes through the library.
    fn takes(&self, items: usize, combining: bool) -> Side {
        let cluster = self.0.clone();
        side(
            move || bank(cluster.clone(), items, combining),
            |bank: Arc<Bank>, load| async move {
                bank.refill(load).await?;
                bank.takes(load)
            },
        )
    }

    fn changes(&self, strategy: Strategy) -> Side {
        let cluster = self.0.clone();
        side(
            move || {
                let cluster = cluster.clone();
                async move { Hot::new(cluster.database(0).await?, strategy) }
            },
            |hot: Arc<Hot>, load| async move { hot.changes(load) },
        )
    }

    fn updates(&self, updates: fn(&Client, Load) -> crate::row::Prepared) -> Side {
        let cluster = self.0.clone();
        side(
            move || plain(cluster.clone(), 0),
            move |plain: Arc<Plain>, load| async move { Ok(updates(&plain.client, load)) },
        )
    }
}

/// A database and a client of it that knows nothing of the library.
struct Plain {
    client: Client,
    database: Database,
}

async fn plain(cluster: Cluster, items: usize) -> Result<Plain> {
    let database = cluster.database(items).await?;
    Ok(Plain { client: Client::new(database.options()?)?, database })
}

async fn bank(cluster: Cluster, items: usize, combining: bool) -> Result<Bank> {
    Bank::new(cluster.database(items).await?, items, combining)
}

async fn article_tables(cluster: Cluster) -> Result<Plain> {
    let plain = plain(cluster, MILLION).await?;
    plain.database.run(article::TABLES).await?;
    plain.database.run("VACUUM ANALYZE").await?;
    Ok(plain)
}

async fn aged_bank(cluster: Cluster, snapshot: bool) -> Result<(Bank, Option<PgConnection>)> {
    let database = cluster.database(MILLION).await?;
    let session = if snapshot { Some(aged::snapshot(&database).await?) } else { None };
    aged::take(&database, MILLION as u64 / 10 * 9).await?;
    Ok((Bank::new(database, MILLION, false)?, session))
}

async fn without_waiting(database: &Database) -> Result<()> {
    database.server().run(format!("ALTER DATABASE {} SET synchronous_commit = off", database.name())).await
}

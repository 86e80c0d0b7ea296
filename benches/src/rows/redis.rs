//! The Redis backend's rows.

mod bank;
mod plain;
mod pool;
mod server;

use std::sync::Arc;

use storagebox_redis::RedisStore;

use crate::row::{Name, Row, Side, Target};
use crate::rows::processor;
use crate::rows::side::{ids, prepared, side};

use bank::Bank;
use plain::PlainTakes;
use pool::PooledTakes;
use server::Server;

/// The number of items in a bank before each measurement.
const ITEMS: usize = 100_000;
/// The number of items in a bank for the table of counts.
const COUNTED: usize = 10_000;

pub(crate) fn rows(slow: bool) -> Vec<Row> {
    let mut all = Rows { server: Server::durable(), items: ITEMS, slow }.durable();
    all.extend(Rows { server: Server::quick(), items: ITEMS, slow }.all());
    all
}

/// Returns the rows of the table of counts: direct takes, and takes through a handle.
pub(crate) fn counted() -> Vec<Row> {
    let rows = Rows { server: Server::quick(), items: COUNTED, slow: false };
    let sides = [rows.takes_by_handle(), rows.plain_takes()];
    let by_a_handle = rows.row(("P18", "take by a handle"), 1, Target::ratio(0.0), sides);
    vec![rows.cost_of_the_library("take", 1, Target::ratio(0.0)), by_a_handle]
}

/// Creates the rows, which share a server.
struct Rows {
    server: Server,
    items: usize,
    slow: bool,
}

impl Rows {
    /// Returns the rows whose server writes to disk before it answers.
    fn durable(&self) -> Vec<Row> {
        let target = Target { extra_cpu: Some(3.0), ..Target::ratio(0.95) };
        [1, 16].map(|callers| self.cost_of_the_library("take, on disk", callers, target)).into()
    }

    fn all(&self) -> Vec<Row> {
        let mut all = Vec::new();
        let target = Target { extra_cpu: Some(3.0), ..Target::ratio(0.9) };
        all.extend([1, 16].map(|callers| self.cost_of_the_library("take", callers, target)));
        all.extend([1, 16, 64].map(|callers| self.against_the_script(callers)));
        all.extend([(16, 1.25), (64, 2.5)].map(|(callers, least)| self.against_a_pool(callers, least)));
        all.extend([self.of_size(), self.load()]);
        all.push(self.row(("P16", "process, joined"), 16, Target::ratio(1.25), [self.joined(), self.by_the_article()]));
        all
    }

    fn cost_of_the_library(&self, op: &'static str, callers: usize, target: Target) -> Row {
        self.row(("P1", op), callers, target, [self.takes(self.items), self.plain_takes()])
    }

    fn against_the_script(&self, callers: usize) -> Row {
        self.row(("P7", "take"), callers, Target::ratio(0.9), [self.takes(self.items), self.plain_takes()])
    }

    fn against_a_pool(&self, callers: usize, least: f64) -> Row {
        let (op, ours) = ("take against a pool", self.takes(self.items));
        self.row(("P8", op), callers, Target::ratio(least), [ours, self.pooled_takes(callers)])
    }

    fn of_size(&self) -> Row {
        let (op, times) = match self.slow {
            true => ("take of 1e7 against 1e5", 100),
            false => ("take of 1e6 against 1e5", 10),
        };
        let ours = self.takes(times * self.items);
        self.row(("P9", op), 16, Target::ratio(0.7), [ours, self.takes(self.items)])
    }

    fn load(&self) -> Row {
        let (ours, floor) = (self.adds(), self.plain_adds());
        Row { guess: 20_000, ..self.row(("P12", "add, in items"), 1, Target::ratio(0.9), [ours, floor]) }
    }

    fn takes(&self, items: usize) -> Side {
        let make = move |server: Server| async move { Bank::new(&server, items).await };
        side(&self.server, make, |bank: Arc<Bank>, load| async move {
            bank.refill(load).await?;
            bank.takes(load)
        })
    }

    fn takes_by_handle(&self) -> Side {
        let items = self.items;
        let make = move |server: Server| async move { Bank::new(&server, items).await };
        side(&self.server, make, |bank: Arc<Bank>, load| async move {
            bank.refill(load).await?;
            bank.takes_by_handle(load)
        })
    }

    /// Takes items with the library's script on one connection, but without the library.
    fn plain_takes(&self) -> Side {
        let items = self.items;
        let make = move |server: Server| async move {
            let bank = Bank::new(&server, items).await?;
            Ok((PlainTakes::new(&server, &bank).await?, bank))
        };
        side(&self.server, make, |world: Arc<(PlainTakes, Bank)>, load| async move {
            let (takes, bank) = &*world;
            bank.refill(load).await?;
            Ok(prepared(load, takes.clone(), ids(load).collect()))
        })
    }

    /// Takes items with the library's script, but without the library. Concurrent calls have separate connections.
    fn pooled_takes(&self, callers: usize) -> Side {
        let items = self.items;
        let make = move |server: Server| async move {
            let bank = Bank::new(&server, items).await?;
            Ok((PooledTakes::new(&server, &bank, callers).await?, bank))
        };
        side(&self.server, make, |world: Arc<(PooledTakes, Bank)>, load| async move {
            let (takes, bank) = &*world;
            bank.refill(load).await?;
            Ok(prepared(load, takes.clone(), ids(load).collect()))
        })
    }

    fn adds(&self) -> Side {
        let make = |server: Server| async move { Bank::new(&server, 0).await };
        side(&self.server, make, |bank: Arc<Bank>, load| async move { bank.adds(load) })
    }

    /// Adds items with the library's script, but without the library. The batches are prepared in advance.
    fn plain_adds(&self) -> Side {
        let make = |server: Server| async move {
            let bank = Bank::new(&server, 0).await?;
            Ok((PlainTakes::new(&server, &bank).await?, bank))
        };
        side(&self.server, make, |world: Arc<(PlainTakes, Bank)>, load| async move { world.0.adds(load) })
    }

    fn joined(&self) -> Side {
        side(&self.server, bank::store, |store: Arc<RedisStore>, load| async move {
            processor::by_a_processor(&*store, load).await
        })
    }

    fn by_the_article(&self) -> Side {
        side(&self.server, bank::store, |store: Arc<RedisStore>, load| async move {
            processor::by_the_article(&*store, load).await
        })
    }

    fn row(&self, name: Name, concurrency: usize, target: Target, sides: [Side; 2]) -> Row {
        Row::on_server(("redis", &self.server), name, concurrency, target, sides)
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;
    use crate::row::Load;

    const LOAD: Load = Load { slice: 1, calls: 40, tasks: 4 };

    /// A call fails if its answer is wrong.
    #[test]
    fn both_sides_of_every_row_make_all_calls() {
        let rows = Rows { server: Server::quick(), items: 1_000, slow: false };
        Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
            for row in rows.all().into_iter().chain(counted()) {
                for side in [&row.ours, &row.floor] {
                    let prepared = side.prepare(LOAD).await.unwrap();
                    for task in prepared.tasks {
                        task.await.unwrap_or_else(|failure| panic!("{}: {failure}", row.name()));
                    }
                }
            }
        });
    }
}

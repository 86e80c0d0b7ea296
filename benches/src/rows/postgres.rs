//! The Postgres backend's rows.

mod aged;
mod article;
mod bank;
mod client;
mod cluster;
mod counter;
mod load;
mod sides;
mod template;
mod update;

use storagebox::counters::Bounds;
use storagebox::{Retention, Strategy};

use crate::row::{Name, Row, Side, Target};

use cluster::Cluster;

/// The number of items in a bank. The row that compares sizes also has a smaller bank and, with `slow`, a larger one.
const ITEMS: usize = 1_000_000;
/// The number of items in a bank for the table of counts.
const COUNTED: usize = 10_000;
const SHARDS: u16 = 32;

pub(crate) fn rows(slow: bool) -> Vec<Row> {
    Rows { cluster: Cluster::default(), items: ITEMS, slow }.all()
}

/// Returns the rows of the table of counts: direct takes, takes through a handle, and takes in a transaction of the
/// caller.
pub(crate) fn counted() -> Vec<Row> {
    let rows = Rows { cluster: Cluster::default(), items: COUNTED, slow: false };
    let ours = sides::takes_by_handle(&rows.cluster, rows.items);
    let floor = sides::plain_takes(&rows.cluster, rows.items, false);
    let by_a_handle = rows.row(("P18", "take by a handle"), 1, Target::ratio(0.0), [ours, floor]);
    vec![rows.cost_without_waiting(1), by_a_handle, rows.within()]
}

/// Creates the rows, which share a server.
struct Rows {
    cluster: Cluster,
    items: usize,
    slow: bool,
}

impl Rows {
    fn all(&self) -> Vec<Row> {
        let mut all = Vec::new();
        all.extend([1, 16].map(|callers| self.cost_of_the_library(callers)));
        all.extend([1, 16].map(|callers| self.cost_without_waiting(callers)));
        all.extend([16, 64].map(|callers| self.cost_of_the_promises(callers)));
        all.extend([self.after_a_checkpoint(), self.combined(), self.uncleaned(), self.with_a_snapshot()]);
        all.extend([self.of_size(), self.article(), self.combined_article(), self.load()]);
        all.extend([self.hot_counter(), self.sharded_counter(), self.bounded_counter()]);
        all.extend([self.joined(), self.within()]);
        all
    }

    fn cost_of_the_library(&self, callers: usize) -> Row {
        let target = Target { extra_cpu: Some(3.0), ..Target::ratio(0.95) };
        let ours = sides::takes(&self.cluster, self.items, false);
        self.row(("P1", "take"), callers, target, [ours, sides::plain_takes(&self.cluster, self.items, true)])
    }

    fn cost_without_waiting(&self, callers: usize) -> Row {
        let target = Target { extra_cpu: Some(3.0), ..Target::ratio(0.9) };
        let ours = sides::takes_without_waiting(&self.cluster, self.items);
        let op = "take, synchronous_commit off";
        self.row(("P1", op), callers, target, [ours, sides::plain_takes(&self.cluster, self.items, false)])
    }

    fn cost_of_the_promises(&self, callers: usize) -> Row {
        let ours = sides::takes(&self.cluster, self.items, false);
        let op = "take, one at a time";
        self.row(("P2", op), callers, Target::ratio(0.65), [ours, self.updates()])
    }

    fn after_a_checkpoint(&self) -> Row {
        let (op, items) = match self.slow {
            true => ("take after a checkpoint, of 1e7", 10 * self.items),
            false => ("take after a checkpoint, of 1e6", self.items),
        };
        // The first write to a page after a checkpoint writes the whole page to the log.
        let target = Target { log: Some(2000.0), ..Target::ratio(0.65) };
        let ours = sides::takes_after_a_checkpoint(&self.cluster, items);
        self.row(("P2", op), 16, target, [ours, sides::updates_after_a_checkpoint(&self.cluster)])
    }

    fn combined(&self) -> Row {
        let ours = sides::takes(&self.cluster, self.items, true);
        self.row(("P3", "take, combined"), 64, Target::ratio(2.0), [ours, self.updates()])
    }

    fn uncleaned(&self) -> Row {
        let ours = sides::takes_of_the_rest(&self.cluster, self.items, false);
        let op = "take, 9 of 10 taken, no vacuum";
        self.row(("P4", op), 16, Target::ratio(0.8), [ours, sides::takes(&self.cluster, self.items, false)])
    }

    fn with_a_snapshot(&self) -> Row {
        let ours = sides::takes_of_the_rest(&self.cluster, self.items, true);
        let op = "take, 9 of 10 taken, old snapshot";
        self.row(("P4", op), 16, Target::ratio(0.5), [ours, sides::takes(&self.cluster, self.items, false)])
    }

    fn of_size(&self) -> Row {
        let (op, items) = match self.slow {
            true => ("take of 1e7 against 1e4", 10 * self.items),
            false => ("take of 1e6 against 1e4", self.items),
        };
        let ours = sides::takes(&self.cluster, items, false);
        self.row(("P5", op), 16, Target::ratio(0.8), [ours, sides::takes(&self.cluster, self.items / 100, false)])
    }

    fn article(&self) -> Row {
        let ours = sides::takes(&self.cluster, self.items, false);
        let op = "take against article 1";
        self.row(("P6", op), 32, Target::ratio(1.9), [ours, sides::article(&self.cluster, self.items)])
    }

    fn combined_article(&self) -> Row {
        let ours = sides::takes(&self.cluster, self.items, true);
        let op = "take, combined, against article 1";
        self.row(("P6", op), 32, Target::ratio(4.0), [ours, sides::article(&self.cluster, self.items)])
    }

    fn load(&self) -> Row {
        let (ours, floor) = (sides::add(&self.cluster), sides::plain_add(&self.cluster));
        Row { guess: 20_000, ..self.row(("P12", "add, in items"), 1, Target::ratio(0.9), [ours, floor]) }
    }

    fn hot_counter(&self) -> Row {
        let ours = sides::changes(&self.cluster, Strategy::Marker { retention: Retention::DEFAULT });
        self.row(("P13", "apply, one key, combined"), 64, Target::ratio(2.5), [ours, self.hot_updates()])
    }

    fn sharded_counter(&self) -> Row {
        let ours = sides::changes(&self.cluster, sharded(Bounds::NONE));
        self.row(("P14", "apply, sharded"), 64, Target::ratio(4.0), [ours, self.hot_updates()])
    }

    fn bounded_counter(&self) -> Row {
        let ours = sides::changes(&self.cluster, sharded(Bounds::at_most(1_000_000_000)));
        self.row(("P14", "apply, sharded, bounds"), 64, Target::ratio(3.0), [ours, self.hot_updates()])
    }

    fn joined(&self) -> Row {
        let sides = [sides::joined(&self.cluster), sides::by_the_article(&self.cluster)];
        self.row(("P16", "process, joined"), 16, Target::ratio(1.4), sides)
    }

    fn within(&self) -> Row {
        let sides = sides::takes_within(&self.cluster, self.items);
        self.row(("P21", "take in a transaction"), 1, Target::ratio(0.9), sides)
    }

    fn updates(&self) -> Side {
        sides::updates(&self.cluster, update::by_key)
    }

    fn hot_updates(&self) -> Side {
        sides::updates(&self.cluster, update::hot)
    }

    fn row(&self, name: Name, concurrency: usize, target: Target, sides: [Side; 2]) -> Row {
        Row::on_server(("postgres", &self.cluster), name, concurrency, target, sides)
    }
}

fn sharded(bounds: Bounds) -> Strategy {
    Strategy::Sharded { shards: SHARDS, bounds, retention: Retention::DEFAULT }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;
    use crate::error::Result;
    use crate::row::{Load, Prepared};

    const LOAD: Load = Load { slice: 1, calls: 40, tasks: 4 };

    #[allow(clippy::future_not_send, reason = "each test runs it in its own thread")]
    async fn run(prepared: Prepared) -> Result<()> {
        for task in prepared.tasks {
            task.await?;
        }
        Ok(())
    }

    /// A call fails if its answer is wrong.
    #[test]
    fn both_sides_of_every_row_make_all_calls_and_write_to_the_log() {
        let rows = Rows { cluster: Cluster::default(), items: 1_000, slow: false };
        Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
            for row in rows.all().into_iter().chain(counted()) {
                let meter = row.meter.as_ref().unwrap();
                let before = meter.read().await.unwrap();
                for side in [&row.ours, &row.floor] {
                    let prepared = side.prepare(LOAD).await.unwrap();
                    run(prepared).await.unwrap_or_else(|failure| panic!("{}: {failure}", row.name()));
                }
                assert!(meter.read().await.unwrap().since(before).log > Some(0), "{}", row.name());
            }
        });
    }
}

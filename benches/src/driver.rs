//! The driver, which runs both sides of a row alternately, in one process.

use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use tokio::runtime::{Builder, Runtime};

use crate::cpu;
use crate::effort::Effort;
use crate::error::{Failure, Result};
use crate::options::Options;
use crate::row::{Load, Row, Side};
use crate::statistics::{Measured, Round, Slice};

/// The number of worker threads of the runtime. A fixed number makes the tables of different machines comparable.
const WORKERS: usize = 2;
/// The smallest number of calls per task. With fewer calls, the start and the end of the tasks would take most of the
/// measured time.
const FEWEST_CALLS: usize = 10;
/// A row with a server and a target for processor time has this many times as many rounds.
const MORE_ROUNDS: usize = 3;
/// The largest number of calls per measurement, so that the arguments of the calls fit into memory.
const MOST_CALLS: usize = 4_000_000;

pub(crate) struct Driver {
    runtime: Runtime,
    slice: Duration,
    rounds: usize,
}

impl Driver {
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let runtime =
            Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build().map_err(Failure::Runtime)?;
        Ok(Self { runtime, slice: options.slice, rounds: options.rounds })
    }

    /// Measures a row after a warm-up round.
    pub(crate) fn measure(&self, row: &Row) -> Result<Measured> {
        let load = self.load(row)?;
        // The difference between the sides is small compared with the time of both for requests to the server.
        let rounds =
            if row.target.extra_cpu.is_some() && row.meter.is_some() { MORE_ROUNDS * self.rounds } else { self.rounds };
        let rounds: Vec<_> = (0..=rounds).map(|number| self.round(row, load, number)).collect::<Result<_>>()?;
        Ok(Measured::of(&rounds[1..]))
    }

    /// Returns the load for both sides: the number of calls that the compared program makes in the time of `--slice`.
    fn load(&self, row: &Row) -> Result<Load> {
        let guess = Load { slice: 0, calls: row.guess, tasks: row.concurrency };
        let rate = self.run(row, &row.floor, guess)?.rate();
        let calls = (rate * self.slice.as_secs_f64()) as usize;
        // With the same number of calls, the tables of both sides grow alike.
        Ok(Load { calls: calls.clamp(FEWEST_CALLS * row.concurrency, MOST_CALLS), ..guess })
    }

    /// Measures both sides, the library first in every second round.
    fn round(&self, row: &Row, load: Load, number: usize) -> Result<Round> {
        let load = Load { slice: number as u32 + 1, ..load };
        if number.is_multiple_of(2) {
            let ours = self.run(row, &row.ours, load)?;
            let floor = self.run(row, &row.floor, load)?;
            return Ok(Round { ours, floor });
        }
        let floor = self.run(row, &row.floor, load)?;
        let ours = self.run(row, &row.ours, load)?;
        Ok(Round { ours, floor })
    }

    fn run(&self, row: &Row, side: &Side, load: Load) -> Result<Slice> {
        self.runtime.block_on(async {
            let prepared = side.prepare(load).await?;
            let effort_before = effort(row).await?;
            let cpu_before = cpu::used();
            let start = Instant::now();
            let tasks: Vec<_> = prepared.tasks.into_iter().map(tokio::spawn).collect();
            let outcomes = try_join_all(tasks).await?;
            let elapsed = start.elapsed();
            let cpu_after = cpu::used();
            let effort_after = effort(row).await?;
            drop(prepared.world);
            outcomes.into_iter().collect::<Result<()>>()?;
            Ok(Slice {
                calls: load.calls,
                elapsed,
                cpu: cpu_after.zip(cpu_before).map(|(after, before)| after.saturating_sub(before)),
                effort: effort_after.zip(effort_before).map(|(after, before)| after.since(before)),
            })
        })
    }
}

#[allow(clippy::future_not_send, reason = "it runs in the driver's own thread, between two slices")]
async fn effort(row: &Row) -> Result<Option<Effort>> {
    match &row.meter {
        Some(meter) => meter.read().await.map(Some),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::row::{Prepared, Target, Work};

    type Log = Arc<Mutex<Vec<(&'static str, u32, usize)>>>;

    fn side(name: &'static str, log: &Log) -> Side {
        let log = Arc::clone(log);
        Side::new(move |load| {
            log.lock().unwrap().push((name, load.slice, load.calls));
            let tasks = (0..load.tasks).map(|_| Box::pin(async { Ok(()) }) as Work);
            let prepared = Prepared { tasks: tasks.collect(), world: Box::new(()) };
            async { Ok(prepared) }
        })
    }

    fn row(log: &Log) -> Row {
        Row {
            id: "P0",
            op: "nothing",
            backend: "none",
            concurrency: 3,
            guess: 1_000,
            meter: None,
            target: Target::ratio(0.0),
            ours: side("ours", log),
            floor: side("floor", log),
        }
    }

    #[test]
    fn sides_alternate_with_the_same_load_and_new_ids() {
        let log = Log::default();
        let options = Options { rounds: 3, slice: Duration::from_millis(10), ..Options::default() };
        let measured = Driver::new(&options).unwrap().measure(&row(&log)).unwrap();
        let log = log.lock().unwrap();
        let turns: Vec<_> = log[1..].iter().map(|(name, slice, _)| (*name, *slice)).collect();
        assert_eq!(
            turns,
            [
                ("ours", 1),
                ("floor", 1),
                ("floor", 2),
                ("ours", 2),
                ("ours", 3),
                ("floor", 3),
                ("floor", 4),
                ("ours", 4)
            ]
        );
        assert!(log[1..].iter().all(|(.., calls)| *calls == log[1].2));
        assert_eq!(measured.rounds + measured.skipped, 3);
    }

    #[test]
    fn failed_side_is_not_measured() {
        let log = Log::default();
        let failing = Side::new(|_| async {
            let work: Work = Box::pin(async { Err(Failure::NotNew { answer: "Empty".to_owned() }) });
            Ok(Prepared { tasks: vec![work], world: Box::new(()) })
        });
        let row = Row { ours: failing, ..row(&log) };
        let measured = Driver::new(&Options::default()).unwrap().measure(&row);
        assert!(matches!(measured, Err(Failure::NotNew { .. })));
    }
}

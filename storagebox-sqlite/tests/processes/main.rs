//! Many processes on one file: each makes calls and prints the outcomes, and the file must agree with all of them.
#![allow(clippy::disallowed_methods, reason = "a test may fail and wait where a library must not")]

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use tokio::runtime::Runtime;

#[path = "../support/mod.rs"]
mod support;

use support::{Acked, Place, Worker, be_a_shop_if_asked, be_a_worker_if_asked, killed_shops};

const PROCESSES: usize = 8;
const ROUNDS: usize = 25;

fn main() -> ExitCode {
    if let Some(ended) = be_a_worker_if_asked().or_else(be_a_shop_if_asked) {
        return ended;
    }
    let trials = vec![
        Trial::test("eight_processes_that_create_a_file_at_once_are_all_served", eight_at_once),
        Trial::test("acknowledged_calls_of_killed_processes_are_in_the_file", killed_half_way),
        Trial::test("an_order_and_its_voucher_are_committed_together_or_not_at_all", || purchases(30)),
        Trial::test("a_thousand_killed_processes_leave_whole_purchases", || purchases(1_000)).with_ignored_flag(true),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Eight worker processes start at once on a file that does not exist. No call may fail because the file is locked.
fn eight_at_once() -> Result<(), Failed> {
    let (runtime, place) = (Runtime::new()?, Place::bare()?);
    let start = |number| Worker::start(&place.path(), &format!("worker-{number}"), ROUNDS);
    let workers = (0..PROCESSES).map(start).collect::<Result<Vec<_>, _>>()?;
    let mut all = Acked::default();
    for worker in workers {
        all.0.extend(worker.finished()?.0);
    }
    assert_eq!(all.0.len(), PROCESSES * ROUNDS);
    runtime.block_on(all.audit(&place.path()))?;
    let counted = runtime.block_on(Acked::counted(&place.path()))?;
    assert_eq!(counted, (PROCESSES * ROUNDS) as i64);
    Ok(())
}

/// Kills a worker process ten times, while two other workers run. After each kill, a new worker continues with the
/// same ids.
fn killed_half_way() -> Result<(), Failed> {
    let (runtime, place) = (Runtime::new()?, Place::bare()?);
    let beside: Vec<_> = ["one", "other"]
        .map(|name| Worker::start(&place.path(), name, usize::MAX))
        .into_iter()
        .collect::<Result<_, _>>()?;
    let mut all = Acked::default();
    for round in 0..10 {
        let killed = Worker::start(&place.path(), "killed", usize::MAX)?.killed_after(1 + round % 3)?;
        all.0.extend(killed.0);
        runtime.block_on(all.audit(&place.path()))?;
    }
    for worker in beside {
        all.0.extend(worker.ended_after(1)?.0);
    }
    runtime.block_on(all.audit(&place.path()))?;
    let rest = Worker::start(&place.path(), "killed", 3)?.finished()?;
    assert_eq!(rest.0.len(), 3, "what comes after all the kills");
    Ok(())
}

fn purchases(kills: usize) -> Result<(), Failed> {
    let (runtime, place) = (Runtime::new()?, Place::bare()?);
    let tally = runtime.block_on(killed_shops(&place, kills))?;
    println!(
        "{kills} shops killed: by their receipts, {} purchases were committed without a confirmation and {} were not",
        tally.committed, tally.not_committed
    );
    assert!(tally.committed + tally.not_committed > 0, "no purchase was under way");
    Ok(())
}

//! What a call costs in counts, which the load of the machine does not move: instructions, allocations, system calls,
//! wake-ups and timers of this process, of a call by a handle and of the floor.

mod callgrind;
mod options;
mod strace;
mod table;
mod tally;

use std::process::ExitCode;

use futures_util::future::try_join_all;
use tokio::runtime::{Builder, Runtime};

use crate::error::{Failure, Result};
use crate::row::{Load, Row, Side};
use crate::rows;

pub(crate) use tally::CountedTimer;
pub use tally::Counts;

use options::{Options, Wish};
use strace::Strace;

/// Calls of a slice: what happens once in a while is spread over them.
const CALLS: usize = 500;
/// As the other tables' runtime.
const WORKERS: usize = 2;

/// How many allocations the process has made so far, told by the program that has a counting allocator.
pub type Allocations = fn() -> u64;

/// The counts of one row, a call.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The row's name.
    pub name: String,
    /// Of a call by a handle.
    pub ours: Counts,
    /// Of a call of the floor.
    pub floor: Counts,
}

/// Counts the rows that the arguments ask for and prints their table.
///
/// The exit code is 0 once everything was counted, 1 if a call failed or, with `--gate`, if a row falls short, and 2 for
/// arguments that make no sense.
pub fn run(arguments: impl Iterator<Item = String>, allocations: Allocations) -> ExitCode {
    let answer = match Options::parse(arguments) {
        Ok(Wish::Count(options)) => table(&options, allocations),
        Ok(Wish::Instructions(name)) => callgrind::tell(&name),
        Ok(Wish::Help) => {
            println!("{}", options::HELP);
            return ExitCode::SUCCESS;
        }
        Err(usage) => {
            eprintln!("{usage}\n\n{}", options::HELP);
            return ExitCode::from(2);
        }
    };
    answer.unwrap_or_else(|failure| {
        eprintln!("{failure}");
        ExitCode::FAILURE
    })
}

fn table(options: &Options, allocations: Allocations) -> Result<ExitCode> {
    let mut counted = vec![];
    for row in rows::counted().iter().filter(|row| options.asks_for(&row.name())) {
        eprintln!("counting {}", row.name());
        let mut one = count(row, allocations)?;
        if let Some((ours, floor)) = callgrind::instructions(&row.name()) {
            (one.ours.instructions, one.floor.instructions) = (Some(ours), Some(floor));
        }
        counted.push(one);
    }
    println!("{}", table::of(&counted));
    let falls_short = counted.iter().any(|one| !table::holds(one));
    Ok(ExitCode::from(u8::from(options.gate && falls_short)))
}

/// Counts the rows of these backends, all but their instructions.
///
/// # Errors
///
/// The first call that failed.
pub fn of_backends(backends: &[&str], allocations: Allocations) -> Result<Vec<Counted>, String> {
    let rows = rows::counted().into_iter().filter(|row| backends.contains(&row.backend));
    rows.map(|row| count(&row, allocations)).collect::<Result<_>>().map_err(|failure| failure.to_string())
}

fn count(row: &Row, allocations: Allocations) -> Result<Counted> {
    let counting = Counting::new()?;
    Ok(Counted {
        name: row.name(),
        ours: counting.all(&row.ours, row, allocations)?,
        floor: counting.all(&row.floor, row, allocations)?,
    })
}

/// Runs slices of one side, one after another.
struct Counting {
    runtime: Runtime,
}

impl Counting {
    fn new() -> Result<Self> {
        let runtime =
            Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build().map_err(Failure::Runtime)?;
        Ok(Self { runtime })
    }

    /// The first slice warms up; the second is counted in this process, the third from outside.
    fn all(&self, side: &Side, row: &Row, allocations: Allocations) -> Result<Counts> {
        self.slice(side, row, 1, || (), |()| ())?;
        let before = || tally::Tally::now(allocations);
        let counts = self.slice(side, row, 2, before, |before| before.until_now(allocations, CALLS))?;
        let calls = self.slice(side, row, 3, Strace::attach, |strace| strace.and_then(Strace::detach))?;
        Ok(Counts { system_calls: calls.map(|calls| calls as f64 / CALLS as f64), ..counts })
    }

    /// What is told at the end of a slice by who began with it.
    fn slice<B, E>(
        &self,
        side: &Side,
        row: &Row,
        number: u32,
        begin: impl FnOnce() -> B,
        end: impl FnOnce(B) -> E,
    ) -> Result<E> {
        let load = Load { slice: number, calls: CALLS, tasks: row.concurrency };
        let prepared = self.runtime.block_on(side.prepare(load))?;
        let begun = begin();
        let outcomes = self
            .runtime
            .block_on(async { try_join_all(prepared.tasks.into_iter().map(tokio::spawn).collect::<Vec<_>>()).await })?;
        let told = end(begun);
        drop(prepared.world);
        outcomes.into_iter().collect::<Result<()>>()?;
        Ok(told)
    }
}

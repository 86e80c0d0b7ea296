//! Costs of a call in counts, which do not depend on the load of the machine: instructions, allocations, system calls,
//! wake-ups and timers of this process, for a call through a handle and for the compared program.

mod callgrind;
mod counting;
mod options;
mod strace;
mod table;

use std::process::ExitCode;

use counting::Counting;
use options::{Options, Wish};

use crate::error::Result;
use crate::row::Row;
use crate::rows;

pub use crate::tally::{Allocations, Counted, Counts};

/// Counts the rows that the arguments select and prints their table.
///
/// The exit code is 0 once everything was counted, 1 if a call failed or, with `--gate`, if a row misses its target,
/// and 2 for invalid arguments.
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
    let (counting, mut counted) = (Counting::new()?, vec![]);
    for row in rows::counted().iter().filter(|row| options.asks_for(&row.name())) {
        eprintln!("counting {}", row.name());
        let mut one = count(&counting, row, allocations)?;
        if let Some((ours, floor)) = callgrind::instructions(&row.name()) {
            (one.ours.instructions, one.floor.instructions) = (Some(ours), Some(floor));
        }
        counted.push(one);
    }
    println!("{}", table::of(&counted));
    let falls_short = counted.iter().any(|one| !table::holds(one));
    Ok(ExitCode::from(u8::from(options.gate && falls_short)))
}

/// Counts the rows of these backends, except instructions.
///
/// # Errors
///
/// The error of the first call that failed.
pub fn of_backends(backends: &[&str], allocations: Allocations) -> Result<Vec<Counted>, String> {
    let rows = rows::counted().into_iter().filter(|row| backends.contains(&row.backend));
    let counted =
        Counting::new().and_then(|counting| rows.map(|row| count(&counting, &row, allocations)).collect::<Result<_>>());
    counted.map_err(|failure| failure.to_string())
}

fn count(counting: &Counting, row: &Row, allocations: Allocations) -> Result<Counted> {
    Ok(Counted {
        name: row.name(),
        ours: counting.all(&row.ours, row, allocations)?,
        floor: counting.all(&row.floor, row, allocations)?,
    })
}

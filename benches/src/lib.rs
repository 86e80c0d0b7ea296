//! The cost of the guarantees: each call of the library compared with the least code that could do the same work.
//!
//! A row names both sides; the driver runs them in turn, in one process, and judges the median of the rounds'
//! ratios. A backend adds one file of rows to `rows/`.
#![allow(clippy::disallowed_methods, reason = "measuring is reading a clock")]

pub mod counts;
mod cpu;
mod driver;
mod effort;
mod error;
mod options;
mod report;
mod row;
mod rows;
mod statistics;
mod tally;

use std::process::ExitCode;

use crate::driver::Driver;
use crate::error::Failure;
use crate::options::{Options, Wish};
use crate::report::Line;
use crate::row::Row;

/// Runs the rows that the arguments select and prints their table.
///
/// The exit code is 0 once everything was measured, 1 if a call failed or, with `--gate`, if a row misses its target,
/// and 2 for invalid arguments.
pub fn run(arguments: impl Iterator<Item = String>) -> ExitCode {
    let options = match Options::parse(arguments) {
        Ok(Wish::Measure(options)) => options,
        Ok(Wish::Help) => {
            println!("{}", options::HELP);
            return ExitCode::SUCCESS;
        }
        Err(usage) => {
            eprintln!("{usage}\n\n{}", options::HELP);
            return ExitCode::from(2);
        }
    };
    let mut lines = vec![];
    let measured = measure(&options, &mut lines);
    // After a failure, the rows that were measured before are still reported.
    let code = report(&options, &lines);
    match measured {
        Ok(()) => code,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn measure(options: &Options, lines: &mut Vec<Line>) -> Result<(), Failure> {
    let rows = rows::all(options.slow).into_iter().filter(|row| options.asks_for(&row.name()));
    let driver = Driver::new(options)?;
    // A row and its worlds are dropped before the next row begins.
    for row in rows {
        lines.push(line(&driver, &row)?);
    }
    Ok(())
}

fn line(driver: &Driver, row: &Row) -> Result<Line, Failure> {
    eprintln!("measuring {}", row.name());
    match driver.measure(row) {
        #[cfg(feature = "dynamo")]
        Err(Failure::NoFloor(why)) => Ok(Line::new(row, Err(why.to_string()))),
        measured => Ok(Line::new(row, Ok(measured?))),
    }
}

fn report(options: &Options, lines: &[Line]) -> ExitCode {
    if options.json {
        println!("{:#}", report::json(lines));
    } else {
        println!("{}", report::table(lines));
    }
    let falls_short = lines.iter().any(|line| !line.holds());
    ExitCode::from(u8::from(options.gate && falls_short))
}

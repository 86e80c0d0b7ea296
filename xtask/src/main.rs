//! The tasks of this workspace; `cargo xtask` lists them.
#![allow(clippy::disallowed_methods, reason = "a task waits for processes and measures them")]

mod alarms;
mod api;
mod arguments;
#[cfg(test)]
mod certified;
mod clauses;
mod command;
#[cfg(test)]
mod decisions;
mod drivers;
mod examples;
mod failure;
mod features;
mod fresh;
#[cfg(test)]
mod guide;
mod hand_out_report;
mod install;
mod lint;
mod mutants;
mod needed;
mod outside;
mod packages;
mod programs;
#[cfg(test)]
mod proofs;
mod prove;
mod readme;
mod servers;
mod soak;
mod steps;
mod summary;
mod test;
#[cfg(test)]
mod words;
mod workspace;

use std::process::ExitCode;

use anyhow::{Error, Result};
use api::Lists;
use arguments::{Arguments, Task};
use clap::Parser;

fn main() -> ExitCode {
    run(Arguments::parse().task).map_or_else(|error| report(&error), |()| ExitCode::SUCCESS)
}

fn run(task: Task) -> Result<()> {
    match task {
        Task::Test { servers } => test::run(servers)?,
        Task::Lint => lint::run()?,
        Task::Prove(part) => prove::run(part)?,
        Task::Soak(soak) => soak::run(&soak)?,
        Task::Clauses { check } => clauses::run(check)?,
        Task::Api { check } => println!("{}", api::run(Lists::All, check)?),
    }
    Ok(())
}

fn report(error: &Error) -> ExitCode {
    eprintln!("{error:#}");
    ExitCode::from(failure::exit_code(error))
}

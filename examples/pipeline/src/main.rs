//! From an order to its parcel: `orders`, `payments` and `shipping`, each with a queue of any transport and entities in
//! any store, and a bank and a carrier outside. Every order is paid once and shipped once, whoever is killed.
//!
//! ```sh
//! cargo run -p storagebox-pipeline -- run --kill-workers 20 --kill-broker 2
//! ```
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![allow(clippy::disallowed_methods, reason = "a program that waits for processes, on the real clock")]

mod balance;
mod broker;
mod copy;
mod crew;
mod failure;
mod kills;
mod messages;
mod names;
mod outside;
mod parked;
mod picture;
mod place;
mod prove;
mod queues;
mod run;
mod run_command;
mod stage;
mod tally;
mod wait;
mod watch;
mod ways;
mod worker;

use std::process::ExitCode;

use clap::Parser;

use failure::Failure;
use parked::Parked;
use prove::Prove;
use run_command::RunCommand;
use worker::Worker;

/// From an order to its parcel, over any transport and any store.
#[derive(Parser)]
#[command(name = "pipeline", version)]
enum Pipeline {
    /// Places orders, starts workers, shows what is in flight, and says whether everything came out even.
    Run(RunCommand),
    /// Processes the messages of one stage until it is told to stop.
    Worker(Worker),
    /// Parks messages past every memory of the store, sends them again, and once more after that.
    Parked(Parked),
    /// Kills workers and the broker, with the deduplication on and off; parks messages and sends them again.
    Prove(Prove),
}

#[tokio::main]
async fn main() -> ExitCode {
    let work = async {
        match Pipeline::parse() {
            Pipeline::Run(run) => or_stopped(run.run()).await,
            Pipeline::Worker(worker) => worker.run().await,
            Pipeline::Parked(parked) => or_stopped(parked.run()).await,
            Pipeline::Prove(prove) => or_stopped(prove.run()).await,
        }
    };
    match work.await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// Ctrl-C ends it, with its workers and its servers.
async fn or_stopped(work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    tokio::select! {
        result = work => result,
        _ = tokio::signal::ctrl_c() => Err(Failure::Stopped),
    }
}

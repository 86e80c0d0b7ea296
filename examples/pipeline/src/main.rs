//! From an order to its parcel: the stages `orders`, `payments` and `shipping`, and a bank and a carrier as external
//! services. Each stage has a queue on any transport and entities in any store. Every order is paid once and shipped
//! once, whatever is killed.
//!
//! ```sh
//! cargo run -p storagebox-pipeline -- run --kill-workers 20 --kill-broker 2
//! ```
//!
//! Read the modules in this order: `stage` (the decisions), `worker` (the consumption of messages), `services` (the
//! bank and the carrier), `run` (orders and kills) and `audit` (the checks at the end).
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![allow(clippy::disallowed_methods, reason = "a program that waits for processes, on the real clock")]

mod audit;
mod events;
mod failure;
mod imbalance;
mod parked;
mod pipeline;
mod prove;
mod queues;
mod run;
mod server;
mod services;
mod stage;
mod view;
mod worker;
mod workers;

use std::process::ExitCode;

use clap::Parser;

use failure::Failure;

/// Processes orders in three stages, over any transport and on any store.
#[derive(Parser)]
#[command(name = "pipeline", version)]
enum Command {
    /// Places orders, starts workers, shows what is in flight, and checks that everything balances.
    Run(run::RunCommand),
    /// Processes the messages of one stage until it is stopped.
    Worker(worker::Worker),
    /// Parks messages, waits until the store has forgotten their tokens, and sends the messages again. Repeats this
    /// with copies of the messages.
    Parked(parked::Parked),
    /// Kills workers and the broker, with the deduplication on and off; parks messages and sends them again.
    Prove(prove::Prove),
}

impl Command {
    async fn execute(self) -> Result<(), Failure> {
        match self {
            Self::Run(run) => unless_interrupted(run.execute()).await,
            Self::Worker(worker) => worker.execute().await,
            Self::Parked(parked) => unless_interrupted(parked.execute()).await,
            Self::Prove(prove) => unless_interrupted(prove.execute()).await,
        }
    }
}

/// Runs the work until its end, or until the user presses Ctrl-C. Ctrl-C also ends the workers and servers of the work.
async fn unless_interrupted(work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    tokio::select! {
        result = work => result,
        _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match Command::parse().execute().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

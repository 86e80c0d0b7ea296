//! The `storagebox` command.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods))]

mod answer;
mod check;
mod cli;
mod commands;
mod content;
mod doubt;
mod exit;
mod input;
mod interrupt;
mod message;
mod output;
mod progress;
mod rejects;
mod step;
mod store;
mod terminal;
mod text;
mod verbose;

use std::process::ExitCode;
use std::sync::Arc;

use cli::Cli;
use exit::{Exit, Failure};

fn main() -> ExitCode {
    if commands::is_a_guard() {
        return ExitCode::SUCCESS;
    }
    choose_ciphers();
    let cli = Cli::of_process();
    verbose::begin(cli.global.verbose);
    let (as_json, changes) = (cli.global.json, Arc::clone(&cli.global.changes));
    match run(cli) {
        Ok(exit) => exit.into(),
        Err(failure) => failure.after(changes.end()).report(as_json).into(),
    }
}

/// Sets the process-wide TLS provider, which the Redis cluster client uses.
fn choose_ciphers() {
    #[cfg(feature = "redis")]
    rustls::crypto::ring::default_provider().install_default().ok();
}

fn run(cli: Cli) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Runtime::new().map_err(Failure::Runtime)?;
    let exit = match cli.command.hears_signals() {
        true => runtime.block_on(commands::run(cli)),
        false => runtime.block_on(interrupt::or_interrupted(commands::run(cli))),
    };
    // A pending read of standard input cannot be cancelled, and must not keep the program from ending.
    runtime.shutdown_background();
    exit
}

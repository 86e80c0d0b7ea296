//! One module for each subcommand.

#[cfg(test)]
mod asked;
mod assign;
mod bank;
mod batches;
#[cfg(feature = "conform")]
mod conform;
mod counter;
mod dedup;
mod demo;
#[cfg(test)]
pub(crate) mod faulty;
mod hand_out;
mod listing;
mod load;
mod maintain;
mod ordered;
mod pages;
mod ping;
mod promises;
mod setup;
mod shell;
mod store_command;
mod token;

use crate::cli::{Cli, Command};
use crate::exit::{Exit, Failure};

/// Runs the guard process if this process was started as a guard. Returns whether this process is a guard.
pub(crate) fn is_a_guard() -> bool {
    #[cfg(unix)]
    return dedup::run::guard::was_asked_for();
    #[cfg(not(unix))]
    false
}

pub(crate) async fn run(cli: Cli) -> Result<Exit, Failure> {
    match cli.command {
        Command::HandOut(args) => hand_out::run(args, &cli.global).await,
        Command::Setup => setup::run(&cli.global).await,
        Command::Ping => ping::run(&cli.global).await,
        Command::Maintain => maintain::run(&cli.global).await,
        Command::Bank(command) => store_command::run(command, &cli.global).await,
        Command::Assign(args) => store_command::run(args, &cli.global).await,
        Command::Recover(args) => store_command::run(args, &cli.global).await,
        Command::Dedup(command) => dedup::run(command, &cli.global).await,
        Command::Token(command) => store_command::run(command, &cli.global).await,
        Command::Counter(command) => store_command::run(command, &cli.global).await,
        Command::Ordered(command) => store_command::run(command, &cli.global).await,
        Command::Demo(args) => demo::run(&args, &cli.global).await,
        #[cfg(feature = "conform")]
        Command::Conform(args) => conform::run(args, &cli.global).await,
        Command::Promises => promises::run(&cli.global).await,
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args, &cli.global),
    }
}

//! One module for each subcommand.

mod bank;
#[cfg(test)]
mod faulty;
mod hand_out;
mod load;
mod ping;
mod setup;

use crate::cli::{Cli, Command};
use crate::exit::{Exit, Failure};

pub(crate) async fn run(cli: Cli) -> Result<Exit, Failure> {
    match cli.command {
        Command::HandOut(args) => hand_out::run(args, &cli.global).await,
        Command::Setup => setup::run(&cli.global).await,
        Command::Ping => ping::run(&cli.global).await,
        Command::Bank(command) => bank::run(command, &cli.global).await,
    }
}

//! One module for each subcommand.

pub(crate) mod hand_out;

use crate::cli::{Cli, Command};
use crate::exit::{Exit, Failure};

pub(crate) async fn run(cli: Cli) -> Result<Exit, Failure> {
    match cli.command {
        Command::HandOut(args) => hand_out::run(args, &cli.global).await,
    }
}

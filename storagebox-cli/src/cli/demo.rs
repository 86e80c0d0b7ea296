//! The arguments of `demo`.

use clap::Args;

use super::EXIT_CODES;

/// Watch the promises hold: many tasks at once, everybody asks several times, and calls fail at random
///
/// Fills a bank of its own, lets 64 tasks hand out its items to people who each ask five times, loses requests and
/// replies on the way, and audits the result: everybody has one item, and no item two owners.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Demo {
    /// How many people ask
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub people: u32,
    /// How many items there are [default: as many as people]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub items: Option<u32>,
    /// How many times each one asks
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub times: u32,
    /// How many tasks work at once
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    pub tasks: u16,
    /// How many calls of a hundred fail
    #[arg(long, value_name = "PERCENT", default_value_t = 20, value_parser = clap::value_parser!(u8).range(..=50))]
    pub faults: u8,
    /// The beginning of the random numbers, to see the same faults again [default: another one each time]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

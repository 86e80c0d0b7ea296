//! The arguments of `demo`.

use clap::Args;

/// Watch the promises hold while calls fail at random
#[derive(Debug, Args)]
#[command(after_help = "\
Fills a bank of its own, lets many tasks hand out its items to people who each ask several times, loses requests and \
replies on the way, and audits the result: each person has one item, and no item has two owners. Without a URL it uses \
memory:.")]
pub(crate) struct Demo {
    /// Number of people
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub people: u32,
    /// Number of items [default: as many as people]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub items: Option<u32>,
    /// Number of times that each person asks
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub times: u32,
    /// Number of concurrent tasks
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    pub tasks: u16,
    /// Percentage of calls that fail, at most 50
    #[arg(long, value_name = "PERCENT", default_value_t = 20, value_parser = clap::value_parser!(u8).range(..=50))]
    pub faults: u8,
    /// Seed of the random numbers, to repeat the same faults [default: random]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

//! The arguments of `counter ...`.

mod strategy;

use std::time::Duration;

use clap::{Args, Subcommand};
use storagebox::{BoxName, Key, OpId, Strategy};

use super::duration::any;
use super::{EXIT_CODES, box_name, key, op_id};
use strategy::strategy;

const STRATEGIES: &str = "\
Strategies:
  marker:KEEP     each operation is remembered beside the counter, for KEEP
  window:KEEP:N   N operations are remembered within the counter, for KEEP
  sharded:N:KEEP  over N records, for many writers; bounds for the box follow,
                  as in sharded:8:7d:0..100
  atomic          a bare addition; a retry is not exact
 Not on every backend:
  ledger          the operations themselves, with a log
  optimistic      compare-and-set on the last writer
  history:N       the same with the last N writers
  token-set:N     N operations in all, remembered for ever
  request-token   the store's own memory, ten minutes
 KEEP is a duration such as 7d, or `forever`. A box keeps the strategy of its
 first use.";

#[derive(Debug, Subcommand)]
pub(crate) enum Counter {
    Add(Add),
    /// Show a counter's value; one that was never changed is 0
    #[command(after_help = EXIT_CODES, after_long_help = format!("{STRATEGIES}\n\n{EXIT_CODES}"))]
    Get(OfCounter),
    Log(Log),
    Compact(Compact),
}

#[derive(Debug, Args)]
pub(crate) struct OfKeyAlone {
    /// The box of counters
    #[arg(long = "box", value_name = "NAME", default_value = "counters", value_parser = box_name)]
    pub name: BoxName,
    /// The counter; write `--` before one that begins with `-`
    #[arg(value_name = "KEY", value_parser = key)]
    pub key: Key,
}

#[derive(Debug, Args)]
pub(crate) struct OfCounter {
    #[command(flatten)]
    pub of: OfKeyAlone,
    /// How the box keeps its promise; --help lists them
    #[arg(long, value_name = "STRATEGY", default_value = "marker:7d", value_parser = strategy)]
    pub strategy: Strategy,
}

/// Add to a counter once for an operation, however often it is said; exit 1 if a bound forbids it
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{STRATEGIES}\n\n{EXIT_CODES}"))]
pub(crate) struct Add {
    #[command(flatten)]
    pub counter: OfCounter,
    /// What to add, negative to take away; 0 is remembered too
    #[arg(value_name = "DELTA", allow_negative_numbers = true)]
    pub delta: i64,
    /// The operation, such as an order: the same one for every retry
    #[arg(long, value_name = "OP", value_parser = op_id)]
    pub op: OpId,
    /// The least value that the result may have
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub min: Option<i64>,
    /// The greatest value that the result may have
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max: Option<i64>,
}

/// List the operations of a counter with the strategy `ledger`, the oldest first: CSV with a header, or JSON
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Log {
    #[command(flatten)]
    pub of: OfKeyAlone,
    /// Stop after so many entries
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

/// Merge old operations of a counter with the strategy `ledger` into one sum; its value stays
///
/// A retry of what was merged is not known any more: you vouch that none is under way.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Compact {
    #[command(flatten)]
    pub of: OfKeyAlone,
    /// Those that are at least so old
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = any)]
    pub older_than: Duration,
}

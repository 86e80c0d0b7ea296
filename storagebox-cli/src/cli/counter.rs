//! The arguments of `counter ...`.

mod strategy;

use std::time::Duration;

use clap::{Args, Subcommand};
use storagebox::{BoxName, Key, OpId, Reason, Strategy};

use super::duration::any;
use super::{EXIT_CODES, box_name, key, op_id, reason};
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
    Cancel(Cancel),
    Log(Log),
    Compact(Compact),
    #[cfg(feature = "dynamo")]
    Plan(Plan),
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
    /// Why, for `counter log`; a counter with the strategy `ledger` alone has one. A retry keeps the first reason
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub reason: Option<Reason>,
}

/// Fence an operation that was not applied, so that no late attempt applies it; exit 1 if it was applied before
///
/// For a client that gave up and must know. Strategies that remember no operation have nothing to keep a fence in.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{STRATEGIES}\n\n{EXIT_CODES}"))]
pub(crate) struct Cancel {
    #[command(flatten)]
    pub counter: OfCounter,
    /// The operation, as it was named for `counter add`
    #[arg(long, value_name = "OP", value_parser = op_id)]
    pub op: OpId,
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

/// Reckon what each strategy costs on DynamoDB, for so many operations on one key: CSV with a header, or JSON
///
/// Write and read units of all operations together, and of one look at the value (`value_units`); the bytes of the
/// counter's row in the end; how many operations a second the key takes then; and whether the row and the rate hold. A
/// strategy that has a size is as large as the operations need. Sets and windows are cheap at first and dear in the
/// end, because each change writes the whole row. No store is opened.
#[cfg(feature = "dynamo")]
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Plan {
    /// How many operations, several numbers separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "10,100,1000,10000")]
    pub operations: Vec<u64>,
    /// How many operations come each second; with --keep, in place of --operations
    #[arg(long, value_name = "N", requires = "keep", conflicts_with = "operations")]
    pub rate: Option<u32>,
    /// How long each is to be remembered
    #[arg(long, value_name = "DURATION", requires = "rate", value_parser = any)]
    pub keep: Option<Duration>,
    /// How long the partition key is: the store's prefix, the box's name, the key, and about 30 bytes more
    #[arg(long, value_name = "N", default_value = "64")]
    pub key_bytes: u32,
}

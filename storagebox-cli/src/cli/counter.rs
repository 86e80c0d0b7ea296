//! The arguments of `counter ...`.

mod strategy;

use std::time::Duration;

use clap::{Args, Subcommand};
use storagebox::counters::Reason;
use storagebox::values::Key;
use storagebox::{OpId, Strategy};

use super::duration::any;
use super::namespace::OfNamespace;
use super::{key, op_id, reason};
use strategy::strategy;

const STRATEGIES: &str = "\
Strategies (a namespace keeps that of its first use; KEEP is a duration such as 7d, or `forever`):
  marker:KEEP     Remembers each operation beside the counter, for KEEP
  window:KEEP:N   Remembers N operations within the counter, for KEEP
  sharded:N:KEEP  Spreads the counter over N records; bounds may follow: sharded:8:7d:0..100
  atomic          Adds, and remembers nothing: a retry may count twice
  ledger          Keeps every operation, with a log; like those below not on every backend
  optimistic      Remembers the last operation, and compares and sets
  history:N       Remembers the last N operations, and compares and sets
  token-set:N     Remembers N operations in all, forever
  request-token   Lets the store remember operations, for ten minutes";

#[derive(Debug, Subcommand)]
pub(crate) enum Counter {
    Add(Add),
    /// Show the value of a counter; an unused counter is 0
    #[command(after_help = STRATEGIES)]
    Get(OfCounter),
    Cancel(Cancel),
    Log(Log),
    Compact(Compact),
    Promise(Promise),
}

#[derive(Debug, Args)]
pub(crate) struct OfKeyAlone {
    #[command(flatten)]
    pub of: OfNamespace,
    /// Key of the counter
    #[arg(value_name = "KEY", value_parser = key)]
    pub key: Key,
}

#[derive(Debug, Args)]
pub(crate) struct OfStrategy {
    /// Strategy of the namespace; see Strategies
    #[arg(long, value_name = "STRATEGY", default_value = "marker:7d", value_parser = strategy)]
    pub strategy: Strategy,
}

#[derive(Debug, Args)]
pub(crate) struct OfCounter {
    #[command(flatten)]
    pub of: OfKeyAlone,
    #[command(flatten)]
    pub by: OfStrategy,
}

/// Add to a counter, once per operation
#[derive(Debug, Args)]
#[command(after_help = format!("Exits with 1 if the result would be out of bounds.\n\n{STRATEGIES}"))]
pub(crate) struct Add {
    #[command(flatten)]
    pub counter: OfCounter,
    /// What to add; may be negative
    #[arg(value_name = "DELTA", allow_negative_numbers = true)]
    pub delta: i64,
    /// Id of the operation, such as an order; the same for every retry
    #[arg(long, value_name = "OP", value_parser = op_id)]
    pub op: OpId,
    /// Minimum of the result
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub min: Option<i64>,
    /// Maximum of the result
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max: Option<i64>,
    /// Reason for `counter log`; only with the strategy `ledger`
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub reason: Option<Reason>,
}

/// Cancel an operation, so that no late attempt applies it
#[derive(Debug, Args)]
#[command(after_help = format!("\
For a client that gave up and must know the outcome. Exits with 1 if the operation was applied before. Strategies that \
remember no operation cannot cancel one.\n\n{STRATEGIES}"))]
pub(crate) struct Cancel {
    #[command(flatten)]
    pub counter: OfCounter,
    /// Id of the operation, as given to `counter add`
    #[arg(long, value_name = "OP", value_parser = op_id)]
    pub op: OpId,
}

/// List the operations of a counter with the strategy `ledger`, oldest first: CSV with a header, or JSON
#[derive(Debug, Args)]
pub(crate) struct Log {
    #[command(flatten)]
    pub of: OfKeyAlone,
    /// Stop after N entries
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

/// Merge old operations of a counter with the strategy `ledger` into one sum
#[derive(Debug, Args)]
#[command(after_help = "\
The value stays the same. A late retry of a merged operation counts again, so make sure that none is in progress.")]
pub(crate) struct Compact {
    #[command(flatten)]
    pub of: OfKeyAlone,
    /// Minimum age of the operations to merge
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = any)]
    pub older_than: Duration,
}

/// Show what a strategy promises: how long a retry is exact, and what else it can do
#[derive(Debug, Args)]
#[command(after_help = STRATEGIES)]
pub(crate) struct Promise {
    #[command(flatten)]
    pub of: OfNamespace,
    #[command(flatten)]
    pub by: OfStrategy,
}

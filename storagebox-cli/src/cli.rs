//! The command line, with the texts of `--help`.

mod assign;
mod bank;
mod complaint;
#[cfg(feature = "conform")]
mod conform;
mod counter;
mod dedup;
mod demo;
mod duration;
mod file;
mod hand_out;
mod lease;
mod manual;
mod namespace;
mod ordered;
mod shell;
mod time;
mod token;
mod value;

use std::env::args_os;
use std::iter::once;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};
use storagebox::counters::Reason;
use storagebox::values::{ClaimId, Key};
use storagebox::{Error, OpId};

pub(crate) use assign::{Assign, Recover};
pub(crate) use bank::{Bank, Extend, Import, Load, OfClaim, OfItem, OfItems, Reclaim, Take};
#[cfg(feature = "conform")]
pub(crate) use conform::Conform;
pub(crate) use counter::{Add, Cancel, Compact, Counter, OfCounter, OfKeyAlone, Promise};
pub(crate) use dedup::{Dedup, Forget, GetRecord, OfRecord, Record, Records, Replace, Run};
pub(crate) use demo::Demo;
pub(crate) use file::{OfFile, OfOutput};
pub(crate) use hand_out::HandOut;
pub(crate) use lease::{Begin, Complete, ExtendLease, Lease, OfLease};
pub(crate) use manual::sections;
pub(crate) use namespace::OfNamespace;
pub(crate) use ordered::{Delete, GetValue, ListValues, OfKey, Ordered, Purge, Put, ResetKey};
pub(crate) use shell::{Completions, ManPage};
pub(crate) use token::{Consume, OfToken, Token, Tokens};
pub(crate) use value::{Content, without_line_end};

use crate::doubt::Changes;
use crate::store;

const NAME: &str = "storagebox";

const EXIT_CODES: &str = "\
Exit codes:
  0    Success
  1    Success, but the answer is no: empty, ended, unknown, absent, not first, out of bounds, stale;
       or some lines of a file could not be used
  2    Usage error, or a file cannot be read or written, or has no line that can be used
  3    The store failed, or an audit found a mismatch
  130  Interrupted";

/// The display order of global options in a help text: after the options of the command.
const LAST: usize = 900;

const FILES: &str = "\
Files are UTF-8, their columns separated by commas; the first column of each line counts. Lines that cannot be used are \
counted and listed in the rejects file. The manual page has the details.";

/// Exactly-once building blocks: one voucher per customer, one run per job
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_help = EXIT_CODES, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Args)]
pub(crate) struct Global {
    #[arg(
        long,
        global = true,
        env = store::URL,
        hide_env_values = true,
        display_order = LAST,
        help = format!("URL of the store; use the variable if it holds a password [default: {}]", store::DEFAULT)
    )]
    pub url: Option<String>,
    /// Print answers and errors as JSON, one object per line
    #[arg(long, global = true, display_order = LAST)]
    pub json: bool,
    /// Log calls to standard error; -vv also logs the backend
    #[arg(long, short, global = true, display_order = LAST, action = clap::ArgAction::Count)]
    pub verbose: u8,
    #[arg(skip)]
    pub changes: Arc<Changes>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    HandOut(HandOut),
    /// Create the schema or table of the store if it does not exist
    Setup,
    /// Check that the store is reachable and set up
    #[command(after_help = "Exits with 1 if the store is reachable and not set up, with 3 if it is not reachable.")]
    Ping,
    /// Delete expired records and old traces of ended operations
    #[command(after_help = "No promise needs what is deleted. Run it now and then; it is harmless to repeat.")]
    Maintain,
    /// Hand out items: each id takes one, and no item is taken twice
    #[command(subcommand)]
    Bank(Bank),
    Assign(Assign),
    Recover(Recover),
    /// Run a command once per id, or its steps one by one, and record values by id
    #[command(subcommand)]
    Dedup(Dedup),
    /// Create tokens, and consume each once
    #[command(subcommand)]
    Token(Token),
    /// Count each operation once, within bounds
    #[command(subcommand)]
    Counter(Counter),
    /// Write values that an older write never overwrites
    #[command(subcommand)]
    Ordered(Ordered),
    Demo(Demo),
    #[cfg(feature = "conform")]
    Conform(Conform),
    /// Show what the store promises, and the limits of that
    Promises,
    Completions(Completions),
    Man(ManPage),
}

impl Cli {
    /// Parses the command line of this process. An invalid command line ends the process.
    pub(crate) fn of_process() -> Self {
        // Replaces the name of the executable, which may be anything and would be shown in the usage.
        let args: Vec<_> = once(NAME.into()).chain(args_os().skip(1)).collect();
        Self::try_parse_from(&args).unwrap_or_else(|error| complaint::end(error, complaint::wants_json(&args)))
    }
}

impl Command {
    /// Returns whether the command handles signals itself, to pass them on or to clean up.
    pub(crate) fn hears_signals(&self) -> bool {
        match self {
            Self::Dedup(Dedup::Run(_)) => true,
            #[cfg(feature = "conform")]
            Self::Conform(_) => true,
            _ => false,
        }
    }
}

fn key(text: &str) -> Result<Key, Error> {
    Key::new(without_line_end(text)?)
}

fn op_id(text: &str) -> Result<OpId, Error> {
    OpId::new(without_line_end(text)?)
}

fn reason(text: &str) -> Result<Reason, Error> {
    Reason::new(text)
}

fn claim_id(text: &str) -> Result<ClaimId, Error> {
    ClaimId::new(without_line_end(text)?)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn clap_accepts_the_definition_of_the_command_line() {
        Cli::command().debug_assert();
    }
}

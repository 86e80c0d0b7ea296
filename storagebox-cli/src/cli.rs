//! The command line. What a person reads with `--help` stands here.

mod assign;
mod bank;
mod complaint;
mod counter;
mod dedup;
mod demo;
mod duration;
mod file;
mod hand_out;
mod lease;
mod ordered;
mod shell;
mod token;
mod value;

use std::env::args_os;
use std::iter::once;

use clap::{Args, Parser, Subcommand};
use storagebox::{BoxName, ClaimId, Error, Key, OpId, Reason};

pub(crate) use assign::{Assign, OfBanks, Recover};
pub(crate) use bank::{Bank, Extend, Import, Load, OfBank, OfClaim, OfItem, OfItems, Reclaim, Take};
#[cfg(feature = "dynamo")]
pub(crate) use counter::Plan;
pub(crate) use counter::{Add, Cancel, Compact, Counter, OfCounter, OfKeyAlone};
pub(crate) use dedup::{Dedup, Forget, GetRecord, OfRecord, Record, Records, Replace, Run};
pub(crate) use demo::Demo;
pub(crate) use file::OfFile;
pub(crate) use hand_out::HandOut;
pub(crate) use lease::{Begin, Complete, ExtendLease, Lease, OfLease};
pub(crate) use ordered::{Delete, GetValue, OfKey, Ordered, Purge, Put};
pub(crate) use shell::{Completions, ManPage};
pub(crate) use token::{Consume, OfToken, Token, Tokens};
pub(crate) use value::Content;

const NAME: &str = "storagebox";

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    done, and the answer is no: the bank is empty, the claim has ended, the
       id or the item is unknown, another was first, the bound is reached, a
       newer write is there, the store is not set up
  2    bad usage, or a file that cannot be read or written
  3    the store failed, or an audit found a mismatch
  130  interrupted";

/// Where the options of every command stand among those of one.
const LAST: usize = 900;

const FILES: &str = "\
Files:
  The first column of each line counts, everything in it, spaces included. A
  field that begins with a double quote is quoted as in any CSV: it ends at
  the next lone quote, \"\" is one quote, and it may hold commas and line
  breaks. Quotes anywhere else are ordinary characters, so plain word lists
  need no quoting unless a line begins with a quote or holds a comma. Lines
  end with LF or CRLF. Text is UTF-8, compared byte by byte; a byte order mark
  at the start of a file is no part of it.

  Lines that cannot be used (empty, too long, U+0000, not UTF-8, malformed
  CSV) are counted and listed in the rejects file (file,line,reason); the rest
  goes on.";

/// Things that must happen exactly once: one voucher a customer, one run a job.
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
    /// The store; put a URL with a password into the environment, since command lines are visible to others
    /// [default: sqlite:storagebox.db, made if it is not there; memory: in a build without sqlite, and for `demo`]
    #[arg(long, global = true, env = "STORAGEBOX_URL", hide_env_values = true, display_order = LAST)]
    pub url: Option<String>,
    /// Answer in JSON on standard output, one object a line
    #[arg(long, global = true, display_order = LAST)]
    pub json: bool,
    /// Say on standard error which calls are made and how long each takes; twice: also what the backend does. A
    /// filter in RUST_LOG says it more finely
    #[arg(long, short, global = true, display_order = LAST, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    HandOut(HandOut),
    /// Make what the store needs, such as its tables; once, and harmless to repeat
    #[command(after_help = EXIT_CODES)]
    Setup,
    /// Ask the store for a sign of life: 0 if it is set up, 1 if it answers and is not, 3 if it does not answer
    #[command(after_help = EXIT_CODES)]
    Ping,
    /// Delete what no promise needs any more, such as records that are over; now and then, and harmless to repeat
    #[command(after_help = EXIT_CODES)]
    Maintain,
    /// Fill one bank, take from it, look into it
    #[command(subcommand, after_help = EXIT_CODES)]
    Bank(Bank),
    Assign(Assign),
    Recover(Recover),
    /// Remember what was done for an id; run a command once for an id
    #[command(subcommand, after_help = EXIT_CODES)]
    Dedup(Dedup),
    /// Do what an id stands for once, step by step: begin, extend, complete or abort
    #[command(subcommand, after_help = EXIT_CODES)]
    Lease(Lease),
    /// Make tokens, and consume each once
    #[command(subcommand, after_help = EXIT_CODES)]
    Token(Token),
    /// Count each operation once, within bounds
    #[command(subcommand, after_help = EXIT_CODES)]
    Counter(Counter),
    /// Keep values that an older write never overwrites
    #[command(subcommand, after_help = EXIT_CODES)]
    Ordered(Ordered),
    Demo(Demo),
    /// Show what this store guarantees, and where that ends
    #[command(after_help = EXIT_CODES)]
    Promises,
    Completions(Completions),
    Man(ManPage),
}

impl Cli {
    /// The command line of this process; a bad one ends it with a complaint.
    pub(crate) fn of_process() -> Self {
        // The name that it was called by may be anything, and would stand in the usage.
        let args = once(NAME.into()).chain(args_os().skip(1));
        Self::try_parse_from(args).unwrap_or_else(|error| complaint::made_safe(error).exit())
    }
}

impl Command {
    /// Whether it hears signals itself, because another program has to hear them too.
    pub(crate) fn hears_signals(&self) -> bool {
        matches!(self, Self::Dedup(Dedup::Run(_)))
    }
}

fn box_name(text: &str) -> Result<BoxName, Error> {
    BoxName::new(text)
}

fn key(text: &str) -> Result<Key, Error> {
    Key::new(text)
}

fn op_id(text: &str) -> Result<OpId, Error> {
    OpId::new(text)
}

fn reason(text: &str) -> Result<Reason, Error> {
    Reason::new(text)
}

fn claim_id(text: &str) -> Result<ClaimId, Error> {
    ClaimId::new(text)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}

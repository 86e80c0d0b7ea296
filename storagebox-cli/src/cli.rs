//! The command line. What a person reads with `--help` stands here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use storagebox::{BoxName, Error};

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    done, and some ids got nothing because the bank is empty
  2    bad usage, or a file that cannot be read or written
  3    the store failed, or the audit found a mismatch
  130  interrupted";

const FILES: &str = "\
Files:
  The first column of each line counts, everything in it, spaces included. A field that begins with a double quote
  is quoted as in any CSV: it ends at the next lone quote, \"\" is one quote, and it may hold commas and line breaks.
  Quotes anywhere else are ordinary characters, so plain word lists need no quoting unless a line begins with a
  quote or holds a comma. Lines end with LF or CRLF. Text is UTF-8, compared byte by byte; a byte order mark at the
  start of a file is no part of it.

  Lines that cannot be used (empty, too long, U+0000, not UTF-8, malformed CSV) are counted and listed in the rejects
  file (file,line,reason); the rest goes on.

  --out holds a line `id,item,outcome` for each line of ids, in their order. The outcome is `new` where this line
  took the item, `again` where the id had it already, `empty` where the bank had none left, and `ended` where the
  id's claim was released or expired earlier, so that it takes nothing any more. The file appears when all of it is
  there; a run that fails leaves the old one as it was.";

/// Things that must happen exactly once: one voucher a customer.
#[derive(Debug, Parser)]
#[command(name = "storagebox", version, after_help = EXIT_CODES, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Args)]
pub(crate) struct Global {
    /// The store; put a URL with a password into the environment, since command lines are visible to others
    #[arg(long, global = true, env = "STORAGEBOX_URL", hide_env_values = true, default_value = "memory:")]
    pub url: String,
    /// Answer with one JSON object on standard output
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    HandOut(HandOut),
}

/// Hand every id exactly one item, however often the id occurs
///
/// Loads the items into a bank, takes one for each line of ids with many tasks at once, writes who got what, and
/// checks the result. On a store that lasts, running it again is safe: nobody gets a second item.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{FILES}\n\n{EXIT_CODES}"))]
pub(crate) struct HandOut {
    /// The items, such as voucher codes; `-` is standard input; left out if the bank is filled already
    #[arg(long, value_name = "FILE")]
    pub items: Option<PathBuf>,
    /// The ids, such as customers, one a line, repeated or not; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub ids: PathBuf,
    /// Where to write who got what
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Where to list the lines that could not be used [default: the name of --out, ending in .rejects.csv]
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// The bank
    #[arg(long, value_name = "NAME", default_value = "items", value_parser = bank_name)]
    pub bank: BoxName,
    /// How many ids are served at once
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    pub concurrency: u16,
    /// The first line of each input is a header
    #[arg(long)]
    pub header: bool,
    /// Nobody else works with this bank now: check its counts too (always done for `memory:`)
    #[arg(long)]
    pub alone: bool,
}

fn bank_name(text: &str) -> Result<BoxName, Error> {
    BoxName::new(text)
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

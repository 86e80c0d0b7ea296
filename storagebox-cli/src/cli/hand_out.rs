//! The arguments of `hand-out`.

use std::path::PathBuf;

use clap::Args;
use storagebox::BoxName;

use super::{EXIT_CODES, FILES, box_name};

const OUT: &str = "
  --out holds a line `id,item,outcome` for each line of ids, in their order.
  The outcome is `new` where this line took the item, `again` where the id had
  it already, `empty` where the bank had none left, and `ended` where the id's
  claim was released or expired earlier, so that it takes nothing any more.
  The file appears when all of it is there; a run that fails leaves the old
  one as it was.";

/// Hand every id exactly one item, however often the id occurs
///
/// Loads the items into a bank, takes one for each line of ids with many tasks at once, writes who got what, and
/// checks the result. On a store that lasts, running it again is safe: nobody gets a second item.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{FILES}\n{OUT}\n\n{EXIT_CODES}"))]
pub(crate) struct HandOut {
    /// The items, such as voucher codes; `-` is standard input; left out if the bank is filled already
    #[arg(long, value_name = "FILE")]
    pub items: Option<PathBuf>,
    /// The ids, such as customers, one a line, repeated or not; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub ids: PathBuf,
    /// Where to write who got what; `-` is standard output, and the audit then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Where to list the lines that could not be used [default: the name of --out, without .csv, and .rejects.csv; for
    /// standard output storagebox.rejects.csv]
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// The bank
    #[arg(long, value_name = "NAME", default_value = "items", value_parser = box_name)]
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

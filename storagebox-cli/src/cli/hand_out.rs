//! The arguments of `hand-out`.

use std::path::PathBuf;

use clap::Args;
use storagebox::values::Namespace;

use super::FILES;
use super::namespace::namespace;

/// Hand out the items of a file: each id gets exactly one, however often it occurs
#[derive(Debug, Args)]
#[command(after_help = format!("\
Adds the items to a bank, takes one for each line of ids with many concurrent tasks, writes who got what, and checks the \
result. On a persistent store it is safe to run it again: nobody gets a second item.

--out gets a line `id,item,outcome` for each line of ids. `new`: this line took the item. `again`: the id had it already. \
`empty`: the bank had none left. `ended`: the id's claim was released or expired before. Exits with 1 if some ids got \
no item.\n\n{FILES}"))]
pub(crate) struct HandOut {
    /// Namespace: the name of the bank
    #[arg(value_name = "NAMESPACE", value_parser = namespace)]
    pub bank: Namespace,
    /// The items, such as voucher codes; `-` is standard input [default: the items that the bank has]
    #[arg(long, value_name = "FILE")]
    pub items: Option<PathBuf>,
    /// The ids, such as customers, one per line, repeated or not; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub ids: PathBuf,
    /// Where to write who got what; `-` is standard output, and the audit goes to standard error
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Replace the file of --out if it exists
    #[arg(long)]
    pub force: bool,
    /// Where to list rejected lines [default: the name of --out without .csv, and .rejects.csv]
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// Number of ids that are served at the same time
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    pub concurrency: u16,
    /// Skip the first line of each input, which is a header
    #[arg(long)]
    pub header: bool,
    /// Check the bank's counts too, because nobody else uses the bank now; always on for memory:
    #[arg(long)]
    pub alone: bool,
}

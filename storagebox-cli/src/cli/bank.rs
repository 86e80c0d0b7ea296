//! The arguments of `bank ...`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use storagebox::bank::Hold;
use storagebox::values::{ClaimId, Namespace};

use super::duration::hold;
use super::file::{OfFile, OfLines};
use super::namespace::{OfNamespace, namespace};
use super::{FILES, claim_id};

#[derive(Debug, Subcommand)]
pub(crate) enum Bank {
    Load(Load),
    Take(Take),
    Extend(Extend),
    /// Make a hold permanent: the item is spent
    #[command(after_help = "Exits with 1 if the id's claim has ended, or the id took no item.")]
    Confirm(OfClaim),
    /// End the claim of an id and free its item
    #[command(after_help = "\
An ended claim never takes an item again, nor does an id that took none before. Exits with 1 if the hold had expired, or \
the claim is confirmed: its item stays spent.")]
    Release(OfClaim),
    /// Forget an id whose claim is confirmed or has ended, so that the id can take again
    #[command(after_help = "\
The item of a confirmed claim stays spent, and has no holder any more. A late retry of the old claim counts as a new \
claim, so make sure that none is in progress. Exits with 1 if the id holds an item, or is unknown.")]
    Retire(OfClaim),
    /// Show the item that an id holds
    #[command(after_help = "Exits with 1 if the id's claim has ended, or the id took no item.")]
    Show(OfClaim),
    /// Show the state of an item, and who holds it
    #[command(after_help = "Exits with 1 if the bank does not know the item.")]
    Holder(OfItem),
    /// Count the free, held, spent and withdrawn items
    Counts(OfNamespace),
    List(List),
    /// Check every item, its claim and the counts against each other
    #[command(after_help = "\
Each item must be listed once, each held or spent item must be the one that its claim shows, and the counts must be those \
of the listing. The counts are checked only if the bank does not change meanwhile, so audit a bank at rest. The audit \
reads the whole bank and keeps up to 60 bytes per item in memory. Exits with 3 if it finds a mismatch.")]
    Audit(OfNamespace),
    /// Withdraw free items, so that nobody takes them
    #[command(after_help = format!("Exits with 1 if some items are held, spent or unknown.\n\n{FILES}"))]
    Withdraw(OfItems),
    /// Make withdrawn items free again
    #[command(after_help = format!("Exits with 1 if some items are unknown.\n\n{FILES}"))]
    Restore(OfItems),
    Reclaim(Reclaim),
    Import(Import),
}

impl Bank {
    /// Returns the namespace of the bank.
    pub(crate) fn of(&self) -> &OfNamespace {
        match self {
            Self::Load(args) => &args.of,
            Self::Take(args) => &args.claim.of,
            Self::Extend(args) => &args.claim.of,
            Self::Confirm(args) | Self::Release(args) | Self::Retire(args) | Self::Show(args) => &args.of,
            Self::Holder(args) => &args.of,
            Self::Counts(args) | Self::Audit(args) => args,
            Self::List(args) => &args.of,
            Self::Withdraw(args) | Self::Restore(args) => &args.of,
            Self::Reclaim(args) => &args.of,
            Self::Import(args) => &args.of,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct OfClaim {
    #[command(flatten)]
    pub of: OfNamespace,
    /// Who takes the item, such as a customer
    #[arg(value_name = "ID", value_parser = claim_id)]
    pub id: ClaimId,
}

#[derive(Debug, Args)]
pub(crate) struct OfItem {
    #[command(flatten)]
    pub of: OfNamespace,
    /// The item
    // The command checks the value, because an error of the command line would show it.
    #[arg(value_name = "ITEM")]
    pub item: String,
}

#[derive(Debug, Args)]
pub(crate) struct OfItems {
    #[command(flatten)]
    pub of: OfNamespace,
    /// The items
    // The command checks the value, because an error of the command line would show it.
    #[arg(value_name = "ITEM", required_unless_present = "file", conflicts_with = "file")]
    pub items: Vec<String>,
    #[command(flatten)]
    pub file: OfFile,
}

/// Add the items of a file to a bank; items that it has already stay as they are
#[derive(Debug, Args)]
#[command(after_help = format!("\
The file is read as a stream and added in batches. If a load fails half-way, run it again.\n\n{FILES}"))]
pub(crate) struct Load {
    #[command(flatten)]
    pub of: OfNamespace,
    /// The items, such as voucher codes, one per line; `-` is standard input
    #[arg(value_name = "FILE")]
    pub items: PathBuf,
    #[command(flatten)]
    pub lines: OfLines,
}

/// Take an item for an id; the same id gets the same item
#[derive(Debug, Args)]
#[command(after_help = "\
Exits with 1 if the bank is empty, or the id's claim has ended. An ended claim never takes an item again.")]
pub(crate) struct Take {
    #[command(flatten)]
    pub claim: OfClaim,
    /// How long to hold the item unless it is confirmed, such as 30s, 15m, 2h or 7d [default: until it is released]
    #[arg(long = "for", value_name = "DURATION", value_parser = hold)]
    pub hold: Option<Hold>,
}

/// Extend a hold from now on; it never becomes shorter
#[derive(Debug, Args)]
#[command(after_help = "\
Exits with 1 if the id's claim has ended or is confirmed, or the id took no item.")]
pub(crate) struct Extend {
    #[command(flatten)]
    pub claim: OfClaim,
    /// How long to hold the item from now on, such as 30s, 15m, 2h or 7d [default: until it is released]
    #[arg(long = "for", value_name = "DURATION", value_parser = hold)]
    pub hold: Option<Hold>,
}

/// List the items with their states: CSV with a header, or JSON
#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub of: OfNamespace,
    /// Stop after N items
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

/// Release the claims of all ids of a file, and free their items
#[derive(Debug, Args)]
#[command(after_help = format!("\
For work that was given up: the ids may be those that `bank list` shows as held. Each claim ends as with `bank release`, \
and takes nothing any more. It is harmless to run it again. Exits with 1 if some claims are confirmed: their items stay \
spent.\n\n{FILES}"))]
pub(crate) struct Reclaim {
    #[command(flatten)]
    pub of: OfNamespace,
    /// The ids, one per line; `-` is standard input
    #[arg(value_name = "FILE")]
    pub ids: PathBuf,
    #[command(flatten)]
    pub lines: OfLines,
}

/// Copy the ids and free items of another bank; each id keeps its item
#[derive(Debug, Args)]
#[command(after_help = "\
Stop everybody who takes from either bank until the import exits with 0. What this bank holds already must agree with the \
other bank, and no id may have ended here; otherwise nothing is written. At the end both banks are read again and \
compared, and the ids that differ are listed. If an import stops half-way, run it again.

Items that are held for a while, spent, withdrawn or given to two ids are not copied, and are counted. The import keeps \
both banks in memory, about 500 bytes per item. `--from dynamodb+articles://region/items/records` reads the two tables of \
article 1. Exits with 1 if the other bank is empty, and with 3 if the banks differ.")]
pub(crate) struct Import {
    #[command(flatten)]
    pub of: OfNamespace,
    /// URL of the other store; set STORAGEBOX_FROM_URL instead if the URL holds a password
    #[arg(long, value_name = "URL", env = "STORAGEBOX_FROM_URL", hide_env_values = true)]
    pub from: String,
    /// Namespace of the other bank; for the tables of article 1 the name of the items' table
    /// [default: the same namespace]
    #[arg(long, value_name = "NAMESPACE", value_parser = namespace)]
    pub from_namespace: Option<Namespace>,
}

//! The arguments of `bank ...`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use storagebox::{BoxName, ClaimId, Hold};

use super::duration::hold;
use super::file::OfFile;
use super::{EXIT_CODES, FILES, box_name, claim_id};

#[derive(Debug, Subcommand)]
pub(crate) enum Bank {
    Load(Load),
    Take(Take),
    Extend(Extend),
    /// Make an id's hold permanent: its item is spent
    #[command(after_help = EXIT_CODES)]
    Confirm(OfClaim),
    /// End an id's claim for good and free its item; an id that took nothing never will
    #[command(after_help = EXIT_CODES)]
    Release(OfClaim),
    /// Forget an id whose claim is confirmed or has ended, so that it can take anew; exit 1 if it holds an item
    ///
    /// The item of a confirmed claim stays spent, and nobody is named as its holder any more. A retry of the old claim
    /// is not known any more either: you vouch that none is under way.
    #[command(after_help = EXIT_CODES)]
    Retire(OfClaim),
    /// Show what an id holds
    #[command(after_help = EXIT_CODES)]
    Show(OfClaim),
    /// Show where an item is, and who has it
    #[command(after_help = EXIT_CODES)]
    Holder(OfItem),
    /// Count the items that are free, held, spent and withdrawn
    #[command(after_help = EXIT_CODES)]
    Counts(OfBank),
    List(List),
    /// Check every item, its claim and the counts against each other; exit 3 if they do not agree
    ///
    /// Each item must be listed once, each held or spent one must be what its claim shows, and the counts must be
    /// those of the listing. The counts are checked only if the bank did not change meanwhile, so audit a bank at
    /// rest. It reads the whole bank, asks for each claim, and keeps up to 60 bytes an item.
    #[command(after_help = EXIT_CODES)]
    Audit(OfBank),
    /// Set free items aside, so that nobody takes them; exit 1 if some are held, spent or unknown
    #[command(after_help = EXIT_CODES, after_long_help = format!("{FILES}\n\n{EXIT_CODES}"))]
    Withdraw(OfItems),
    /// Free items that were set aside; exit 1 if some are unknown
    #[command(after_help = EXIT_CODES, after_long_help = format!("{FILES}\n\n{EXIT_CODES}"))]
    Restore(OfItems),
    Reclaim(Reclaim),
    Import(Import),
}

impl Bank {
    /// The bank that it is about.
    pub(crate) fn of(&self) -> &OfBank {
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
pub(crate) struct OfBank {
    /// The bank
    #[arg(long, value_name = "NAME", value_parser = box_name)]
    pub bank: BoxName,
}

#[derive(Debug, Args)]
pub(crate) struct OfClaim {
    #[command(flatten)]
    pub of: OfBank,
    /// Who took the item, such as a customer; write `--` before one that begins with `-`
    #[arg(value_name = "ID", value_parser = claim_id)]
    pub id: ClaimId,
}

#[derive(Debug, Args)]
pub(crate) struct OfItem {
    #[command(flatten)]
    pub of: OfBank,
    /// The item; write `--` before one that begins with `-`
    // Checked by the command, because a complaint about the command line shows the value.
    #[arg(value_name = "ITEM")]
    pub item: String,
}

#[derive(Debug, Args)]
pub(crate) struct OfItems {
    #[command(flatten)]
    pub of: OfBank,
    /// The items; write `--` before one that begins with `-`
    // Checked by the command, because a complaint about the command line shows the value.
    #[arg(value_name = "ITEM", required_unless_present = "file", conflicts_with = "file")]
    pub items: Vec<String>,
    #[command(flatten)]
    pub file: OfFile,
}

/// Put items into a bank; those that it knows already are left as they are
///
/// The file is read as a stream and added in batches. A load that failed half-way is simply run again.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{FILES}\n\n{EXIT_CODES}"))]
pub(crate) struct Load {
    #[command(flatten)]
    pub of: OfBank,
    /// The items, such as voucher codes, one a line; `-` is standard input
    #[arg(value_name = "FILE")]
    pub items: PathBuf,
    /// Where to list the lines that could not be used [default: the name of FILE, without .csv, and .rejects.csv; for
    /// standard input storagebox.rejects.csv]
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// The first line is a header
    #[arg(long)]
    pub header: bool,
}

/// Take an item for an id; the same id gets the same item
///
/// Exit 1 if the bank is empty or the id's claim has ended. A claim that has ended takes nothing any more.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Take {
    #[command(flatten)]
    pub claim: OfClaim,
    /// Hold the item for so long, such as 30s, 15m, 2h or 7d, and free it then unless it is confirmed
    /// [default: until it is released]
    #[arg(long = "for", value_name = "DURATION", value_parser = hold)]
    pub hold: Option<Hold>,
}

/// Make an id's hold last from now on for as long as is said; it never becomes shorter
///
/// Exit 1 if the claim has ended, is confirmed, or took no item.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Extend {
    #[command(flatten)]
    pub claim: OfClaim,
    /// Hold the item for so long, such as 30s, 15m, 2h or 7d [default: until it is released]
    #[arg(long = "for", value_name = "DURATION", value_parser = hold)]
    pub hold: Option<Hold>,
}

/// List the items with their states: CSV with a header, or JSON
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct List {
    #[command(flatten)]
    pub of: OfBank,
    /// Stop after so many items
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

/// End the claims of a file of ids and free their items; exit 1 if some are spent and stay so
///
/// For work that was given up: the ids may be those that `bank list` shows as held. Each is ended as with `release`, and
/// takes nothing any more. Run again, it does no harm.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{FILES}\n\n{EXIT_CODES}"))]
pub(crate) struct Reclaim {
    #[command(flatten)]
    pub of: OfBank,
    /// The ids, one a line; `-` is standard input
    #[arg(value_name = "FILE")]
    pub ids: PathBuf,
    /// Where to list the lines that could not be used [default: the name of FILE, without .csv, and .rejects.csv; for
    /// standard input storagebox.rejects.csv]
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// The first line is a header
    #[arg(long)]
    pub header: bool,
}

/// Copy the ids of another bank, each with its item, and its free items; exit 3 if they are not the same afterwards
///
/// The way out of article 1's own tables, `--from dynamodb+articles://region/items/records`, and of any other store. An id
/// keeps its item: the item is put into this bank, which has no other free one at that moment, and taken for the id. So
/// stop everybody who takes from either bank, until the import ended with 0. What this bank holds already must be what
/// the other says, and no id may have ended here; otherwise nothing is written. At the end both banks are read again and
/// compared, and the ids that do not have the other's item are listed. Exit 1 if the other bank has nothing.
///
/// An import that ended half-way, however it did, is simply run again. Items that are held for a while, spent or
/// withdrawn there, or given to two ids, are left out and counted. It keeps both banks in memory, about 500 bytes an item.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Import {
    #[command(flatten)]
    pub of: OfBank,
    /// The store of the other bank; put a URL with a password into the environment
    #[arg(long, value_name = "URL", env = "STORAGEBOX_FROM_URL", hide_env_values = true)]
    pub from: String,
    /// The other bank; that of article 1's tables has the name of the items' table [default: the name of --bank]
    #[arg(long, value_name = "NAME", value_parser = box_name)]
    pub from_bank: Option<BoxName>,
}

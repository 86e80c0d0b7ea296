//! The arguments of `bank ...`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use storagebox::{BoxName, ClaimId, Hold};

use super::{EXIT_CODES, FILES, bank_name, claim_id};

#[derive(Debug, Subcommand)]
pub(crate) enum Bank {
    Load(Load),
    Take(Take),
    /// Make an id's hold permanent: its item is spent
    #[command(after_help = EXIT_CODES)]
    Confirm(OfClaim),
    /// End an id's claim for good and free its item; an id that took nothing never will
    #[command(after_help = EXIT_CODES)]
    Release(OfClaim),
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
}

impl Bank {
    /// The bank that it is about.
    pub(crate) fn of(&self) -> &OfBank {
        match self {
            Self::Load(args) => &args.of,
            Self::Take(args) => &args.claim.of,
            Self::Confirm(args) | Self::Release(args) | Self::Show(args) => &args.of,
            Self::Holder(args) => &args.of,
            Self::Counts(args) | Self::Audit(args) => args,
            Self::List(args) => &args.of,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct OfBank {
    /// The bank
    #[arg(long, value_name = "NAME", value_parser = bank_name)]
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
    /// Where to list the lines that could not be used [default: the name of FILE, ending in .rejects.csv; for
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

/// Why a text is no hold.
#[derive(Debug, thiserror::Error)]
enum NoHold {
    #[error("{0}; write it like 30s, 15m, 2h or 7d")]
    NoDuration(#[from] humantime::DurationError),
    #[error("{}", .0.message())]
    OutOfRange(#[from] storagebox::Error),
}

fn hold(text: &str) -> Result<Hold, NoHold> {
    Ok(Hold::For(humantime::parse_duration(text)?).checked()?)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn durations_are_written_as_people_do() {
        for (text, seconds) in [("30s", 30), ("15m", 900), ("2h", 7_200), ("7d", 604_800), ("1h 30m", 5_400)]
        {
            assert_eq!(hold(text).unwrap(), Hold::For(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(hold("1ms").unwrap(), Hold::For(Duration::from_millis(1)));
    }

    #[test]
    fn what_is_no_hold_is_refused() {
        for text in ["", "soon", "30", "-1s", "30 parsecs", "99999999999999999999s"] {
            let refused = hold(text).unwrap_err();
            assert!(matches!(refused, NoHold::NoDuration(_)), "{text}");
            assert!(refused.to_string().contains("30s, 15m, 2h or 7d"), "{refused}");
        }
        for text in ["0s", "999us", "101y"] {
            let refused = hold(text).unwrap_err();
            assert!(refused.to_string().contains("1 ms to 100 years"), "{text}: {refused}");
        }
    }
}

//! The arguments of `assign` and `recover`.

use clap::Args;
use storagebox::{BoxName, DedupId};

use super::dedup::dedup_id;
use super::{EXIT_CODES, box_name};

#[derive(Debug, Args)]
pub(crate) struct OfBanks {
    /// A bank to assign from, or several, tried in their order
    #[arg(long = "bank", value_name = "NAME", required = true, value_parser = box_name)]
    pub banks: Vec<BoxName>,
    /// The box of records that says who has what; nothing else may use it
    #[arg(long = "box", value_name = "NAME", default_value = "assignments", value_parser = box_name)]
    pub name: BoxName,
}

/// Assign an id one item in all, of the first bank that has one; the same id gets the same item
///
/// Of several banks an id has an item of one, however many callers ask at once and whichever banks they name first.
/// Name all banks that the ids of this box may have items of. Exit 1 if all that are named are empty.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Assign {
    #[command(flatten)]
    pub of: OfBanks,
    /// Who is to have the item, such as a customer; write `--` before one that begins with `-`
    #[arg(value_name = "ID", value_parser = dedup_id)]
    pub id: DedupId,
}

/// Finish the assignments that crashed callers left half-way
///
/// Each gets its item, or gives up because its bank is empty. Those who are at work are not disturbed.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Recover {
    #[command(flatten)]
    pub of: OfBanks,
}

//! The arguments of `assign` and `recover`.

use clap::Args;
use storagebox::values::{DedupId, Namespace};

use super::dedup::dedup_id;
use super::namespace::{OfNamespace, namespace};

const BANKS: &str = "\
NAMESPACE is that of the records which say which id has which item; nothing else may use it. Name all banks that its \
ids may have items of.";

#[derive(Debug, Args)]
pub(crate) struct OfBanks {
    /// Namespace of a bank; repeat the option for several banks
    #[arg(long = "bank", value_name = "BANK", required = true, value_parser = namespace)]
    pub banks: Vec<Namespace>,
}

/// Assign an item to an id, from the first of several banks that has a free one
#[derive(Debug, Args)]
#[command(after_help = format!("\
An id has at most one item, whichever banks its callers name first. The same id gets the same item. Exits with 1 if all \
banks are empty.\n\n{BANKS}"))]
pub(crate) struct Assign {
    #[command(flatten)]
    pub of: OfNamespace,
    /// Who gets the item, such as a customer
    #[arg(value_name = "ID", value_parser = dedup_id)]
    pub id: DedupId,
    #[command(flatten)]
    pub from: OfBanks,
}

/// Finish the assignments that crashed callers left incomplete
#[derive(Debug, Args)]
#[command(after_help = format!("\
Each id gets its item, or none if its bank is empty. Assignments in progress are not disturbed.\n\n{BANKS}"))]
pub(crate) struct Recover {
    #[command(flatten)]
    pub of: OfNamespace,
    #[command(flatten)]
    pub from: OfBanks,
}

//! The arguments of `lease ...`.

use std::time::Duration;

use clap::{Args, Subcommand};
use storagebox::{Fence, Fingerprint, Lease as Held, OpId, Retention};

use super::dedup::{OfRecord, OfRecords, fingerprint};
use super::duration::{lease, retention};
use super::value::Content;
use super::{EXIT_CODES, op_id};

/// With the result in its place; left alone, it would stand first.
const COMPLETE_USAGE: &str =
    "storagebox lease complete [OPTIONS] --op <OP> --fence <N> <ID> <VALUE|--file <FILE>>";

#[derive(Debug, Subcommand)]
pub(crate) enum Lease {
    Begin(Begin),
    Extend(ExtendLease),
    Complete(Complete),
    /// Give a lease back without a result, so that another operation can begin; exit 1 if it is not held any more
    #[command(after_help = EXIT_CODES)]
    Abort(OfLease),
}

impl Lease {
    /// The records that it is about.
    pub(crate) fn of(&self) -> &OfRecords {
        match self {
            Self::Begin(args) => &args.record.of,
            Self::Extend(args) => &args.lease.record.of,
            Self::Complete(args) => &args.lease.record.of,
            Self::Abort(args) => &args.record.of,
        }
    }
}

/// A lease as `lease begin` showed it.
#[derive(Debug, Args)]
pub(crate) struct OfLease {
    #[command(flatten)]
    pub record: OfRecord,
    /// Who began it
    #[arg(long, value_name = "OP", value_parser = op_id)]
    pub op: OpId,
    /// Its number, as `lease begin` showed it
    #[arg(long, value_name = "N")]
    pub fence: u64,
}

impl OfLease {
    pub(crate) fn held(&self) -> Held {
        Held { id: self.record.id.clone(), op: self.op.clone(), fence: Fence::new(self.fence) }
    }
}

/// Ask for the right to do what an id stands for; exit 1 if another has it
///
/// Of all who begin, one has the lease, until it completes, is given back, or lasts no longer. If it was done before, the
/// result is shown, with the exit code 0. For a whole command there is `dedup run`, which does all of this.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Begin {
    #[command(flatten)]
    pub record: OfRecord,
    /// Who begins, such as a worker's attempt: the same one for every retry, another one for every attempt
    #[arg(long, value_name = "OP", value_parser = op_id)]
    pub op: OpId,
    /// How long the lease lasts unless it is extended, such as 30s or 15m
    #[arg(long = "for", value_name = "DURATION", default_value = "30s", value_parser = lease)]
    pub duration: Duration,
    /// What must be the same for the same id, such as a hash of the request
    #[arg(long, value_name = "TEXT", value_parser = fingerprint)]
    pub fingerprint: Option<Fingerprint>,
}

/// Make a lease last from now on for as long as is said; exit 1 if it is not held any more
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ExtendLease {
    #[command(flatten)]
    pub lease: OfLease,
    /// How long the lease lasts from now on, such as 30s or 15m
    #[arg(long = "for", value_name = "DURATION", default_value = "30s", value_parser = lease)]
    pub duration: Duration,
}

/// Record the result and end the lease; exit 1 if it is not held any more
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, override_usage = COMPLETE_USAGE)]
pub(crate) struct Complete {
    #[command(flatten)]
    pub lease: OfLease,
    #[command(flatten)]
    pub content: Content,
    /// How long the result is remembered, such as 15m, 2h or 7d, or `forever`
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = retention)]
    pub keep: Retention,
}

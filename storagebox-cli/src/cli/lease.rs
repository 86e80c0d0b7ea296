//! The arguments of the steps of `dedup run`.

use std::time::Duration;

use clap::{Args, Subcommand};
use storagebox::{Fence, Fingerprint, Lease as Held, OpId, Retention};

use super::dedup::{OfRecord, fingerprint};
use super::duration::{lease, retention};
use super::namespace::OfNamespace;
use super::op_id;
use super::value::Content;

/// The usage with the result as the last argument. clap would put the result first.
const COMPLETE_USAGE: &str =
    "storagebox dedup complete [OPTIONS] --op <OP> --fence <N> <NAMESPACE> <ID> <VALUE|--file>";

#[derive(Debug, Subcommand)]
pub(crate) enum Lease {
    Begin(Begin),
    Extend(ExtendLease),
    Complete(Complete),
    /// End a lease without a result, so that another operation can begin
    #[command(after_help = "Exits with 1 if the lease is not held any more.")]
    Abort(OfLease),
}

impl Lease {
    /// Returns the namespace of the records that the leases belong to.
    pub(crate) fn of(&self) -> &OfNamespace {
        match self {
            Self::Begin(args) => &args.record.of,
            Self::Extend(args) => &args.lease.record.of,
            Self::Complete(args) => &args.lease.record.of,
            Self::Abort(args) => &args.record.of,
        }
    }
}

/// A lease as `dedup begin` showed it.
#[derive(Debug, Args)]
pub(crate) struct OfLease {
    #[command(flatten)]
    pub record: OfRecord,
    /// Id of the operation that began the lease
    #[arg(long, value_name = "OP", value_parser = op_id)]
    pub op: OpId,
    /// Fence of the lease, as `dedup begin` showed it
    #[arg(long, value_name = "N")]
    pub fence: u64,
}

impl OfLease {
    pub(crate) fn held(&self) -> Held {
        Held { id: self.record.id.clone(), op: self.op.clone(), fence: Fence::new(self.fence) }
    }
}

/// Begin a lease: the right to do the work of an id, which one operation at a time has
#[derive(Debug, Args)]
#[command(after_help = "\
Of all operations that begin, one gets the lease, until it completes or aborts the lease, or the lease expires. If the \
work is done already, the result is shown. Exits with 1 if another operation has the lease. `dedup run` does all of this \
for a command.")]
pub(crate) struct Begin {
    #[command(flatten)]
    pub record: OfRecord,
    /// Id of the operation, such as a worker's attempt; the same for every retry, another one for every attempt
    #[arg(long, value_name = "OP", value_parser = op_id)]
    pub op: OpId,
    /// How long the lease lasts unless it is extended, such as 30s or 15m
    #[arg(long = "for", value_name = "DURATION", default_value = "30s", value_parser = lease)]
    pub duration: Duration,
    /// What must be the same for the same id, such as a hash of the request
    #[arg(long, value_name = "TEXT", value_parser = fingerprint)]
    pub fingerprint: Option<Fingerprint>,
}

/// Extend a lease from now on
#[derive(Debug, Args)]
#[command(after_help = "Exits with 1 if the lease is not held any more.")]
pub(crate) struct ExtendLease {
    #[command(flatten)]
    pub lease: OfLease,
    /// How long the lease lasts from now on, such as 30s or 15m
    #[arg(long = "for", value_name = "DURATION", default_value = "30s", value_parser = lease)]
    pub duration: Duration,
}

/// Record the result of the work, and end the lease
#[derive(Debug, Args)]
#[command(after_help = "Exits with 1 if the lease is not held any more.", override_usage = COMPLETE_USAGE)]
pub(crate) struct Complete {
    #[command(flatten)]
    pub lease: OfLease,
    #[command(flatten)]
    pub content: Content,
    /// How long to keep the result, such as 15m, 2h or 7d, or `forever`
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = retention)]
    pub keep: Retention,
}

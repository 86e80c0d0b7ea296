//! The arguments of `dedup ...`.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, Subcommand};
use storagebox::values::DedupId;
use storagebox::{Error, Fingerprint, OpId, Retention};

use super::duration::{any, lease, retention};
use super::file::OfOutput;
use super::lease::Lease;
use super::namespace::OfNamespace;
use super::op_id;
use super::value::{Content, without_line_end};

const RUN: &str = "\
Of all callers with the same id, one runs the command. The others wait for it, print the same output, and exit with the \
same code. Later callers do so at once, for as long as the record is kept. Another command line with the same id is \
refused.

Exit codes:
  0-255     Exit code of the command, of this run or of the recorded one
  2         Usage error
  122       A signal ended this call before it ran the command
  123       A signal ended the command, and nothing is recorded
  124       Another caller runs the command, and --wait is over
  125       The store failed, or there is no output to print; standard error says why
  126, 127  The command cannot be run; there is no such command";

/// The usage with the value as the last argument. clap would put the value first.
const RECORD_USAGE: &str = "storagebox dedup record [OPTIONS] --op <OP> <NAMESPACE> <ID> <VALUE|--file>";

const REPLACE_USAGE: &str =
    "storagebox dedup replace [OPTIONS] --version <N> --op <OP> <NAMESPACE> <ID> <VALUE|--file>";

#[derive(Debug, Subcommand)]
pub(crate) enum Dedup {
    Run(Run),
    #[command(flatten)]
    Lease(Lease),
    #[command(flatten)]
    Records(Records),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Records {
    Record(Record),
    Get(GetRecord),
    Replace(Replace),
    List(ListRecords),
    Forget(Forget),
}

impl Records {
    /// Returns the namespace of the records.
    pub(crate) fn of(&self) -> &OfNamespace {
        match self {
            Self::List(args) => &args.of,
            Self::Record(Record { record, .. })
            | Self::Get(GetRecord { record, .. })
            | Self::Replace(Replace { record, .. })
            | Self::Forget(Forget { record, .. }) => &record.of,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct OfRecord {
    #[command(flatten)]
    pub of: OfNamespace,
    /// What the record is about, such as a message or a job
    #[arg(value_name = "ID", value_parser = dedup_id)]
    pub id: DedupId,
}

/// Record a value for an id, unless there is one
#[derive(Debug, Args)]
#[command(
    after_help = "\
The first operation that records an id wins, and the others are shown its value. A retry of the first, known by its --op, \
succeeds. Exits with 1 if another operation was first.",
    override_usage = RECORD_USAGE
)]
pub(crate) struct Record {
    #[command(flatten)]
    pub record: OfRecord,
    #[command(flatten)]
    pub content: Content,
    /// Id of the operation, such as a request; the same for every retry
    #[arg(long, value_name = "OP", value_parser = op_id)]
    pub op: OpId,
    /// How long to keep the record, such as 15m, 2h or 7d, or `forever`
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = retention)]
    pub keep: Retention,
}

/// Show the record of an id
#[derive(Debug, Args)]
#[command(after_help = "\
A record of `dedup run` is shown as the command's output and exit code. Exits with 1 if there is no record.")]
pub(crate) struct GetRecord {
    #[command(flatten)]
    pub record: OfRecord,
    #[command(flatten)]
    pub output: OfOutput,
}

/// Replace the value of a record, if the record still has a given version
#[derive(Debug, Args)]
#[command(
    after_help = "\
How long the record is kept does not change. A retry of the same operation succeeds. Exits with 1 if the record has \
another version or does not exist.",
    override_usage = REPLACE_USAGE
)]
pub(crate) struct Replace {
    #[command(flatten)]
    pub record: OfRecord,
    #[command(flatten)]
    pub content: Content,
    /// Version to replace, as `dedup get` shows it
    #[arg(long, value_name = "N")]
    pub version: u64,
    /// Id of the operation, such as a request; the same for every retry
    #[arg(long, value_name = "OP", value_parser = op_id)]
    pub op: OpId,
}

/// List the records: CSV with a header, or JSON
#[derive(Debug, Args)]
pub(crate) struct ListRecords {
    #[command(flatten)]
    pub of: OfNamespace,
    /// Stop after N records
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

/// Delete the record of an id, so that the id can be used again
#[derive(Debug, Args)]
#[command(after_help = "Exits with 1 if there is no record, or the record has another version.")]
pub(crate) struct Forget {
    #[command(flatten)]
    pub record: OfRecord,
    /// Delete the record only if it has version N [default: its current version]
    #[arg(long, value_name = "N")]
    pub version: Option<u64>,
}

/// Run a command once for an id; all other callers get its output and exit code
#[derive(Debug, Args)]
#[command(after_help = RUN)]
pub(crate) struct Run {
    #[command(flatten)]
    pub of: OfNamespace,
    /// What the run is about, such as a day's backup
    #[arg(value_name = "ID", value_parser = dedup_id)]
    pub id: DedupId,
    /// How long to keep the result, such as 15m, 2h or 7d, or `forever`
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = retention)]
    pub keep: Retention,
    /// How long others wait for a runner that died; a live one may take any time
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = lease)]
    pub lease: Duration,
    /// How long to wait for another caller's run [default: until it ends]
    #[arg(long, value_name = "DURATION", value_parser = any)]
    pub wait: Option<Duration>,
    /// Do not record a run that fails: the next caller runs the command again
    #[arg(long)]
    pub retry_failures: bool,
    /// What must be the same for the same id, instead of the command line
    #[arg(long, value_name = "TEXT", value_parser = fingerprint)]
    pub fingerprint: Option<Fingerprint>,
    /// Pass STORAGEBOX_URL on to the command; what the command writes is recorded, also a password
    #[arg(long)]
    pub pass_url: bool,
    /// Whether the store has a URL, from the command line or the environment.
    #[arg(skip)]
    pub has_url: bool,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

pub(super) fn dedup_id(text: &str) -> Result<DedupId, Error> {
    DedupId::new(without_line_end(text)?)
}

pub(super) fn fingerprint(text: &str) -> Result<Fingerprint, Error> {
    Fingerprint::new(text)
}

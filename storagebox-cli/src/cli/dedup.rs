//! The arguments of `dedup ...`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use storagebox::{BoxName, DedupId, Error, Fingerprint, OpId, Retention};

use super::duration::{any, lease, retention};
use super::value::Content;
use super::{EXIT_CODES, box_name, op_id};

const RUN_EXIT_CODES: &str = "\
Exit codes:
  The command's own, of this run or of the recorded one; 128 and the signal's
  number if a signal ended it.
  Those of storagebox, which then says why on standard error:
  2    bad usage
  124  another is running it, and --wait ran out
  125  the store failed, there is nothing to replay, or the output could not be
       written
  126  the command is there and cannot be run
  127  there is no such command
  130  interrupted";

const RUN_MORE: &str = "\
The record:
  It keeps what the command wrote and how it ended, byte for byte, up to 256
  KiB together. A command that writes more is run once all the same; later
  callers then get the exit code 125 in place of the output. Every end is
  recorded, whatever the exit code, unless --retry-failures is given.

  The same id with another command line is refused, so that nobody gets the
  output of something else; --fingerprint names what is to be the same
  instead. Standard input goes to the command where it runs. A run has ended
  when the command has, and all that it started has closed the output.

A runner that dies:
  While the command runs, its lease is extended every third of --lease. If
  this process dies, the lease runs out, and one of those who wait runs the
  command again and says so; what the dead one had started may still be at
  work then. The command finds the number of its run in STORAGEBOX_FENCE,
  which is greater in each later run of the id, for whatever must refuse an
  older one, and its id in STORAGEBOX_ID.

The environment:
  The command has that of storagebox, but for STORAGEBOX_URL, which may hold a
  password: what a command writes is recorded for everybody who asks. With
  --pass-url it is left there. A storagebox in the command that is given no
  URL refuses to guess one. Other keys and passwords, such as PGPASSWORD and
  those of AWS, stay, because they may be the command's own.

Signals:
  Ctrl-C and SIGTERM are handed on to the command, and a second one kills it.
  If it then ends with 0, that is recorded; otherwise nothing is, and the same
  command line runs it again. Once the command has ended, the first signal
  gives up output that something else holds open. Whoever waits for another's
  run just ends.";

/// With the value in its place; left alone, it would stand first.
const RECORD_USAGE: &str = "storagebox dedup record [OPTIONS] --op <OP> <ID> <VALUE|--file <FILE>>";

const REPLACE_USAGE: &str =
    "storagebox dedup replace [OPTIONS] --version <N> --op <OP> <ID> <VALUE|--file <FILE>>";

#[derive(Debug, Subcommand)]
pub(crate) enum Dedup {
    #[command(flatten)]
    Records(Records),
    Run(Run),
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
    /// The records that it is about.
    pub(crate) fn of(&self) -> &OfRecords {
        match self {
            Self::Record(args) => &args.record.of,
            Self::Get(args) => &args.record.of,
            Self::Replace(args) => &args.record.of,
            Self::List(args) => &args.of,
            Self::Forget(args) => &args.record.of,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct OfRecords {
    /// The box of records
    #[arg(long = "box", value_name = "NAME", default_value = "records", value_parser = box_name)]
    pub name: BoxName,
}

#[derive(Debug, Args)]
pub(crate) struct OfRecord {
    #[command(flatten)]
    pub of: OfRecords,
    /// What the record is for, such as a message or a job; write `--` before one that begins with `-`
    #[arg(value_name = "ID", value_parser = dedup_id)]
    pub id: DedupId,
}

/// Record a value for an id, unless there is one; exit 1 if another was first
///
/// Of all who record one id, the first wins and the others are shown its value. The winner's own retry, known by its
/// --op, is told so.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, override_usage = RECORD_USAGE)]
pub(crate) struct Record {
    #[command(flatten)]
    pub record: OfRecord,
    #[command(flatten)]
    pub content: Content,
    /// Who records, such as a request: the same one for every retry
    #[arg(long, value_name = "OP", value_parser = op_id)]
    pub op: OpId,
    /// How long it is remembered, such as 15m, 2h or 7d, or `forever`
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = retention)]
    pub keep: Retention,
}

/// Show what is recorded for an id; exit 1 if nothing is
///
/// A record of `dedup run` is shown as the command's output and exit code.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct GetRecord {
    #[command(flatten)]
    pub record: OfRecord,
    /// Write the record's bytes into this file, as they are; `-` is standard output, and then nothing else is
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Replace the value that is recorded for an id, if the record still has the version that was seen; exit 1 if not
///
/// How long the record is kept does not change. The retry of the same operation is told so.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, override_usage = REPLACE_USAGE)]
pub(crate) struct Replace {
    #[command(flatten)]
    pub record: OfRecord,
    #[command(flatten)]
    pub content: Content,
    /// The version that the value is to replace, as `dedup get` shows it
    #[arg(long, value_name = "N")]
    pub version: u64,
    /// Who replaces, such as a request: the same one for every retry
    #[arg(long, value_name = "OP", value_parser = op_id)]
    pub op: OpId,
}

/// List the records: CSV with a header, or JSON
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ListRecords {
    #[command(flatten)]
    pub of: OfRecords,
    /// Stop after so many records
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

/// Remove the record of an id, so that the id may be used anew, and its command run again; exit 1 if there is none
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Forget {
    #[command(flatten)]
    pub record: OfRecord,
    /// Only if the record still has this version [default: the one that it has now]
    #[arg(long, value_name = "N")]
    pub version: Option<u64>,
}

/// Run a command once for an id; give everybody else what it wrote, and its exit code
///
/// Of all callers with one id, however many at once, one runs the command; the others wait for it and print the same.
/// Later ones print it at once, for as long as it is kept.
#[derive(Debug, Args)]
#[command(after_help = RUN_EXIT_CODES, after_long_help = format!("{RUN_MORE}\n\n{RUN_EXIT_CODES}"))]
pub(crate) struct Run {
    #[command(flatten)]
    pub of: OfRecords,
    /// What the run is for, such as a day's backup
    #[arg(long, value_name = "ID", value_parser = dedup_id)]
    pub id: DedupId,
    /// How long the result is remembered, such as 15m, 2h or 7d, or `forever`
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = retention)]
    pub keep: Retention,
    /// How long a runner that died keeps the others waiting; a living one may take any time
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = lease)]
    pub lease: Duration,
    /// How long to wait for another's run [default: until it has ended]
    #[arg(long, value_name = "DURATION", value_parser = any)]
    pub wait: Option<Duration>,
    /// Do not record an end with another exit code than 0: whoever comes next runs the command again
    #[arg(long)]
    pub retry_failures: bool,
    /// What must be the same for the same id, in place of the command line
    #[arg(long, value_name = "TEXT", value_parser = fingerprint)]
    pub fingerprint: Option<Fingerprint>,
    /// Leave STORAGEBOX_URL in the command's environment, for a storagebox in it. What the command shows of its
    /// environment is recorded, with the password of the URL
    #[arg(long)]
    pub pass_url: bool,
    /// Whether the store has a name, given here or by the environment.
    #[arg(skip)]
    pub has_url: bool,
    /// The command and its arguments, after `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

pub(super) fn dedup_id(text: &str) -> Result<DedupId, Error> {
    DedupId::new(text)
}

pub(super) fn fingerprint(text: &str) -> Result<Fingerprint, Error> {
    Fingerprint::new(text)
}

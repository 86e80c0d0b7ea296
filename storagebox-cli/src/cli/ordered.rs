//! The arguments of `ordered ...`.

use std::ops::RangeInclusive;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use storagebox::ordered::{OrderedOptions, Stamping, WriterId};
use storagebox::values::Key;
use storagebox::{Error, Stamp};

use super::duration::{NoDuration, any};
use super::file::OfOutput;
use super::key;
use super::namespace::OfNamespace;
use super::time::{At, at};
use super::value::{Content, without_line_end};

/// The usage with the value as the last argument. clap would put the value first.
const PUT_USAGE: &str = "storagebox ordered put [OPTIONS] --at <STAMP> --writer <ID> <NAMESPACE> <KEY> <VALUE|--file>";

/// The accepted range of a time in milliseconds since 1970: the years 1973 to 2286.
const MILLIS: RangeInclusive<i64> = 100_000_000_000..=9_999_999_999_999;

const NO_MILLIS: &str = "is no count of milliseconds since 1970, which has 12 or 13 digits; write the time out, as in \
     2024-07-23T21:11:00.000Z, or give --stamps sequence if it is a number of your own";

const OPTIONS: &str = "\
A namespace keeps the --stamps and --tombstone-age of its first use; give the same ones to each command.";

#[derive(Debug, Subcommand)]
pub(crate) enum Ordered {
    Put(Put),
    Delete(Delete),
    Get(GetValue),
    List(ListValues),
    Reset(ResetKey),
    Purge(Purge),
}

impl Ordered {
    /// Returns the namespace of the values, and its options.
    pub(crate) fn of(&self) -> &OfValues {
        match self {
            Self::Put(args) => &args.key.of,
            Self::Delete(args) => &args.key.of,
            Self::Get(args) => &args.key.of,
            Self::List(args) => &args.of,
            Self::Reset(args) => &args.key.of,
            Self::Purge(args) => &args.of,
        }
    }
}

/// Options that are the same for all commands on a namespace.
#[derive(Debug, Args)]
pub(crate) struct OfValues {
    #[command(flatten)]
    pub namespace: OfNamespace,
    /// What stamps are: milliseconds since 1970, or the writers' own sequence numbers
    #[arg(long, value_enum, default_value_t = Stamps::Time)]
    pub stamps: Stamps,
    /// How far the time of this write may be ahead of the store's clock, or `none` for no limit [default: 1d]
    #[arg(long, value_name = "DURATION", value_parser = skew)]
    pub max_skew: Option<Skew>,
    /// How long a delete is remembered; writes with an older time are refused
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = any)]
    pub tombstone_age: Duration,
}

/// How far a time may be ahead of the store's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Skew {
    AtMost(Duration),
    NoLimit,
}

fn skew(text: &str) -> Result<Skew, NoDuration> {
    if text == "none" { Ok(Skew::NoLimit) } else { any(text).map(Skew::AtMost) }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stamps {
    Time,
    Sequence,
}

impl OfValues {
    pub(crate) fn options(&self) -> Result<OrderedOptions, Error> {
        let stamping = match (self.stamps, self.max_skew) {
            (Stamps::Time, None) => OrderedOptions::time().stamping,
            (Stamps::Time, Some(Skew::NoLimit)) => Stamping::Time { max_skew: None },
            (Stamps::Time, Some(Skew::AtMost(skew))) => Stamping::Time { max_skew: Some(skew) },
            (Stamps::Sequence, None) => Stamping::Sequence,
            (Stamps::Sequence, Some(_)) => {
                return Err(Error::invalid("--max-skew", "is for times; leave it out with `--stamps sequence`"));
            }
        };
        OrderedOptions { stamping, tombstone_age: self.tombstone_age }.checked()
    }
}

#[derive(Debug, Args)]
pub(crate) struct OfKey {
    #[command(flatten)]
    pub of: OfValues,
    /// Key of the value
    #[arg(value_name = "KEY", value_parser = key)]
    pub key: Key,
}

#[derive(Debug, Args)]
pub(crate) struct OfWrite {
    /// Time of the write: milliseconds since 1970, as `date +%s%3N` prints them, or written out with its zone, as in
    /// 2024-07-23T21:11:00.000Z; with `--stamps sequence` its number; the same for every retry
    #[arg(long, value_name = "STAMP", value_parser = at, allow_negative_numbers = true)]
    pub at: At,
    /// Id of the writer; it decides between equal stamps
    #[arg(long, value_name = "ID", value_parser = writer)]
    pub writer: WriterId,
}

impl OfWrite {
    /// Returns the stamp of a new write. If stamps are times, refuses a number that is not a plausible time in
    /// milliseconds.
    pub(crate) fn stamp(&self, of: &OfValues) -> Result<Stamp, Error> {
        match (self.at, of.stamps) {
            (At::Number(number), Stamps::Time) if !MILLIS.contains(&number) => Err(Error::invalid("--at", NO_MILLIS)),
            _ => Ok(self.that_stands()),
        }
    }

    /// Returns the stamp as the user gave it, without checking that its number is a plausible time.
    pub(crate) fn that_stands(&self) -> Stamp {
        let (At::Number(at) | At::Time(at)) = self.at;
        Stamp::new(at, self.writer.clone())
    }
}

/// Write a value, unless a newer write is there
#[derive(Debug, Args)]
#[command(
    after_help = format!("\
Exits with 1 if a newer write is there, or the time is too old: further behind the store's clock than --tombstone-age, so \
that a newer delete may be forgotten. Load old values into a namespace with a longer one, such as 36500d.\n\n{OPTIONS}"),
    override_usage = PUT_USAGE
)]
pub(crate) struct Put {
    #[command(flatten)]
    pub key: OfKey,
    #[command(flatten)]
    pub content: Content,
    #[command(flatten)]
    pub write: OfWrite,
}

/// Delete a value, unless a newer write is there
#[derive(Debug, Args)]
#[command(after_help = format!("Exits with 1 if a newer write is there, or the time is too old.\n\n{OPTIONS}"))]
pub(crate) struct Delete {
    #[command(flatten)]
    pub key: OfKey,
    #[command(flatten)]
    pub write: OfWrite,
}

/// Show a value with the stamp of its last write
#[derive(Debug, Args)]
#[command(after_help = format!("Exits with 1 if there is no value.\n\n{OPTIONS}"))]
pub(crate) struct GetValue {
    #[command(flatten)]
    pub key: OfKey,
    #[command(flatten)]
    pub output: OfOutput,
}

/// List the values with their stamps, in no order: CSV with a header, or JSON
#[derive(Debug, Args)]
#[command(after_help = OPTIONS)]
pub(crate) struct ListValues {
    #[command(flatten)]
    pub of: OfValues,
    /// List only keys that begin with TEXT
    #[arg(long, value_name = "TEXT")]
    pub prefix: Option<String>,
    /// Stop after N values
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

/// Free a key whose stamp is too far ahead and refuses every later write, by naming exactly that stamp
#[derive(Debug, Args)]
#[command(after_help = format!("\
The stamp is in the answer `stale` to a write that it refuses. If the key has another stamp, nothing changes, the answer is \
`stale` with that stamp, and the exit code is 1. The value or the delete is removed, and the key refuses no write any more: a \
write that is older than both may come in again. Save the value with `get --out` first, then put it with a right stamp at \
once.\n\n{OPTIONS}"))]
pub(crate) struct ResetKey {
    #[command(flatten)]
    pub key: OfKey,
    #[command(flatten)]
    pub stamp: OfWrite,
}

/// Forget old deletes, in batches
#[derive(Debug, Args)]
#[command(after_help = format!("\
With times no delete is forgotten before --tombstone-age, and older writes cannot bring a key back. With `--stamps \
sequence` deletes are remembered until this command, so make sure that no older write is in progress.\n\n{OPTIONS}"))]
pub(crate) struct Purge {
    #[command(flatten)]
    pub of: OfValues,
    /// Minimum age of the deletes to forget
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = any)]
    pub older_than: Duration,
}

fn writer(text: &str) -> Result<WriterId, Error> {
    WriterId::new(without_line_end(text)?)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn stamp(args: &[&str]) -> Result<i64, String> {
        let all = [&["storagebox", "ordered", "delete", "n", "k", "--writer", "w", "--at"], args].concat();
        match Cli::parse_from(all).command {
            Command::Ordered(Ordered::Delete(Delete { key, write })) => {
                write.stamp(&key.of).map(|stamp| stamp.at).map_err(|error| error.message().to_owned())
            }
            other => panic!("{other:?}"),
        }
    }

    /// A time in seconds or microseconds has another number of digits than a time in milliseconds.
    #[test]
    fn a_time_that_is_not_in_milliseconds_is_refused() {
        for millis in ["1721769060000", "100000000000", "9999999999999"] {
            assert_eq!(stamp(&[millis]), Ok(millis.parse().unwrap()));
        }
        for other in
            ["1721769060", "1721769060000000", "1721769060000000000", "45496", "20240723", "20240723211100", "0", "-7"]
        {
            let told = stamp(&[other]).unwrap_err();
            assert!(told.contains("12 or 13 digits"), "{told}");
            assert_eq!(stamp(&[other, "--stamps", "sequence"]), Ok(other.parse().unwrap()));
        }
        assert_eq!(stamp(&["1970-01-01T00:00:01.5Z"]), Ok(1_500));
    }
}

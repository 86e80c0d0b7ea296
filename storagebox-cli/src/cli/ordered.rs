//! The arguments of `ordered ...`.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand, ValueEnum};
use storagebox::{Error, Key, OrderedOptions, Stamp, Stamping, WriterId};

use super::duration::any;
use super::key;
use super::namespace::OfNamespace;
use super::value::Content;

/// With the value in its place; left alone, it would stand first.
const PUT_USAGE: &str = "storagebox ordered put [OPTIONS] --at <STAMP> --writer <ID> <NAMESPACE> <KEY> <VALUE|--file>";

const OPTIONS: &str = "\
A namespace keeps the --stamps, --max-skew and --tombstone-age of its first use; give the same ones to each command.";

#[derive(Debug, Subcommand)]
pub(crate) enum Ordered {
    Put(Put),
    Delete(Delete),
    Get(GetValue),
    List(ListValues),
    Purge(Purge),
}

impl Ordered {
    /// The namespace of the values, and its options.
    pub(crate) fn of(&self) -> &OfValues {
        match self {
            Self::Put(args) => &args.key.of,
            Self::Delete(args) => &args.key.of,
            Self::Get(args) => &args.key.of,
            Self::List(args) => &args.of,
            Self::Purge(args) => &args.of,
        }
    }
}

/// A namespace is opened as it was created, so these are the same for all commands on it.
#[derive(Debug, Args)]
pub(crate) struct OfValues {
    #[command(flatten)]
    pub namespace: OfNamespace,
    /// What stamps are: milliseconds since 1970, or the writers' own sequence numbers
    #[arg(long, value_enum, default_value_t = Stamps::Time)]
    pub stamps: Stamps,
    /// How far a time may be ahead of the store's clock [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = any)]
    pub max_skew: Option<Duration>,
    /// How long a delete is remembered; writes with an older time are refused
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = any)]
    pub tombstone_age: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stamps {
    Time,
    Sequence,
}

impl OfValues {
    /// How the namespace is opened.
    pub(crate) fn options(&self) -> Result<OrderedOptions, Error> {
        let stamping = match (self.stamps, self.max_skew) {
            (Stamps::Time, max_skew) => Stamping::Time { max_skew },
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
    /// Time of the write, as `date -u +%FT%TZ` prints it or in milliseconds since 1970; with `--stamps sequence` its
    /// number; the same for every retry
    #[arg(long, value_name = "STAMP", value_parser = at, allow_negative_numbers = true)]
    pub at: i64,
    /// Id of the writer; it decides between equal stamps
    #[arg(long, value_name = "ID", value_parser = writer)]
    pub writer: WriterId,
}

impl OfWrite {
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp::new(self.at, self.writer.clone())
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
    /// Write nothing but the bytes of the value, to FILE; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// List the values with their stamps, in no order: CSV with a header, or JSON
#[derive(Debug, Args)]
#[command(after_help = OPTIONS)]
pub(crate) struct ListValues {
    #[command(flatten)]
    pub of: OfValues,
    /// List only keys that begin with TEXT
    #[arg(long, value_name = "TEXT", value_parser = key)]
    pub prefix: Option<Key>,
    /// Stop after N values
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
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

/// Why a text is no stamp.
#[derive(Debug, thiserror::Error)]
#[error("{0}; write it as `date -u +%FT%TZ` does, or as a whole number")]
struct NoStamp(#[from] humantime::TimestampError);

fn at(text: &str) -> Result<i64, NoStamp> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let time = humantime::parse_rfc3339_weak(text)?;
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn writer(text: &str) -> Result<WriterId, Error> {
    WriterId::new(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_a_time_or_a_number() {
        assert_eq!(at("1970-01-01T00:00:01.5Z").unwrap(), 1_500);
        assert_eq!(at("-7").unwrap(), -7);
        for text in ["", "soon", "1.5", "99999999999999999999", "2026-02-30T00:00:00Z"] {
            assert!(at(text).unwrap_err().to_string().contains("date -u +%FT%TZ"), "{text}");
        }
    }
}

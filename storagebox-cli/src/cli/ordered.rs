//! The arguments of `ordered ...`.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand, ValueEnum};
use storagebox::{BoxName, Error, Key, OrderedOptions, Stamp, Stamping, WriterId};

use super::duration::any;
use super::value::Content;
use super::{EXIT_CODES, box_name, key};

/// With the value in its place; left alone, it would stand first.
const PUT_USAGE: &str =
    "storagebox ordered put [OPTIONS] --at <STAMP> --writer <NAME> <KEY> <VALUE|--file <FILE>>";

#[derive(Debug, Subcommand)]
pub(crate) enum Ordered {
    Put(Put),
    Delete(Delete),
    Get(GetValue),
    List(ListValues),
    Purge(Purge),
}

impl Ordered {
    /// The values that it is about.
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

/// A box is opened as it was created, so these are the same for all commands on it.
#[derive(Debug, Args)]
pub(crate) struct OfValues {
    /// The box of values
    #[arg(long = "box", value_name = "NAME", default_value = "values", value_parser = box_name)]
    pub name: BoxName,
    /// What the stamps of the box are; kept with it from its first use
    #[arg(long, value_enum, default_value_t = Stamps::Time)]
    pub stamps: Stamps,
    /// How far a time may be ahead of the store's clock; kept with the box [default: as far as it likes]
    #[arg(long, value_name = "DURATION", value_parser = any)]
    pub max_skew: Option<Duration>,
    /// How long the memory of a delete is kept at least; older times are refused, so old values need a box with more;
    /// kept with the box from its first use
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = any)]
    pub tombstone_age: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stamps {
    /// Times, in milliseconds since 1970
    Time,
    /// Numbers that the writers count; no clock is asked
    Sequence,
}

impl OfValues {
    /// How the box is opened.
    pub(crate) fn options(&self) -> Result<OrderedOptions, Error> {
        let stamping = match (self.stamps, self.max_skew) {
            (Stamps::Time, max_skew) => Stamping::Time { max_skew },
            (Stamps::Sequence, None) => Stamping::Sequence,
            (Stamps::Sequence, Some(_)) => {
                return Err(Error::invalid(
                    "--max-skew",
                    "is for times; leave it out with `--stamps sequence`",
                ));
            }
        };
        OrderedOptions { stamping, tombstone_age: self.tombstone_age }.checked()
    }
}

#[derive(Debug, Args)]
pub(crate) struct OfKey {
    #[command(flatten)]
    pub of: OfValues,
    /// The key; write `--` before one that begins with `-`
    #[arg(value_name = "KEY", value_parser = key)]
    pub key: Key,
}

#[derive(Debug, Args)]
pub(crate) struct OfWrite {
    /// When the write counts as made: a time as `date -u +%FT%TZ` writes it, or milliseconds since 1970; with
    /// `--stamps sequence` the writer's own number. The same one for every retry
    #[arg(long, value_name = "STAMP", value_parser = at, allow_negative_numbers = true)]
    pub at: i64,
    /// Who writes; it settles equal times
    #[arg(long, value_name = "NAME", value_parser = writer)]
    pub writer: WriterId,
}

impl OfWrite {
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp::new(self.at, self.writer.clone())
    }
}

/// Write a value, unless a newer write is there; exit 1 if so
///
/// A time that is further behind the store's clock than the box's --tombstone-age is refused as `too_old`, because a newer
/// delete may be forgotten by then. Old values go into a box that is given a longer one, such as 36500d, on each command;
/// what is deleted there is remembered as long.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, override_usage = PUT_USAGE)]
pub(crate) struct Put {
    #[command(flatten)]
    pub key: OfKey,
    #[command(flatten)]
    pub content: Content,
    #[command(flatten)]
    pub write: OfWrite,
}

/// Delete a value, unless a newer write is there; exit 1 if so
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Delete {
    #[command(flatten)]
    pub key: OfKey,
    #[command(flatten)]
    pub write: OfWrite,
}

/// Show a value with the stamp of its last write; exit 1 if there is none
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct GetValue {
    #[command(flatten)]
    pub key: OfKey,
    /// Write the value into this file, as it is; `-` is standard output, and then nothing else is
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// List the values with their stamps, in no order: CSV with a header, or JSON
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ListValues {
    #[command(flatten)]
    pub of: OfValues,
    /// Only keys that begin so
    #[arg(long, value_name = "TEXT", value_parser = key)]
    pub prefix: Option<Key>,
    /// Stop after so many values
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

/// Forget old deletes, a thousand at a time
///
/// Under times none goes before the box's --tombstone-age, whatever is asked for, and older writes cannot bring a key
/// back. Under `--stamps sequence` deletes are remembered until this command: you vouch that no older write is still
/// under way.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Purge {
    #[command(flatten)]
    pub of: OfValues,
    /// Those that arrived at least so long ago
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

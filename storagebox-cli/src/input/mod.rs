//! Input files: the checked first column of a CSV with line numbers, read as a stream. `format` decides which input is
//! accepted.

mod format;
mod lines;
mod records;
mod scan;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use storagebox::Error;
use storagebox::values::{ClaimId, Item, MAX_ID_BYTES, MAX_ITEM_BYTES, TokenId};

pub(crate) use format::{Foreign, is_meant};
pub(crate) use lines::Lines;
use records::Unreadable;
use scan::Fault;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    StandardInput,
    File(PathBuf),
}

impl Source {
    pub(crate) fn named(path: &Path) -> Self {
        match path.to_str() {
            Some("-") => Self::StandardInput,
            _ => Self::File(path.to_owned()),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::StandardInput => Path::new("/dev/stdin"),
            Self::File(path) => path,
        }
    }

    pub(crate) fn open(&self) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
        match self {
            Self::StandardInput => Ok((Box::new(io::stdin()), None)),
            Self::File(path) => {
                let file = File::open(path)?;
                let about = file.metadata()?;
                Ok((Box::new(file), about.is_file().then_some(about.len())))
            }
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StandardInput => f.write_str("standard input"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// A value that a line of a file may hold.
pub(crate) trait Value: Sized {
    const MAX_BYTES: usize;

    fn from_text(text: &str) -> Result<Self, Error>;
}

impl Value for Item {
    const MAX_BYTES: usize = MAX_ITEM_BYTES;

    fn from_text(text: &str) -> Result<Self, Error> {
        Self::new(text)
    }
}

impl Value for TokenId {
    const MAX_BYTES: usize = MAX_ID_BYTES;

    fn from_text(text: &str) -> Result<Self, Error> {
        Self::new(text)
    }
}

impl Value for ClaimId {
    const MAX_BYTES: usize = MAX_ID_BYTES;

    fn from_text(text: &str) -> Result<Self, Error> {
        Self::new(text)
    }
}

/// Why a line cannot be used. The text does not show the line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Reason {
    #[error("empty")]
    Empty,
    #[error("its first column is empty")]
    EmptyColumn,
    #[error("repeats the header")]
    Header,
    #[error("holds a carriage return that ends no line; end lines with LF or CRLF")]
    Return,
    #[error("holds `{}` and no quotes; columns are separated by commas, and a value with this character needs quotes", .0.escape_default())]
    Separator(char),
    #[error("holds a byte order mark: two files were joined without a line end between them")]
    Mark,
    #[error("is a formula of a spreadsheet, `=\"...\"`; write the value alone")]
    Formula,
    #[error("{0}, or put the field in quotes")]
    Odd(String),
    #[error("too long: {bytes} bytes, at most {max}")]
    TooLong { bytes: usize, max: usize },
    #[error("too long: over a mebibyte")]
    LongLine,
    #[error("holds U+0000")]
    Nul,
    #[error("not UTF-8; save the file as UTF-8")]
    NotUtf8,
    #[error("malformed CSV: a quote is not closed")]
    OpenQuote,
    #[error("malformed CSV: text after a closing quote")]
    TextAfterQuote,
}

impl From<Unreadable> for Reason {
    fn from(unreadable: Unreadable) -> Self {
        match unreadable {
            Unreadable::LongLine => Self::LongLine,
            Unreadable::Malformed(Fault::OpenQuote) => Self::OpenQuote,
            Unreadable::Malformed(Fault::TextAfterQuote) => Self::TextAfterQuote,
            Unreadable::Malformed(Fault::Return) => Self::Return,
        }
    }
}

impl Reason {
    pub(crate) fn is_blank(&self) -> bool {
        *self == Self::Empty
    }
}

/// A line of a file: its value, or the reason why the line has no value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<V> {
    pub number: u64,
    pub ends_at: u64,
    pub value: Result<V, Reason>,
}

//! The input files: the first column of a CSV, checked, with line numbers, and never wholly in memory.

mod records;
mod scan;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use storagebox::{ClaimId, Error, Item, MAX_ID_BYTES, MAX_ITEM_BYTES, TokenId};

use crate::exit::Failure;
use records::{Records, Unreadable};
use scan::Fault;

/// Where lines come from.
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

/// Why a line cannot be used, in words that do not show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Reason {
    #[error("empty")]
    Empty,
    #[error("too long: {bytes} bytes, at most {max}")]
    TooLong { bytes: usize, max: usize },
    #[error("too long: over a mebibyte")]
    LongLine,
    #[error("holds U+0000")]
    Nul,
    #[error("not UTF-8")]
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
        }
    }
}

/// One line: its value, or why it has none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<V> {
    pub number: u64,
    pub ends_at: u64,
    pub value: Result<V, Reason>,
}

/// The lines of one source.
pub(crate) struct Lines {
    source: Source,
    records: Records,
    bytes: Option<u64>,
}

impl Lines {
    pub(crate) async fn open(source: &Source, header: bool) -> Result<Self, Failure> {
        Self::try_open(source, header).await.map_err(|error| unreadable(source, error))
    }

    async fn try_open(source: &Source, header: bool) -> io::Result<Self> {
        let (input, bytes) = source.open()?;
        let mut records = Records::new(input).await?;
        if header {
            records.next_record().await?;
        }
        let source = source.clone();
        Ok(Self { source, records, bytes })
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The size of the source, where it has one.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    pub(crate) async fn next_line<V: Value>(&mut self) -> Result<Option<Line<V>>, Failure> {
        let record = self.records.next_record().await;
        let record = record.map_err(|error| unreadable(&self.source, error))?;
        Ok(record.map(|record| Line {
            number: record.line,
            ends_at: record.ends_at,
            value: record.first.map_err(Reason::from).and_then(|first| value(&first)),
        }))
    }
}

fn unreadable(source: &Source, error: io::Error) -> Failure {
    Failure::Read { path: source.to_string(), source: error }
}

fn value<V: Value>(bytes: &[u8]) -> Result<V, Reason> {
    let text = std::str::from_utf8(bytes).map_err(|_| Reason::NotUtf8)?;
    V::from_text(text).map_err(|_| why_refused::<V>(text))
}

fn why_refused<V: Value>(text: &str) -> Reason {
    match text {
        "" => Reason::Empty,
        text if text.contains('\0') => Reason::Nul,
        text => Reason::TooLong { bytes: text.len(), max: V::MAX_BYTES },
    }
}

//! Reads the lines of a source one by one.

use std::collections::VecDeque;
use std::io;

use super::records::{Record, Records};
use super::{Foreign, Line, Reason, Source, Value, format};
use crate::exit::Failure;

pub(crate) struct Lines {
    source: Source,
    records: Records,
    bytes: Option<u64>,
    /// Whether the user said that there is a header, until the beginning of the file is checked.
    unbegun: Option<bool>,
    /// Records that were read ahead to check the beginning.
    ahead: VecDeque<Record>,
    header: Option<Vec<u8>>,
    /// The number of lines with a value.
    used: u64,
    /// The first line that has no value and is not blank.
    unusable: Option<(u64, Reason)>,
}

impl Lines {
    /// Opens the source, and refuses a file that is not a list.
    pub(crate) async fn open(source: &Source, header: bool) -> Result<Self, Failure> {
        let (input, bytes) = source.open().map_err(|error| unreadable(source, error))?;
        let (source, records) = (source.clone(), Records::new(input));
        let mut lines = Self {
            source,
            records,
            bytes,
            unbegun: Some(header),
            ahead: VecDeque::new(),
            header: None,
            used: 0,
            unusable: None,
        };
        // A pipe is checked later, because reading a pipe may block.
        if lines.bytes.is_some() {
            lines.begin().await?;
        }
        Ok(lines)
    }

    /// Checks the beginning of the source at the first call.
    async fn begin(&mut self) -> Result<(), Failure> {
        let Some(header) = self.unbegun.take() else { return Ok(()) };
        let begun = self.check_beginning(header).await;
        if begun.is_err() {
            // Nothing of a refused list may be used by a caller that asks again.
            self.records = Records::unreadable();
        }
        begun
    }

    async fn check_beginning(&mut self, header: bool) -> Result<(), Failure> {
        let head = self.records.head().await.map_err(|error| unreadable(&self.source, error))?;
        format::check_head(head).map_err(|foreign| self.is(foreign, 1))?;
        self.pass_over_header(header).await
    }

    /// Skips the directive `sep=` and the header.
    async fn pass_over_header(&mut self, header: bool) -> Result<(), Failure> {
        let Some(mut first) = self.record().await? else { return Ok(()) };
        if format::is_directive(&first).map_err(|foreign| self.is(foreign, first.line))? {
            let Some(next) = self.record().await? else { return Ok(()) };
            first = next;
        }
        let second = match format::asks_for_next(&first, header) {
            true => self.record().await?,
            false => None,
        };
        let checked = format::check_header(&first, second.as_ref(), header);
        checked.map_err(|foreign| self.is(foreign, first.line))?;
        if header {
            format::check_columns(&first).map_err(|foreign| self.is(foreign, first.line))?;
            self.header = first.first.ok().filter(|name| !name.is_empty());
        } else {
            self.ahead.push_back(first);
        }
        self.ahead.extend(second);
        Ok(())
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    pub(crate) fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// Reads the next line. At the end, fails if no line of the source could be used.
    pub(crate) async fn next_line<V: Value>(&mut self) -> Result<Option<Line<V>>, Failure> {
        self.begin().await?;
        let Some(record) = self.next_record().await? else {
            return match self.used {
                0 => Err(Failure::NoLine { path: self.source.to_string(), first: self.unusable.take() }),
                _ => Ok(None),
            };
        };
        let value = self.value(&record);
        match &value {
            Ok(_) => self.used += 1,
            Err(reason) if self.unusable.is_none() && !reason.is_blank() => {
                self.unusable = Some((record.line, reason.clone()));
            }
            Err(_) => {}
        }
        Ok(Some(Line { number: record.line, ends_at: record.ends_at, value }))
    }

    fn value<V: Value>(&self, record: &Record) -> Result<V, Reason> {
        let text = format::text(record)?;
        if self.header.as_deref() == Some(text.as_bytes()) {
            return Err(Reason::Header);
        }
        V::from_text(text).map_err(|_| Reason::TooLong { bytes: text.len(), max: V::MAX_BYTES })
    }

    async fn next_record(&mut self) -> Result<Option<Record>, Failure> {
        match self.ahead.pop_front() {
            Some(record) => Ok(Some(record)),
            None => self.record().await,
        }
    }

    async fn record(&mut self) -> Result<Option<Record>, Failure> {
        let record = self.records.next_record().await;
        record.map_err(|error| unreadable(&self.source, error))
    }

    fn is(&self, foreign: Foreign, line: u64) -> Failure {
        Failure::Foreign { path: self.source.to_string(), line, foreign }
    }
}

fn unreadable(source: &Source, error: io::Error) -> Failure {
    Failure::Read { path: source.to_string(), source: error }
}

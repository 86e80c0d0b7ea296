//! Reads the records of a file one by one, with the line on which each begins.

use std::io::{self, Read};
use std::mem;

use tokio::task::spawn_blocking;

use super::format::{is_enough, too_long};
use super::scan::{Fault, Scan, scan};

/// The maximum length of a record. A longer record is rejected, and not kept in memory.
const MAX_RECORD_BYTES: usize = 1024 * 1024;
const CHUNK_BYTES: usize = 64 * 1024;
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A record: its position in the file, and its first field.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// The line on which the record begins, counted from 1.
    pub line: u64,
    /// The offset of its end in the file, in bytes.
    pub ends_at: u64,
    pub first: Result<Vec<u8>, Unreadable>,
    pub quoted: bool,
    /// Whether the first field is the only one.
    pub alone: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    Malformed(Fault),
    LongLine,
}

pub(super) struct Records {
    /// The file, which is read on a blocking thread, because a pipe can keep a reader waiting for ever.
    input: Box<dyn Read + Send>,
    /// The bytes that were read. The bytes from `start` on are not parsed yet.
    buffer: Vec<u8>,
    start: usize,
    at_end: bool,
    line: u64,
    offset: u64,
}

impl Records {
    pub(super) fn new(input: Box<dyn Read + Send>) -> Self {
        Self { input, buffer: Vec::new(), start: 0, at_end: false, line: 1, offset: 0 }
    }

    /// Returns records of a file that cannot be read.
    pub(super) fn unreadable() -> Self {
        Self::new(Box::new(Unread))
    }

    /// Returns the beginning of the file, before any record is read.
    pub(super) async fn head(&mut self) -> io::Result<&[u8]> {
        while !self.at_end && !is_enough(&self.buffer) {
            self.fill().await?;
        }
        Ok(&self.buffer)
    }

    pub(super) async fn next_record(&mut self) -> io::Result<Option<Record>> {
        loop {
            self.pass_over_marks().await?;
            let rest = &self.buffer[self.start..];
            let has_line = self.at_end || rest.contains(&b'\n');
            let found = match scan_rest(rest, self.at_end) {
                Scan::Record { first, alone, len } => {
                    let (quoted, first) = (first.is_quoted(), Ok(first.content().into_owned()));
                    return Ok(Some(Record { quoted, alone, ..self.record(len, first) }));
                }
                // The whole line is rejected, with the part that is not read yet.
                Scan::Malformed(fault) if has_line => (first_line(rest), Err(Unreadable::Malformed(fault))),
                Scan::Malformed(_) if rest.len() < MAX_RECORD_BYTES => {
                    self.fill().await?;
                    continue;
                }
                Scan::Malformed(_) => return self.pass_over_line().await.map(Some),
                Scan::More if self.at_end => return Ok(None),
                Scan::More if rest.len() < MAX_RECORD_BYTES => {
                    self.fill().await?;
                    continue;
                }
                // Only an open quote can span this many lines.
                Scan::More if rest.contains(&b'\n') => (first_line(rest), Err(Unreadable::Malformed(Fault::OpenQuote))),
                Scan::More => return self.pass_over_line().await.map(Some),
            };
            let (len, first) = found;
            return Ok(Some(self.record(len, first)));
        }
    }

    fn record(&mut self, len: usize, first: Result<Vec<u8>, Unreadable>) -> Record {
        let line = self.line;
        self.consume(len);
        Record { line, ends_at: self.offset, first, quoted: false, alone: true }
    }

    /// Skips byte order marks before a record. Joined files may have a mark before any record.
    async fn pass_over_marks(&mut self) -> io::Result<()> {
        loop {
            let rest = &self.buffer[self.start..];
            if rest.starts_with(BYTE_ORDER_MARK) {
                self.consume(BYTE_ORDER_MARK.len());
            } else if !rest.is_empty() && BYTE_ORDER_MARK.starts_with(rest) && !self.at_end {
                self.fill().await?;
            } else {
                return Ok(());
            }
        }
    }

    fn consume(&mut self, len: usize) {
        let used = &self.buffer[self.start..self.start + len];
        self.line += used.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.start += len;
        self.offset += len as u64;
    }

    /// Skips a line that is longer than any record, chunk by chunk.
    async fn pass_over_line(&mut self) -> io::Result<Record> {
        let (line, why) = (self.line, too_long(&self.buffer[self.start..]));
        while self.line == line {
            let len = first_line(&self.buffer[self.start..]);
            self.consume(len);
            if self.start == self.buffer.len() {
                if self.at_end {
                    break;
                }
                self.fill().await?;
            }
        }
        Ok(Record { line, ..self.record(0, Err(why)) })
    }

    async fn fill(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let mut input = mem::replace(&mut self.input, Box::new(Unread));
        let reading = spawn_blocking(move || chunk(&mut *input).map(|chunk| (input, chunk)));
        let (input, chunk) = reading.await.map_err(io::Error::other)??;
        self.input = input;
        self.at_end = chunk.is_empty();
        self.buffer.extend(chunk);
        Ok(())
    }
}

/// Stands in for the file while a chunk is read, and for good if that fails. An end of the file in its place would make
/// a record of half a line.
struct Unread;

impl Read for Unread {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("it was refused, or could not be read before"))
    }
}

/// Reads the next chunk, which is empty at the end.
fn chunk(input: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match input.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => {
                chunk.truncate(read?);
                return Ok(chunk);
            }
        }
    }
}

fn scan_rest(rest: &[u8], at_end: bool) -> Scan<'_> {
    if rest.is_empty() { Scan::More } else { scan(rest, at_end) }
}

/// Returns the length of the first line with its line end, or of all bytes if there is no line end.
fn first_line(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1)
}

#[cfg(test)]
mod tests;

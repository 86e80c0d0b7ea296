//! The writes of a row, by which a call whose reply was lost finds its own again, also under those of others.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use sha2::{Digest, Sha256};
use storagebox_core::Result;

use crate::client::{Tag, Write};
use crate::row::{Row, Value};

/// How many of the last writes a row keeps the marks of. A call that lost its reply asks again at once, and few come
/// between.
const KEPT: usize = 8;

/// What one write leaves in its row: the number that it found there, 0 if it made the row, and some bytes of its own.
/// No two are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    number: u64,
    own: [u8; OWN],
}

const OWN: usize = 8;

/// The marks that a row keeps: of the last writes and, however long ago it was, of the one that made the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Log {
    /// The latest first; none in the places that no write has taken yet.
    last: [Mark; KEPT],
    first: Mark,
}

impl Mark {
    const NONE: Self = Self { number: 0, own: [0; OWN] };

    pub(super) fn fresh(number: u64) -> Self {
        let mut own = [0; OWN];
        own.copy_from_slice(&Sha256::digest(Tag::fresh().as_str())[..OWN]);
        Self { number, own }
    }

    pub(super) fn number(self) -> u64 {
        self.number
    }

    fn read(value: &AttributeValue) -> Option<Self> {
        let (number, own) = value.as_b().ok()?.as_ref().split_at_checked(OWN)?;
        Some(Self { number: u64::from_be_bytes(number.try_into().ok()?), own: own.try_into().ok()? })
    }

    /// Adds the mark to the log of the row that the update changes. Every value is read before any is written.
    pub(super) fn on(self, update: Write) -> Write {
        let moved = |write: Write, place: usize| write.set_to(&at(place), &at(place - 1));
        let write = (1..KEPT).rev().fold(update, moved);
        write.set_to(&at(0), ":mark").value(":mark", self)
    }
}

fn at(place: usize) -> String {
    format!("h[{place}]")
}

impl Value for Mark {
    fn value(self) -> AttributeValue {
        AttributeValue::B(Blob::new([self.number.to_be_bytes(), self.own].concat()))
    }
}

impl Default for Log {
    fn default() -> Self {
        Self { last: [Mark::NONE; KEPT], first: Mark::NONE }
    }
}

impl Log {
    pub(super) fn read(row: &Row) -> Result<Self> {
        let list = row.attributes().get("h").and_then(|list| list.as_l().ok());
        let marks: Option<Vec<_>> = list.and_then(|list| list.iter().map(Mark::read).collect());
        row.needed("h", marks.and_then(Self::of))
    }

    fn of(mut marks: Vec<Mark>) -> Option<Self> {
        let first = marks.pop()?;
        Some(Self { last: marks.try_into().ok()?, first })
    }

    #[must_use]
    pub(super) fn with(mut self, mark: Mark) -> Self {
        self.last.rotate_right(1);
        self.last[0] = mark;
        if self.first == Mark::NONE {
            self.first = mark;
        }
        self
    }

    pub(super) fn latest(&self) -> Mark {
        self.last[0]
    }

    pub(super) fn has(&self, mark: Mark) -> bool {
        self.last.contains(&mark) || self.first == mark
    }

    /// Whether a write that finds this number would be here, had it been made: numbers only grow, so it is not dropped
    /// before those that found smaller ones.
    pub(super) fn reaches(&self, number: u64) -> bool {
        let oldest = self.last[KEPT - 1];
        number == 0 || oldest == Mark::NONE || oldest.number < number
    }
}

impl Value for Log {
    fn value(self) -> AttributeValue {
        let marks = self.last.into_iter().chain([self.first]);
        AttributeValue::L(marks.map(Value::value).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::RowKey;

    fn row(log: &Log) -> Row {
        Row::new(&RowKey::alone("here")).with("h", log.clone())
    }

    #[test]
    fn what_is_written_is_read_again() {
        let log = Log::default().with(Mark::fresh(0)).with(Mark::fresh(u64::MAX));
        assert_eq!(Log::read(&row(&log)).unwrap(), log);
        assert!(Log::read(&Row::new(&RowKey::alone("here"))).is_err());
    }

    #[test]
    fn the_oldest_mark_but_the_first_goes_first() {
        let marks: Vec<_> = (0..10).map(Mark::fresh).collect();
        let log = marks.iter().fold(Log::default(), |log, mark| log.with(*mark));
        assert_eq!(log.latest(), marks[9]);
        assert!(marks[2..].iter().all(|mark| log.has(*mark)));
        assert!(log.has(marks[0]), "it made the row");
        assert!(!log.has(marks[1]));
    }

    #[test]
    fn it_tells_how_far_back_it_reaches() {
        let log = (1..=7).map(Mark::fresh).fold(Log::default(), Log::with);
        assert!(log.reaches(1), "there is room, so nothing was dropped");
        let log = log.with(Mark::fresh(8)).with(Mark::fresh(9));
        assert!(log.reaches(3) && !log.reaches(2) && !log.reaches(1));
        assert!(log.reaches(0), "what made the row is never dropped");
    }
}

//! The writes of a row, by which a call whose reply was lost finds its own again, also under those of others.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use sha2::{Digest, Sha256};
use storagebox_core::Result;

use crate::client::{Tag, Write};
use crate::row::{Row, Value};

/// How many of the last writes a row keeps the marks of. A call that lost its reply asks again at once, and few come
/// between.
const KEPT: usize = 16;

/// What one write leaves in its row: the number that it found there, 0 if it made the row, and some bytes of its own.
/// No two are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    number: u64,
    own: [u8; OWN],
}

const OWN: usize = 8;

/// The marks that a row keeps: of the last writes and, however long ago it was, of the one that made the row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Log {
    /// The latest first; none in the places that no write has taken yet.
    last: [Option<Mark>; KEPT],
    first: Option<Mark>,
}

impl Mark {
    pub(super) fn fresh(number: u64) -> Self {
        let mut own = [0; OWN];
        own.copy_from_slice(&Sha256::digest(Tag::fresh().as_str())[..OWN]);
        Self { number, own }
    }

    pub(super) fn number(self) -> u64 {
        self.number
    }

    fn of(bytes: &[u8]) -> Option<Self> {
        let (number, own) = bytes.split_at_checked(OWN)?;
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

impl Log {
    pub(super) fn read(row: &Row) -> Result<Self> {
        let list = row.attributes().get("h").and_then(|list| list.as_l().ok());
        let marks: Option<Vec<_>> = list.and_then(|list| list.iter().map(place).collect());
        row.needed("h", marks.and_then(Self::of))
    }

    fn of(mut marks: Vec<Option<Mark>>) -> Option<Self> {
        let first = marks.pop()?;
        Some(Self { last: marks.try_into().ok()?, first })
    }

    #[must_use]
    pub(super) fn with(mut self, mark: Mark) -> Self {
        self.last.rotate_right(1);
        self.last[0] = Some(mark);
        self.first.get_or_insert(mark);
        self
    }

    /// There is one on every row.
    pub(super) fn latest(&self) -> Option<Mark> {
        self.last[0]
    }

    pub(super) fn has(&self, mark: Mark) -> bool {
        self.last.contains(&Some(mark)) || self.first == Some(mark)
    }

    /// Whether a write that finds this number would be here, had it been made: numbers only grow, so it is not dropped
    /// before those that found smaller ones.
    pub(super) fn reaches(&self, number: u64) -> bool {
        number == 0 || self.last[KEPT - 1].is_none_or(|oldest| oldest.number < number)
    }
}

/// What is in one place of the list; nothing if it is neither a mark nor empty.
fn place(value: &AttributeValue) -> Option<Option<Mark>> {
    match value {
        AttributeValue::Null(_) => Some(None),
        value => Mark::of(value.as_b().ok()?.as_ref()).map(Some),
    }
}

impl Value for Log {
    fn value(self) -> AttributeValue {
        let empty = AttributeValue::Null(true);
        let places = self.last.into_iter().chain([self.first]);
        AttributeValue::L(places.map(|mark| mark.map_or(empty.clone(), Value::value)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{RowKey, whatever};

    fn row(log: &Log) -> Row {
        Row::new(&RowKey::alone("here")).with("h", log.clone())
    }

    #[test]
    fn whatever_a_log_holds() {
        let read = |row: &Row| {
            let log = Log::read(row)?;
            let mark = Mark::fresh(7);
            assert!(log.with(mark).has(mark));
            Ok(())
        };
        whatever(
            &[
                row(&Log::default().with(Mark::fresh(0))),
                row(&(0..20).map(Mark::fresh).fold(Log::default(), Log::with)),
            ],
            &[read],
        );
    }

    #[test]
    fn what_is_written_is_read_again() {
        let log = Log::default().with(Mark::fresh(0)).with(Mark::fresh(u64::MAX));
        assert_eq!(Log::read(&row(&log)).unwrap(), log);
        assert!(Log::read(&Row::new(&RowKey::alone("here"))).is_err());
    }

    #[test]
    fn the_oldest_mark_but_the_first_goes_first() {
        let marks: Vec<_> = (0..KEPT as u64 + 2).map(Mark::fresh).collect();
        let log = marks.iter().fold(Log::default(), |log, mark| log.with(*mark));
        assert_eq!(log.latest(), marks.last().copied());
        assert!(marks[2..].iter().all(|mark| log.has(*mark)));
        assert!(log.has(marks[0]), "it made the row");
        assert!(!log.has(marks[1]));
    }

    #[test]
    fn it_tells_how_far_back_it_reaches() {
        let log = (2..=KEPT as u64).map(Mark::fresh).fold(Log::default(), Log::with);
        assert!(log.reaches(1), "there is room, so nothing was dropped");
        let log = log.with(Mark::fresh(100)).with(Mark::fresh(101));
        assert!(log.reaches(4) && !log.reaches(3) && !log.reaches(1));
        assert!(log.reaches(0), "what made the row is never dropped");
    }
}

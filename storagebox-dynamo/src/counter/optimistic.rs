//! Compare-and-set on a row that names its last writers (article 5, approaches 2 and 3).
//!
//! The article compares a tag. Here each write adds one to a number, which also shows how many writers came in between.
//! So a lost reply stays unresolved only if there were more of them than the row names.

use std::sync::Mutex;

use storagebox_core::{Attempt, Certainty, Change, Counted, Error, Key, Result};

use super::history::{History, Writer};
use super::queue::Queue;
use super::room::Room;
use super::values::{Values, mark, refused, value_in};
use crate::client::{Tag, Write, Wrote};
use crate::error::contention;
use crate::lock::lock;
use crate::row::{Row, RowKey};

/// How often a call may lose against other writers. More attempts would add to the backlog that the article warns of.
const MOST_LOSSES: u32 = 10;

#[derive(Debug)]
pub(super) struct Optimistic {
    len: u16,
    queue: Queue,
}

/// The row of a counter as it was read.
#[derive(Debug, Default)]
struct Seen {
    value: i64,
    /// The number of writes so far.
    writers: i64,
    history: History,
}

impl Seen {
    fn of(row: Option<&Row>) -> Result<Self> {
        let Some(row) = row else {
            return Ok(Self::default());
        };
        Ok(Self {
            value: value_in(row)?,
            writers: row.needed("n", row.times("n"))?,
            history: row.needed("h", row.bytes("h").and_then(History::read))?,
        })
    }
}

/// A call of `apply`, with all its attempts.
struct OptimisticCall<'a> {
    optimistic: &'a Optimistic,
    values: &'a Values,
    key: &'a Key,
    row: RowKey,
    change: &'a Change,
    /// The mark of the call in the history.
    by: [u8; 6],
    past: Mutex<Past>,
}

/// What the attempts so far have left open.
#[derive(Debug, Default)]
struct Past {
    losses: u32,
    /// The number of writes before the attempt whose reply was lost. It can only be the next write after those.
    lost: Option<i64>,
}

/// The end of a call: an outcome, or an error that another attempt would not change.
type Ended = Result<Counted>;

impl Optimistic {
    pub(super) fn new(len: u16) -> Self {
        Self { len, queue: Queue::new() }
    }

    pub(super) async fn apply(&self, values: &Values, first: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        let (optimistic, row, by) = (self, values.row(key), mark(&Tag::fresh()));
        let call = OptimisticCall { optimistic, values, key, row, change, by, past: Mutex::default() };
        let ended = {
            let attempt = |attempt: Attempt| {
                let call = &call;
                async move {
                    match call.attempt().await? {
                        Ok(counted) => refused(attempt, counted).map(Ok),
                        ended => Ok(ended),
                    }
                }
            };
            values.client().settle_attempts("apply", first, attempt).await?
        };
        ended.map_err(|error| error.during("apply"))
    }
}

impl OptimisticCall<'_> {
    async fn attempt(&self) -> Result<Ended> {
        self.values.ready().await?;
        let _flight = self.optimistic.queue.next(self.key).await;
        let seen = Seen::of(self.values.client().get(&self.row).await?.as_ref())?;
        if let Some(ended) = self.judge(&seen) {
            return Ok(ended);
        }
        let (write, value) = self.write(&seen);
        match self.values.client().write(&write).await {
            Ok(Wrote::Done(_)) => Ok(Ok(Counted::Applied { value: Some(value) })),
            Ok(Wrote::Refused(now)) => self.lost_against(now.as_ref()),
            Err(error) => Err(self.noted(error, &seen)),
        }
    }

    /// Returns the end of the call if the row decides it.
    fn judge(&self, seen: &Seen) -> Option<Ended> {
        match seen.history.find(&self.change.op) {
            Some(writer) if writer.delta != self.change.delta => Some(Ok(Counted::Mismatch)),
            Some(Writer { value, by, .. }) if by == self.by => Some(Ok(Counted::Applied { value: Some(value) })),
            Some(Writer { value, .. }) => Some(Ok(Counted::AlreadyApplied { value: Some(value) })),
            None if !self.resolves(seen) => Some(Err(Error::unknown(TOO_MANY).on("dynamo"))),
            None => Room::of(self.change).rejection(seen.value).map(Ok),
        }
    }

    /// Returns whether the history shows that no earlier attempt was applied. If no write came after a lost attempt,
    /// that attempt and the next one exclude each other.
    fn resolves(&self, seen: &Seen) -> bool {
        let mut past = lock(&self.past);
        match past.lost {
            Some(writers) if seen.writers - writers > self.optimistic.len.into() => false,
            Some(writers) if seen.writers > writers => {
                past.lost = None;
                true
            }
            _ => true,
        }
    }

    /// Returns the write of the next row, and the value in it.
    fn write(&self, seen: &Seen) -> (Write, i64) {
        let Change { op, delta, .. } = self.change;
        let value = seen.value.saturating_add(*delta);
        let history = seen.history.with(op, Writer { delta: *delta, value, by: self.by }, self.optimistic.len);
        let row = Row::new(&self.row).with("v", value).with("n", seen.writers + 1).with("h", history.as_bytes());
        let write = Write::put(row);
        match seen.writers {
            0 => (write.only_if("attribute_not_exists(pk)"), value),
            writers => (write.only_if("n = :seen").value(":seen", writers), value),
        }
    }

    /// Handles a refusal: another writer was first, and `now` is the row that it left.
    fn lost_against(&self, now: Option<&Row>) -> Result<Ended> {
        if let Some(ended) = self.judge(&Seen::of(now)?) {
            return Ok(ended);
        }
        let mut past = lock(&self.past);
        past.losses += 1;
        if past.losses < MOST_LOSSES { Err(contention()) } else { Ok(Err(contention())) }
    }

    fn noted(&self, error: Error, seen: &Seen) -> Error {
        if error.certainty() == Certainty::Unknown {
            lock(&self.past).lost = Some(seen.writers);
        }
        error
    }
}

const TOO_MANY: &str = "a reply was lost, and more writers came between than the counter remembers";

#[cfg(test)]
mod tests {
    use storagebox_core::OpId;

    use super::*;
    use crate::row::whatever;

    #[test]
    fn whatever_a_row_of_writers_holds() {
        let writer = Writer { delta: 7, value: 7, by: [0; 6] };
        let history = History::default().with(&OpId::new("op").unwrap(), writer, 3);
        let row = Row::new(&RowKey::alone("key")).with("v", 7_i64).with("n", 1_i64).with("h", history.as_bytes());
        let read = |row: &Row| {
            let seen = Seen::of(Some(row))?;
            let _ = (seen.history.find(&OpId::new("op")?), seen.writers + 1);
            Ok(())
        };
        whatever(&[row], &[read]);
    }
}

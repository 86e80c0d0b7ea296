//! Compare-and-set on a row that names its last writers (article 5, approaches 2 and 3).
//!
//! The article compares a tag. Here each write adds one to a number, which also shows how many writes came after a lost
//! attempt. The outcome of the lost attempt stays unknown only if there were more writes than the row has writers.

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

/// A call gives up after this number of writes that were refused because another writer was first.
const MOST_LOSSES: u32 = 10;

#[derive(Debug)]
pub(super) struct Optimistic {
    len: u16,
    queue: Queue,
}

#[derive(Debug, Default)]
struct Seen {
    value: i64,
    /// How often the row was written.
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

struct OptimisticCall<'a> {
    optimistic: &'a Optimistic,
    values: &'a Values,
    key: &'a Key,
    row: RowKey,
    change: &'a Change,
    /// The mark of the call in the history: a short hash of the call's tag.
    by: [u8; 6],
    past: Mutex<Past>,
}

/// The state that the attempts of a call share.
#[derive(Debug, Default)]
struct Past {
    losses: u32,
    /// How often the row had been written when the attempt whose reply was lost read the row.
    lost: Option<i64>,
}

/// The end of a call: an outcome, or an error after which the call makes no other attempt.
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

    /// Returns the end of the call if the row decides the outcome; `None` if the call may write.
    fn judge(&self, seen: &Seen) -> Option<Ended> {
        match seen.history.find(&self.change.op) {
            Some(writer) if writer.delta != self.change.delta => Some(Ok(Counted::Mismatch)),
            Some(Writer { value, by, .. }) if by == self.by => Some(Ok(Counted::Applied { value: Some(value) })),
            Some(Writer { value, .. }) => Some(Ok(Counted::AlreadyApplied { value: Some(value) })),
            None if !self.resolves(seen) => Some(Err(Error::unknown(TOO_MANY).on("dynamo"))),
            None => Room::of(self.change).rejection(seen.value).map(Ok),
        }
    }

    /// Returns whether the history is long enough to show whether a lost attempt was applied.
    fn resolves(&self, seen: &Seen) -> bool {
        let mut past = lock(&self.past);
        match past.lost {
            Some(writers) if seen.writers - writers > self.optimistic.len.into() => false,
            Some(writers) if seen.writers > writers => {
                past.lost = None;
                true
            }
            // If no write came after the lost attempt, that attempt and the next one have the same condition, so only
            // one of them can be applied.
            _ => true,
        }
    }

    /// Returns the write that applies the change to the row, and the value after the change.
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

    /// Handles a write that was refused because another writer was first. `now` is the row that the other writer wrote.
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

const TOO_MANY: &str = "a reply was lost, and since then the counter had more writers than it remembers";

#[cfg(test)]
mod tests {
    use storagebox_core::OpId;

    use super::*;
    use crate::row::fuzz;

    #[test]
    fn fuzz_row_of_writers_is_read_or_corrupt() {
        let writer = Writer { delta: 7, value: 7, by: [0; 6] };
        let history = History::default().with(&OpId::new("op").unwrap(), writer, 3);
        let row = Row::new(&RowKey::alone("key")).with("v", 7_i64).with("n", 1_i64).with("h", history.as_bytes());
        let read = |row: &Row| {
            let seen = Seen::of(Some(row))?;
            let _ = (seen.history.find(&OpId::new("op")?), seen.writers + 1);
            Ok(())
        };
        fuzz(&[row], &[read]);
    }
}

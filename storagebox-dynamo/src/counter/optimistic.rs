//! Compare-and-set on a row that names its last writers (article 5, approaches 2 and 3).
//!
//! The article compares a tag. A number that grows by one with each write does the same, and also tells how many
//! writers came between, so that a lost reply is unresolved only if more did than the row names.

use std::sync::{Mutex, MutexGuard, PoisonError};

use storagebox_core::{Certainty, Change, Counted, Error, Key, Result};

use super::contention;
use super::history::{History, Writer};
use super::queue::Queue;
use super::room::Room;
use super::values::{Values, mark, value_in};
use crate::client::{Tag, Write, Wrote};
use crate::row::{Row, RowKey};

/// How often a call may lose to other writers. More only add to the backlog that the article warns of.
const BEATEN: u32 = 10;

#[derive(Debug)]
pub(super) struct Optimistic {
    len: u16,
    queue: Queue,
}

/// What was read of a row.
#[derive(Debug, Default)]
struct Seen {
    value: i64,
    /// How many writers there were.
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

/// One call, through all its attempts.
struct Call<'a> {
    optimistic: &'a Optimistic,
    values: &'a Values,
    key: &'a Key,
    row: RowKey,
    change: &'a Change,
    /// What this call leaves in the history.
    by: [u8; 6],
    past: Mutex<Past>,
}

/// What became of the attempts so far.
#[derive(Debug, Default)]
struct Past {
    beaten: u32,
    /// After how many writers the attempt was made whose reply was lost. It lands there or nowhere.
    lost: Option<i64>,
}

/// What a call ends with: an answer, or an error that no further attempt would mend.
type Ended = Result<Counted>;

impl Optimistic {
    pub(super) fn new(len: u16) -> Self {
        Self { len, queue: Queue::new() }
    }

    pub(super) async fn apply(&self, values: &Values, key: &Key, change: &Change) -> Result<Counted> {
        let (optimistic, row, by) = (self, values.row(key), mark(&Tag::fresh()));
        let call = Call { optimistic, values, key, row, change, by, past: Mutex::default() };
        let ended = values.client().settled("apply", || call.attempt()).await?;
        ended.map_err(|error| error.during("apply"))
    }
}

impl Call<'_> {
    async fn attempt(&self) -> Result<Ended> {
        self.values.ready().await?;
        let _turn = self.optimistic.queue.turn(self.key).await;
        let seen = Seen::of(self.values.client().get(&self.row).await?.as_ref())?;
        if let Some(ended) = self.judge(&seen) {
            return Ok(ended);
        }
        let (write, value) = self.write(&seen);
        match self.values.client().write(&write).await {
            Ok(Wrote::Done(_)) => Ok(Ok(Counted::Applied { value: Some(value) })),
            Ok(Wrote::Refused(now)) => self.look_again(now.as_ref()),
            Err(error) => Err(self.noted(error, &seen)),
        }
    }

    /// The answer, if what was seen gives one.
    fn judge(&self, seen: &Seen) -> Option<Ended> {
        match seen.history.find(&self.change.op) {
            Some(writer) if writer.delta != self.change.delta => Some(Ok(Counted::Mismatch)),
            Some(Writer { value, by, .. }) if by == self.by => Some(Ok(Counted::Applied { value: Some(value) })),
            Some(Writer { value, .. }) => Some(Ok(Counted::AlreadyApplied { value: Some(value) })),
            None if !self.resolves(seen) => Some(Err(Error::unknown(TOO_MANY).on("dynamo"))),
            None => Room::of(self.change).rejection(seen.value).map(Ok),
        }
    }

    /// Whether it is known of every earlier attempt that it has not landed. One that was made after as many writers as
    /// there still are may land yet, in the place of the next attempt or not at all.
    fn resolves(&self, seen: &Seen) -> bool {
        let mut past = self.past();
        match past.lost {
            Some(writers) if seen.writers - writers > self.optimistic.len.into() => false,
            Some(writers) if seen.writers > writers => {
                past.lost = None;
                true
            }
            _ => true,
        }
    }

    /// The next row, and the value in it.
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

    /// Another writer was first, and the refusal tells what it left.
    fn look_again(&self, now: Option<&Row>) -> Result<Ended> {
        if let Some(ended) = self.judge(&Seen::of(now)?) {
            return Ok(ended);
        }
        let mut past = self.past();
        past.beaten += 1;
        if past.beaten < BEATEN { Err(contention()) } else { Ok(Err(contention())) }
    }

    fn noted(&self, error: Error, seen: &Seen) -> Error {
        if error.certainty() == Certainty::Unknown {
            self.past().lost = Some(seen.writers);
        }
        error
    }

    /// Nothing panics with the lock held, and it is never held across a request.
    fn past(&self) -> MutexGuard<'_, Past> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
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

//! Deduplication records: one row an id, shared by the two repositories of one name.
//!
//! A call guesses what it will find and makes its change under the condition that it is there: one request. A refusal
//! brings the row as it is. That decides: it has the answer, or it is exchanged for the row that it should become.

mod ended;
mod record;
mod row;
mod sent;

use std::sync::Arc;

use storagebox_core::{BoxName, DedupId, Entry, Error, ErrorKind, ListedRecord, Page, Result, Settles};

use crate::client::{Client, Kind, OpenBox, Write, Wrote};
use crate::clock::Millis;
use crate::error;
use crate::page::{self, Position};
use crate::row::{Row, RowKey};

pub(crate) use record::{Done, Leased, Record, State};
pub(crate) use row::{CURRENT, DONE, ENDED, LEASED, kept};
use sent::Sent;

/// The partitions of the ids.
const IDS: &str = "ids";
/// What a listing shows.
const SHOWN: &str = "s = :done AND (attribute_not_exists(x) OR x > :past)";
/// How many others may change a row under one attempt before it pauses.
const MOST_BEATEN: u32 = 4;

/// The records of one name.
#[derive(Debug)]
pub(crate) struct Records {
    open: OpenBox,
}

/// What a call makes of the record that it finds.
#[derive(Debug)]
pub(crate) enum Step<T> {
    Answer(T),
    /// The id is to be in this state, and then this is the answer.
    Write(State, T),
}

impl Records {
    pub(crate) fn new(client: &Arc<Client>, name: &BoxName) -> Self {
        Self { open: OpenBox::new(client, Kind::Records, name) }
    }

    pub(crate) fn client(&self) -> &Client {
        self.open.client()
    }

    async fn key(&self, id: &DedupId) -> Result<RowKey> {
        Ok(RowKey::new(self.open.partition_of(IDS, id.as_str()).await?, id.as_str()))
    }

    fn read(&self, row: Option<&Row>, past: Millis) -> Result<Record> {
        row.map_or_else(|| Ok(Record::default()), |row| Record::read(row, self.client(), past))
    }

    /// A number greater than every one before on the id: the last one's successor, and at least the time in microseconds.
    /// So none repeats after the row is gone, because a row is kept until its last number is behind by every clock.
    pub(crate) fn number_after(&self, last: u64) -> u64 {
        let micros = self.client().now().0.max(0).unsigned_abs().saturating_mul(1_000);
        last.saturating_add(1).max(micros)
    }

    pub(crate) async fn get(&self, id: &DedupId) -> Result<Option<Entry>> {
        let row = self.client().get(&self.key(id).await?).await?;
        Ok(self.read(row.as_ref(), self.client().surely_past())?.entry().cloned())
    }

    pub(crate) async fn list(&self, position: &Position, limit: usize) -> Result<Page<ListedRecord>> {
        let past = self.client().surely_past();
        let shown =
            |look: crate::client::Look| look.filter(SHOWN).value(":done", DONE).value(":past", past.0);
        let page = page::rows(&self.open, IDS, position, limit, shown).await?;
        let listed = |row: &Row| {
            let id = DedupId::new(row.sort()?)?;
            Ok(self.read(Some(row), past)?.entry().cloned().map(|entry| ListedRecord { id, entry }))
        };
        let entries = page.entries.iter().filter_map(|row| listed(row).transpose()).collect::<Result<_>>()?;
        Ok(Page { entries, next: page.next })
    }

    /// A call that may be the first of its id: it guesses that nothing is known of it.
    ///
    /// It is judged by the record and the time up to which everything has lapsed by every clock.
    pub(crate) async fn step<T: Settles + Clone + Send>(
        &self,
        operation: &'static str,
        id: &DedupId,
        judge: impl Fn(&Record, Millis) -> Step<T> + Sync,
    ) -> Result<T> {
        let sent = Sent::default();
        self.client().settle(operation, || self.stepped(id, &judge, &sent)).await
    }

    async fn stepped<T: Clone + Send>(
        &self,
        id: &DedupId,
        judge: &(impl Fn(&Record, Millis) -> Step<T> + Sync),
        sent: &Sent<T>,
    ) -> Result<T> {
        let key = self.key(id).await?;
        let mut found = None;
        for _ in 0..MOST_BEATEN {
            if let Some(answer) = sent.landed(found.as_ref()) {
                return Ok(answer);
            }
            let past = self.client().surely_past();
            let record = self.read(found.as_ref(), past)?;
            let (state, answer) = match judge(&record, past) {
                Step::Answer(answer) => return Ok(answer),
                Step::Write(state, answer) => (state, answer),
            };
            let row = record.becoming(&state, &key, self.client())?.with("t", sent.tag(&answer).as_str());
            match self.client().write(&exchange(found.as_ref(), row)?).await? {
                Wrote::Done(_) => return Ok(answer),
                Wrote::Refused(row) => found = row,
            }
        }
        Err(beaten())
    }

    /// A call that names a lease or a version: it guesses that the row still has it.
    ///
    /// A refusal is judged by the record; one that does not explain it is met by another attempt.
    pub(crate) async fn change<T: Settles + Clone + Send>(
        &self,
        operation: &'static str,
        id: &DedupId,
        change: impl Fn(&RowKey) -> (Write, T) + Sync,
        refused: impl Fn(&Record) -> Option<T> + Sync,
    ) -> Result<T> {
        let sent = Sent::default();
        self.client().settle(operation, || self.changed(id, &change, &refused, &sent)).await
    }

    async fn changed<T: Clone + Send>(
        &self,
        id: &DedupId,
        change: &(impl Fn(&RowKey) -> (Write, T) + Sync),
        refused: &(impl Fn(&Record) -> Option<T> + Sync),
        sent: &Sent<T>,
    ) -> Result<T> {
        let (write, answer) = change(&self.key(id).await?);
        let row = match self.client().write(&write.tagged(&sent.tag(&answer))).await? {
            Wrote::Done(_) => return Ok(answer),
            Wrote::Refused(row) => row,
        };
        if let Some(answer) = sent.landed(row.as_ref()) {
            return Ok(answer);
        }
        let record = self.read(row.as_ref(), self.client().surely_past())?;
        refused(&record).ok_or_else(beaten)
    }
}

/// Puts the row in place of the one that was seen, which its tag names, or of none.
fn exchange(seen: Option<&Row>, row: Row) -> Result<Write> {
    let put = Write::put(row);
    match seen {
        None => Ok(put.only_if("attribute_not_exists(pk)")),
        Some(seen) => Ok(put.only_if("t = :seen").value(":seen", seen.needed("t", seen.text("t"))?)),
    }
}

fn beaten() -> Error {
    Error::new(ErrorKind::Contention, error::CONFLICT).on("dynamo")
}

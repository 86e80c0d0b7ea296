//! Deduplication records and leases: one row per id, and one row per ended operation except the last. The two
//! repositories of one name share the rows.
//!
//! A call guesses the state of the row, and makes its change under the condition that the guess is right. A right guess
//! costs one request. A refusal shows the row as it is. Then the call returns an outcome, or replaces this row by the
//! next one.

mod ended;
mod plan;
mod record;
mod row;

use std::sync::Arc;

use storagebox_core::backend::rules::IdState;
use storagebox_core::{DedupId, Entry, ListedRecord, Namespace, OpId, Page, Result};

use crate::client::{Client, Index, Kind, OpenNamespace, Query, Tag, Write, Wrote};
use crate::clock::Millis;
use crate::error::contention;
use crate::page::{self, Position};
use crate::row::{Row, RowKey};

pub(crate) use record::Record;
pub(crate) use row::{CURRENT, DONE, ENDED, LEASED};

/// The text in the partition keys of the rows of ids.
const IDS: &str = "ids";
/// The filter of a listing: records whose retention is not over.
const LISTED: &str = "s = :done AND (attribute_not_exists(x) OR x > :past)";
/// How many writes of one attempt may be refused before the attempt pauses.
const MOST_REFUSALS: u32 = 4;

/// The deduplication ids of one namespace.
#[derive(Debug)]
pub(crate) struct Records {
    open: OpenNamespace,
}

/// What a call does with the record that it has read.
#[derive(Debug)]
pub(crate) enum Step<T> {
    /// Returns this outcome.
    Answer(T),
    /// Writes this state, and then returns this outcome.
    Write(IdState<Millis>, T),
}

impl Records {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace) -> Self {
        Self { open: OpenNamespace::new(client, Kind::Records, name) }
    }

    pub(crate) fn client(&self) -> &Client {
        self.open.client()
    }

    async fn key(&self, id: &DedupId) -> Result<RowKey> {
        self.open.key_of(IDS, id.as_str()).await
    }

    fn read(&self, row: Option<&Row>, past: Millis) -> Result<Record> {
        row.map_or_else(|| Ok(Record::default()), |row| Record::read(row, &self.open, past))
    }

    pub(crate) async fn get(&self, id: &DedupId) -> Result<Option<Entry>> {
        let (key, past) = (self.key(id).await?, self.client().surely_past());
        let row = self.client().get(&key).await?;
        Ok(self.read(row.as_ref(), past)?.state.entry().cloned())
    }

    pub(crate) async fn list(&self, position: &Position, limit: usize) -> Result<Page<ListedRecord>> {
        let past = self.client().surely_past();
        let listed_only = |query: Query| query.filter(LISTED).value(":done", DONE).value(":past", past.0);
        let page = page::rows(&self.open, (IDS, Index::Table), position, limit, listed_only).await?;
        let listed = |row: &Row| {
            let id = row.valid("id", DedupId::new(row.sort()?))?;
            Ok(self.read(Some(row), past)?.state.entry().cloned().map(|entry| ListedRecord { id, entry }))
        };
        let entries = page.entries.iter().filter_map(|row| listed(row).transpose()).collect::<Result<_>>()?;
        Ok(Page { entries, next: page.next })
    }

    /// Makes a call that may be the first call of its id.
    pub(crate) async fn step<T: Send>(
        &self,
        operation: &'static str,
        (id, op): (&DedupId, &OpId),
        judge: impl Fn(&Record, Millis) -> Step<T> + Sync,
    ) -> Result<T> {
        // All attempts use the same time, so they decide alike about the same row.
        // So any outcome settles a lost attempt: the lost attempt can only replace the row that it read, and a later
        // attempt that reads the same row replaces it too.
        let (past, tag) = (self.client().surely_past(), Tag::fresh());
        self.client().settle(operation, || self.stepped((id, op), past, &judge, &tag)).await
    }

    async fn stepped<T: Send>(
        &self,
        (id, op): (&DedupId, &OpId),
        past: Millis,
        judge: &(impl Fn(&Record, Millis) -> Step<T> + Sync),
        tag: &Tag,
    ) -> Result<T> {
        let key = self.key(id).await?;
        // The first write assumes that the id has no row. A refusal contains the row.
        let mut found = None;
        for _ in 0..MOST_REFUSALS {
            let record = self.read(found.as_ref(), past)?.seen_by(tag);
            let record = self.with_ended(record, id, Some(op), past).await?;
            let (state, answer) = match judge(&record, past) {
                Step::Answer(answer) => return Ok(answer),
                Step::Write(state, answer) => (state, answer),
            };
            let put = Write::put(record.becoming(&state, &key, &self.open)).tagged(&tag.of_attempt());
            match self.replace(id, &record, put).await? {
                Wrote::Done(_) => return Ok(answer),
                Wrote::Refused(row) => found = row,
            }
        }
        Err(contention())
    }

    /// Puts the next row of an id if the row has not changed since the read. If the old row names an ended
    /// operation, the same step writes a separate row for this operation.
    async fn replace(&self, id: &DedupId, read: &Record, put: Write) -> Result<Wrote> {
        match &self.replacing(id, read, put)[..] {
            [put] => self.client().write(put).await,
            writes => self.client().transact(writes).await?.of_first().ok_or_else(contention),
        }
    }

    /// Returns the write of the next row, and the write of the ended operation's separate row, if there is one.
    fn replacing(&self, id: &DedupId, read: &Record, put: Write) -> Vec<Write> {
        let put = match read.tag.as_deref() {
            None => put.only_if("attribute_not_exists(pk)"),
            Some("") => put.only_if("attribute_exists(pk) AND attribute_not_exists(t)"),
            Some(tag) => put.only_if("t = :seen").value(":seen", tag),
        };
        let fence = read.ended.as_ref().map(|ended| self.fence(id, ended));
        [put].into_iter().chain(fence).collect()
    }

    /// Makes a call that names a version or a lease. `change` returns a write with the condition that the id has this
    /// version or lease. If the write is refused, `refused` returns the outcome; `None` means another attempt.
    pub(crate) async fn change<T: Send>(
        &self,
        operation: &'static str,
        (id, op): (&DedupId, Option<&OpId>),
        change: impl Fn(&RowKey) -> (Write, T) + Sync,
        refused: impl Fn(&Record) -> Option<T> + Sync,
    ) -> Result<T> {
        let tag = Tag::fresh();
        self.client().settle(operation, || self.changed((id, op), &change, &refused, &tag)).await
    }

    async fn changed<T: Send>(
        &self,
        (id, op): (&DedupId, Option<&OpId>),
        change: &(impl Fn(&RowKey) -> (Write, T) + Sync),
        refused: &(impl Fn(&Record) -> Option<T> + Sync),
        tag: &Tag,
    ) -> Result<T> {
        let key = self.key(id).await?;
        let (write, answer) = change(&key);
        let past = self.client().surely_past();
        let check = |row: &Row| self.read(Some(row), past).map(drop);
        let row = match self.client().write_to(&key, &write.tagged(&tag.of_attempt()), check).await? {
            Wrote::Done(_) => return Ok(answer),
            Wrote::Refused(row) => row,
        };
        let record = self.read(row.as_ref(), past)?.seen_by(tag);
        let record = self.with_ended(record, id, op, past).await?;
        refused(&record).ok_or_else(contention)
    }
}

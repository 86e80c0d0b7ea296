//! Deduplication records: one row an id, and one for each operation that ended before the last; shared by the two
//! repositories of one name.
//!
//! A call guesses what it will find and makes its change under the condition that it is there: one request. A refusal
//! brings the row as it is. That decides: it has the answer, or it is exchanged for the row that it should become.

mod ended;
mod log;
mod record;
mod row;
mod sent;

use std::sync::Arc;

use storagebox_core::backend::rules::IdState;
use storagebox_core::{DedupId, Entry, Error, ErrorKind, ListedRecord, Namespace, OpId, Page, Result};

use crate::client::{Client, Index, Kind, Look, OpenNamespace, Refusal, Transacted, Write, Wrote};
use crate::clock::Millis;
use crate::error;
use crate::page::{self, Position};
use crate::row::{Row, RowKey};

use log::Mark;
pub(crate) use record::Record;
pub(crate) use row::{CURRENT, DONE, ENDED, LEASED};
use sent::{Fate, Sent, at_once};

/// The partitions of the ids.
const IDS: &str = "ids";
/// What a listing shows.
const SHOWN: &str = "s = :done AND (attribute_not_exists(x) OR x > :past)";
/// How many others may change a row under one attempt before it pauses.
const MOST_BEATEN: u32 = 4;

/// The records of one name.
#[derive(Debug)]
pub(crate) struct Records {
    open: OpenNamespace,
}

/// What a call makes of the record that it finds.
#[derive(Debug)]
pub(crate) enum Step<T> {
    Answer(T),
    /// The id is to be in this state, and then this is the answer.
    Write(IdState<Millis>, T),
}

/// An id, the number that a call must find there, and the operation whose end it asks for, if it does.
pub(crate) type Named<'a> = (&'a DedupId, u64, Option<&'a OpId>);

impl Records {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace) -> Self {
        Self { open: OpenNamespace::new(client, Kind::Records, name) }
    }

    pub(crate) fn client(&self) -> &Client {
        self.open.client()
    }

    async fn key(&self, id: &DedupId) -> Result<RowKey> {
        Ok(RowKey::new(self.open.partition_of(IDS, id.as_str()).await?, id.as_str()))
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
        let shown = |look: Look| look.filter(SHOWN).value(":done", DONE).value(":past", past.0);
        let page = page::rows(&self.open, (IDS, Index::Table), position, limit, shown).await?;
        let listed = |row: &Row| {
            let id = DedupId::new(row.sort()?).map_err(|_| row.unreadable("its id is not valid"))?;
            Ok(self.read(Some(row), past)?.state.entry().cloned().map(|entry| ListedRecord { id, entry }))
        };
        let entries = page.entries.iter().filter_map(|row| listed(row).transpose()).collect::<Result<_>>()?;
        Ok(Page { entries, next: page.next })
    }

    /// A call that may be the first of its id: it guesses that nothing is known of it.
    ///
    /// It is judged by the record and by the time up to which everything had lapsed by every clock when the call began,
    /// so that one row is judged alike by all attempts. An attempt whose reply was lost asked for a row that the next
    /// one did not find, so it is settled by whatever that one is answered.
    pub(crate) async fn step<T: Clone + Send>(
        &self,
        operation: &'static str,
        (id, op): (&DedupId, &OpId),
        judge: impl Fn(&Record, Millis) -> Step<T> + Sync,
    ) -> Result<T> {
        let (past, sent) = (self.client().surely_past(), Sent::default());
        let attempt = || at_once(|| self.stepped((id, op), past, &judge, &sent));
        told(operation, self.client().settled(operation, attempt).await?)
    }

    /// Answers nothing where it cannot be told what became of a lost write.
    async fn stepped<T: Clone + Send>(
        &self,
        (id, op): (&DedupId, &OpId),
        past: Millis,
        judge: &(impl Fn(&Record, Millis) -> Step<T> + Sync),
        sent: &Sent<T>,
    ) -> Result<Option<T>> {
        let key = self.key(id).await?;
        let mut found = None;
        for _ in 0..MOST_BEATEN {
            let record = self.read(found.as_ref(), past)?;
            match sent.fate(&record.log) {
                Fate::Made(answer) => return Ok(Some(answer)),
                Fate::Unknown => return Ok(None),
                Fate::Not => {}
            }
            let record = self.knowing(record, id, Some(op), past).await?;
            let (state, answer) = match judge(&record, past) {
                Step::Answer(answer) => return Ok(Some(answer)),
                Step::Write(state, answer) => (state, answer),
            };
            let mark = Mark::fresh(record.last);
            let row = record.becoming(&state, mark, &key, &self.open);
            sent.note(mark, answer.clone());
            match self.exchange(id, &record, row).await {
                Ok(Wrote::Done(_)) => return Ok(Some(answer)),
                Ok(Wrote::Refused(row)) => found = row,
                Err(error) => return Err(sent.failed(error)),
            }
        }
        Err(contention())
    }

    /// Puts the row in place of the one that was seen, which its latest mark names, or of none. The operation that was
    /// over there gets its own row with it.
    async fn exchange(&self, id: &DedupId, seen: &Record, row: Row) -> Result<Wrote> {
        let put = match seen.log.latest() {
            None => Write::put(row).only_if("attribute_not_exists(pk)"),
            Some(mark) => Write::put(row).only_if("h[0] = :seen").value(":seen", mark),
        };
        let Some(ended) = &seen.ended else { return self.client().write(&put).await };
        match self.client().transact(&[put, self.fence(id, ended)]).await? {
            Transacted::Done => Ok(Wrote::Done(None)),
            Transacted::Refused(refusals) => match refusals.into_iter().next() {
                Some(Refusal::Condition(row)) => Ok(Wrote::Refused(row)),
                _ => Err(contention()),
            },
        }
    }

    /// A call that names a version or a lease, and so the number that it must find: it guesses that it is there.
    ///
    /// A refusal is judged by the record; one that this does not explain is met by another attempt.
    pub(crate) async fn change<T: Clone + Send>(
        &self,
        operation: &'static str,
        (id, number, op): Named<'_>,
        change: impl Fn(&RowKey) -> (Write, T) + Sync,
        refused: impl Fn(&Record) -> Option<T> + Sync,
    ) -> Result<T> {
        let sent = Sent::default();
        let attempt = || at_once(|| self.changed((id, number, op), &change, &refused, &sent));
        told(operation, self.client().settled(operation, attempt).await?)
    }

    /// As [`Self::stepped`].
    async fn changed<T: Clone + Send>(
        &self,
        (id, number, op): Named<'_>,
        change: &(impl Fn(&RowKey) -> (Write, T) + Sync),
        refused: &(impl Fn(&Record) -> Option<T> + Sync),
        sent: &Sent<T>,
    ) -> Result<Option<T>> {
        let key = self.key(id).await?;
        let (write, answer) = change(&key);
        let mark = Mark::fresh(number);
        sent.note(mark, answer.clone());
        let past = self.client().surely_past();
        let check = |row: &Row| self.read(Some(row), past).map(drop);
        let row = match self.client().write_to(&key, &mark.on(write), check).await {
            Ok(Wrote::Done(_)) => return Ok(Some(answer)),
            Ok(Wrote::Refused(row)) => row,
            Err(error) => return Err(sent.failed(error)),
        };
        let record = self.read(row.as_ref(), past)?;
        match sent.fate(&record.log) {
            Fate::Made(answer) => return Ok(Some(answer)),
            Fate::Unknown => return Ok(None),
            Fate::Not => {}
        }
        let record = self.knowing(record, id, op, past).await?;
        refused(&record).map(Some).ok_or_else(contention)
    }
}

fn told<T>(operation: &'static str, answer: Option<T>) -> Result<T> {
    let why = "an answer was lost, and others wrote too much since to tell what became of it";
    answer.ok_or_else(|| Error::unknown(why).on("dynamo").during(operation))
}

fn contention() -> Error {
    Error::new(ErrorKind::Contention, error::CONFLICT).on("dynamo")
}

//! Deduplication records, shared by the two repositories of one name.

use redb::{ReadableTable, TableDefinition};
use storagebox_core::{DedupId, Entry, Fence, OpId, Payload, Result, Retention, Version};

use crate::client::Step;
use crate::error::Stepped;
use crate::time::{end_of, is_forgotten};

/// A row: the operation, the fingerprint, the fence of the lease or 0, the end of the lease or of the retention, and
/// the result.
type Row<'a> = (&'a str, Option<Print<'a>>, u64, i64, Option<Stored<'a>>);
/// A fingerprint, and whether the lease inherited it from a lapsed lease.
type Print<'a> = (&'a str, bool);
/// A result: the version, the value and, if `replace` wrote it, the operation and the replaced version.
type Stored<'a> = (u64, &'a [u8], Option<(&'a str, u64)>);

/// The leases and records, by namespace and id.
pub(crate) const RECORDS: TableDefinition<(&str, &str), Row<'static>> = TableDefinition::new("records");

/// The times at which operations ended, by namespace, id and operation. Repeated calls of ended operations change
/// nothing (D-7).
pub(crate) const ENDED: TableDefinition<(&str, &str, &str), i64> = TableDefinition::new("ended");

/// The row of an id: a lease until a result is recorded, and then a record.
#[derive(Debug)]
pub(crate) struct Record {
    /// The operation, or an empty text if the row only keeps the fingerprint of a lapsed lease.
    pub(crate) op: String,
    pub(crate) fingerprint: Option<String>,
    /// Whether the fingerprint comes from an earlier, lapsed lease. An abort keeps such a fingerprint (D-6).
    pub(crate) is_inherited: bool,
    /// The fence of the lease, or 0 for a record that was written without a lease.
    pub(crate) fence: u64,
    pub(crate) until: i64,
    pub(crate) result: Option<Outcome>,
}

/// A result. If `replace` wrote the result, `replaced` contains the operation of `replace` and the replaced version.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) entry: Entry,
    pub(crate) replaced: Option<(String, Version)>,
}

impl Record {
    pub(crate) fn of_row((op, fingerprint, fence, until, stored): Row<'_>) -> Result<Self> {
        let result = stored.map(outcome).transpose()?;
        let is_inherited = fingerprint.is_some_and(|(_, is_inherited)| is_inherited);
        let fingerprint = fingerprint.map(|(text, _)| text.to_owned());
        Ok(Self { op: op.to_owned(), fingerprint, is_inherited, fence, until, result })
    }

    pub(crate) fn entry(&self) -> Option<&Entry> {
        self.result.as_ref().map(|result| &result.entry)
    }

    /// Returns whether the retention of a record is over (D-4). Returns false for a lease.
    pub(crate) fn is_expired(&self, now: i64) -> bool {
        self.result.is_some() && self.until <= now
    }
}

fn outcome((version, value, replaced): Stored<'_>) -> Result<Outcome> {
    let entry = Entry { value: Payload::new(value.to_vec())?, version: Version::new(version) };
    Ok(Outcome { entry, replaced: replaced.map(|(op, version)| (op.to_owned(), Version::new(version))) })
}

/// The row of an id within a step, if the id has one.
pub(crate) struct Slot<'s> {
    step: &'s Step,
    key: (&'s str, &'s str),
    pub(crate) record: Option<Record>,
}

impl<'s> Slot<'s> {
    /// Reads the row of an id, and ends the record if its retention is over.
    pub(crate) fn of(step: &'s Step, name: &'s str, id: &'s DedupId) -> Stepped<Self> {
        let key = (name, id.as_str());
        let record = step.table(RECORDS)?.get(key)?.map(|row| Record::of_row(row.value())).transpose()?;
        let mut slot = Self { step, key, record };
        if let Some(until) = slot.record.as_ref().filter(|record| record.is_expired(step.now)).map(|it| it.until) {
            slot.end(until)?;
        }
        Ok(slot)
    }

    /// Returns whether the store still remembers that the operation has ended (D-7).
    pub(crate) fn has_ended(&self, op: &OpId) -> Stepped<bool> {
        let ended = self.step.table(ENDED)?.get((self.key.0, self.key.1, op.as_str()))?.map(|since| since.value());
        Ok(ended.is_some_and(|since| !is_forgotten(since, self.step.now)))
    }

    /// Deletes the row, and stores that its operation ended at the time `since`.
    pub(crate) fn end(&mut self, since: i64) -> Stepped<()> {
        if let Some(record) = self.record.take() {
            self.fence(&record.op, since)?;
            self.remove()?;
        }
        Ok(())
    }

    pub(crate) fn fence(&self, op: &str, since: i64) -> Stepped<()> {
        self.step.edit(ENDED)?.insert((self.key.0, self.key.1, op), since)?;
        Ok(())
    }

    pub(crate) fn remove(&self) -> Stepped<()> {
        self.step.edit(RECORDS)?.remove(self.key)?;
        Ok(())
    }

    pub(crate) fn put(&self, record: &Record) -> Stepped<()> {
        let stored = record.result.as_ref().map(|Outcome { entry, replaced }| {
            let replaced = replaced.as_ref().map(|(op, version)| (op.as_str(), version.number()));
            (entry.version.number(), entry.value.as_bytes(), replaced)
        });
        let print = record.fingerprint.as_deref().map(|text| (text, record.is_inherited));
        let row = (record.op.as_str(), print, record.fence, record.until, stored);
        self.step.edit(RECORDS)?.insert(self.key, row)?;
        Ok(())
    }

    /// Stores the result of an operation, or of a lease that completes.
    pub(crate) fn finish(
        &self,
        op: &OpId,
        lease: Option<(Fence, Option<String>)>,
        value: &Payload,
        retention: Retention,
    ) -> Stepped<Entry> {
        let entry = Entry { value: value.clone(), version: self.next_version()? };
        let (fence, fingerprint) = lease.map_or((0, None), |(fence, fingerprint)| (fence.number(), fingerprint));
        let result = Some(Outcome { entry: entry.clone(), replaced: None });
        let until = end_of(self.step.now, retention);
        self.put(&Record { op: op.as_str().to_owned(), fingerprint, is_inherited: false, fence, until, result })?;
        Ok(entry)
    }

    pub(crate) fn next_version(&self) -> Stepped<Version> {
        self.step.next_number().map(Version::new)
    }
}

/// Ends expired records, and deletes lapsed leases and ended operations that may be forgotten.
pub(crate) fn maintain(step: &Step, most: usize) -> Stepped<usize> {
    let now = step.now;
    let mut deleted = fence_expired(step, most)?;
    deleted += step
        .delete(RECORDS, most - deleted, |_, (_, _, _, until, result)| result.is_none() && is_forgotten(until, now))?;
    Ok(deleted + step.delete(ENDED, most - deleted, |_, since| is_forgotten(since, now))?)
}

fn fence_expired(step: &Step, most: usize) -> Stepped<usize> {
    let (mut records, mut ended, mut deleted) = (step.edit(RECORDS)?, step.edit(ENDED)?, 0);
    let is_expired = |_: (&str, &str), (_, _, _, until, result): Row<'_>| result.is_some() && until <= step.now;
    for gone in records.extract_if(is_expired)?.take(most) {
        let (key, row) = gone?;
        let ((name, id), (op, _, _, until, _)) = (key.value(), row.value());
        ended.insert((name, id, op), until)?;
        deleted += 1;
    }
    Ok(deleted)
}

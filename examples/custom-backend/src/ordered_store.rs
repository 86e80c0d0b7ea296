//! Ordered values: the newest stamp wins, a delete leaves a tombstone.

use std::cmp::Ordering;
use std::ops::Bound;
use std::time::Duration;

use redb::{ReadableTable, TableDefinition};
use storagebox_core::backend::{OrderedRules, PageRequest, micros};
use storagebox_core::{
    Cursor, Key, ListedValue, Maintained, OrderedOptions, OrderedStore, Page, Payload, Reset, Result, Stamp, Versioned,
    WriterId, Written, async_trait,
};

use crate::client::{BACKEND, Look, Step};
use crate::error::Stepped;
use crate::space::Space;
use crate::time::{NEVER, millis};

/// A row: the number and the writer of the stamp, the value or `None` for a delete, the time of the write, and the time
/// after which upkeep may delete the row.
type Row<'a> = (i64, &'a str, Option<&'a [u8]>, i64, i64);

/// The newest write of each key, by namespace and key.
pub(crate) const VALUES: TableDefinition<(&str, &str), Row<'static>> = TableDefinition::new("values");

#[derive(Debug)]
pub(crate) struct RedbOrderedStore {
    space: Space,
    rules: OrderedRules,
}

impl RedbOrderedStore {
    pub(crate) fn new(space: Space, options: OrderedOptions) -> Result<Self> {
        let rules = OrderedRules::of(BACKEND, options)?;
        Ok(Self { space: space.with_options("ordered", rules.to_stored_text()), rules })
    }

    async fn write(&self, operation: &'static str, key: &Key, value: Option<&Payload>, at: &Stamp) -> Result<Written> {
        let write = Write { key: key.clone(), value: value.cloned(), stamp: at.clone(), rules: self.rules };
        self.space.write(operation, move |step, name| write.make(step, name)).await
    }
}

/// A `put`, or a `delete` if there is no value.
struct Write {
    key: Key,
    value: Option<Payload>,
    stamp: Stamp,
    rules: OrderedRules,
}

impl Write {
    fn make(&self, step: &Step, name: &str) -> Stepped<Written> {
        if let Some(refused) = self.rules.refused(&self.stamp, millis(step.now)) {
            return Err(refused.into());
        }
        let key = (name, self.key.as_str());
        let decided = step.table(VALUES)?.get(key)?.map(|row| self.beside(row.value())).transpose()?;
        if let Some(decided) = decided.flatten() {
            return Ok(decided);
        }
        if let Some(horizon) = horizon(&self.rules, step.now).filter(|horizon| self.stamp.at < *horizon) {
            return Ok(Written::TooOld { horizon });
        }
        let value = self.value.as_ref().map(Payload::as_bytes);
        let row = (self.stamp.at, self.stamp.writer.as_str(), value, step.now, self.kept_until(step.now));
        step.edit(VALUES)?.insert(key, row)?;
        Ok(Written::Applied)
    }

    /// Compares this write to the stored write of the same key. Returns the outcome of this write, or `None` if this
    /// write is newer (O-2).
    fn beside(&self, (at, writer, value, ..): Row<'_>) -> Result<Option<Written>> {
        let current = Stamp::new(at, WriterId::new(writer)?);
        let (mine, is_delete) = (self.value.as_ref().map(Payload::as_bytes), self.value.is_none());
        // For equal stamps, a delete is newer than a put.
        Ok(match (&self.stamp, is_delete).cmp(&(&current, value.is_none())) {
            Ordering::Greater => None,
            Ordering::Less => Some(Written::Stale { current }),
            Ordering::Equal if mine == value => Some(Written::Duplicate),
            Ordering::Equal => Some(Written::Mismatch),
        })
    }

    /// Returns the time after which upkeep may delete the row, or `NEVER` for a value. A tombstone is kept for the
    /// tombstone age, and at least until the stamp is below the purge horizon (O-3).
    fn kept_until(&self, now: i64) -> i64 {
        let Some(age) = self.rules.keeps().filter(|_| self.value.is_none()) else { return NEVER };
        let behind = self.stamp.at.saturating_add(1).saturating_mul(1_000).saturating_add(age);
        now.saturating_add(age).max(behind)
    }
}

/// Returns the oldest time stamp that is accepted, in milliseconds. Returns `None` for sequence numbers.
fn horizon(rules: &OrderedRules, now: i64) -> Option<i64> {
    rules.keeps().map(|age| millis(now.saturating_sub(age)))
}

/// Deletes the row of a key if the row has this stamp (O-6).
fn reset(step: &Step, key: (&str, &str), named: &Stamp) -> Stepped<Reset> {
    let current = step.table(VALUES)?.get(key)?.map(|row| stamp(row.value())).transpose()?;
    match current {
        None => Ok(Reset::Absent),
        Some(current) if current != *named => Ok(Reset::Stale { current }),
        Some(_) => {
            step.edit(VALUES)?.remove(key)?;
            Ok(Reset::Reset)
        }
    }
}

fn stamp((at, writer, ..): Row<'_>) -> Result<Stamp> {
    Ok(Stamp::new(at, WriterId::new(writer)?))
}

fn get(look: &Look, name: &str, key: &Key) -> Stepped<Option<Versioned>> {
    let row = look.table(VALUES)?.get((name, key.as_str()))?;
    Ok(row.map(|row| versioned(row.value())).transpose()?.flatten())
}

fn versioned((at, writer, value, ..): Row<'_>) -> Result<Option<Versioned>> {
    let Some(value) = value else { return Ok(None) };
    Ok(Some(Versioned { value: Payload::new(value.to_vec())?, stamp: Stamp::new(at, WriterId::new(writer)?) }))
}

fn list(look: &Look, name: &str, prefix: &str, listing: &PageRequest) -> Stepped<Vec<ListedValue>> {
    let first = if listing.after() < prefix { Bound::Included(prefix) } else { Bound::Excluded(listing.after()) };
    let rows = look.rows(VALUES, name, first)?;
    let listed =
        rows.take_while(|row| row.as_ref().map_or(true, |(key, _)| key.starts_with(prefix))).filter_map(|row| {
            let listed = row.and_then(|(key, row)| {
                let Some(versioned) = versioned(row.value())? else { return Ok(None) };
                Ok(Some(ListedValue { key: Key::new(key)?, versioned }))
            });
            listed.transpose()
        });
    listed.take(listing.limit() as usize).collect()
}

/// Deletes tombstones that need not be kept any more.
pub(crate) fn maintain(step: &Step, most: usize) -> Stepped<usize> {
    let now = step.now;
    step.delete(VALUES, most, |_, (.., until)| until <= now)
}

#[async_trait]
impl OrderedStore for RedbOrderedStore {
    async fn put(&self, key: &Key, value: &Payload, stamp: &Stamp) -> Result<Written> {
        self.write("put", key, Some(value), stamp).await
    }

    async fn delete(&self, key: &Key, stamp: &Stamp) -> Result<Written> {
        self.write("delete", key, None, stamp).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Versioned>> {
        let key = key.clone();
        self.space.read("get", move |look, name| get(look, name, &key)).await
    }

    async fn list(&self, prefix: Option<&Key>, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedValue>> {
        let listing = PageRequest::of::<Key>(BACKEND, cursor, limit)?;
        let (asked, prefix) = (listing.clone(), prefix.map_or("", Key::as_str).to_owned());
        let entries = self.space.read("list", move |look, name| list(look, name, &prefix, &asked)).await?;
        Ok(listing.page(entries, |last: &ListedValue| last.key.as_str()))
    }

    async fn reset(&self, key: &Key, stamp: &Stamp) -> Result<Reset> {
        let (key, stamp) = (key.clone(), stamp.clone());
        self.space.write("reset", move |step, name| reset(step, (name, key.as_str()), &stamp)).await
    }

    async fn purge(&self, age: Duration, limit: usize) -> Result<Maintained> {
        let (age, rules) = (micros(self.rules.purged(age)), self.rules);
        let step = move |step: &Step, name: &str| {
            let (now, arrived_by) = (step.now, step.now.saturating_sub(age));
            step.delete(VALUES, limit, |(of, _), (_, _, value, arrived, until)| {
                of == name && value.is_none() && arrived <= arrived_by && (!rules.is_timed() || until <= now)
            })
        };
        let deleted = self.space.write("purge", step).await?;
        Ok(Maintained { deleted: deleted as u64, more: deleted == limit })
    }
}

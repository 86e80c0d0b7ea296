//! Ordered values: article 4's ratchet. A value and a tombstone are each written by one conditional `PutItem`.

mod plan;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::backend::OrderedRules;
use storagebox_core::{
    Cursor, Key, ListedValue, Maintained, Namespace, OrderedOptions, OrderedStore, Page, Payload, Reset, Result, Stamp,
    Stamping, Versioned, WriterId, Written, async_trait,
};
use tracing::instrument;

use crate::client::{Client, Index, Kind, OpenNamespace, Query, Tag, Write, Wrote};
use crate::clock::Millis;
use crate::page::{self, Position};
use crate::row::{Row, RowKey};

/// The condition that the write is newer than the row: by time, then by writer, and then a delete is newer than a put
/// (O-2).
const NEWEST: &str = "attribute_not_exists(pk) OR a < :a OR (a = :a AND (w < :w OR (w = :w AND k < :k)))";

const PURGE: &str = "purge";

#[derive(Debug)]
pub(crate) struct DynamoOrderedStore {
    open: OpenNamespace,
    rules: OrderedRules,
}

/// Returns the rank of a write among writes with the same stamp: a delete wins over a put.
fn rank(value: Option<&Payload>) -> i64 {
    i64::from(value.is_none())
}

impl DynamoOrderedStore {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace, options: OrderedOptions) -> Result<Self> {
        let rules = OrderedRules::of("dynamo", options)?;
        let open = OpenNamespace::new(client, Kind::Ordered, name).with_options(to_stored_text(options));
        Ok(Self { open, rules })
    }

    fn client(&self) -> &Client {
        self.open.client()
    }

    async fn key(&self, key: &Key) -> Result<RowKey> {
        self.open.key_of("keys", key.as_str()).await
    }

    async fn write(&self, key: &Key, stamp: &Stamp, value: Option<&Payload>, tag: &Tag) -> Result<Written> {
        let key = self.key(key).await?;
        let now = self.client().now().0;
        if let Some(refused) = self.rules.refused(stamp, now) {
            return Err(refused);
        }
        if let Some(horizon) = self.rules.horizon(now).filter(|horizon| stamp.at < *horizon) {
            let row = self.client().get(&key).await?;
            return Ok(judge(row.as_ref(), stamp, value)?.unwrap_or(Written::TooOld { horizon }));
        }
        match self.client().write(&self.writing(&key, stamp, value, tag)).await? {
            Wrote::Done(_) => Ok(Written::Applied),
            Wrote::Refused(Some(row)) if tag.is_on(&row) => Ok(Written::Applied),
            Wrote::Refused(row) => Ok(judge(row.as_ref(), stamp, value)?.unwrap_or(Written::Applied)),
        }
    }

    /// Returns the write of a value or a tombstone, under the condition that the write is newer than the row.
    fn writing(&self, key: &RowKey, stamp: &Stamp, value: Option<&Payload>, tag: &Tag) -> Write {
        let write = Write::put(self.row(key, stamp, value)).tagged(tag).only_if(NEWEST);
        write.value(":a", stamp.at).value(":w", stamp.writer.as_str()).value(":k", rank(value))
    }

    fn row(&self, key: &RowKey, stamp: &Stamp, value: Option<&Payload>) -> Row {
        let row = Row::new(key).with("a", stamp.at).with("w", stamp.writer.as_str()).with("k", rank(value));
        match value {
            Some(value) => row.with("v", value.as_bytes()),
            None => self.buried(row, stamp),
        }
    }

    /// Makes the row a tombstone, whose key in the index is the time from which its age counts. With time stamps, the
    /// row may be deleted once no older stamp is accepted. With sequence numbers, only `purge` deletes the row (O-3).
    fn buried(&self, row: Row, stamp: &Stamp) -> Row {
        let arrived = self.client().now();
        if !self.rules.is_timed() {
            return row.with("o", buried_at(arrived));
        }
        let since = arrived.max(Millis(stamp.at.saturating_add(1)));
        let skew = self.client().settings().max_skew;
        let forgotten = since.after(self.rules.tombstone_age()).after(skew).after(skew);
        row.with("o", buried_at(since)).expiring(Some(self.client().expiry(forgotten)))
    }

    /// Returns the time up to which `purge` with this age deletes tombstones.
    fn purgeable(&self, age: Duration) -> Millis {
        if !self.rules.is_timed() {
            return self.client().now().before(age);
        }
        let skew = self.client().settings().max_skew;
        self.client().surely_past().before(self.rules.purged(age)).before(skew).before(skew)
    }

    /// Deletes the row if it still has this stamp (O-6).
    async fn reset_once(&self, key: &Key, stamp: &Stamp) -> Result<Reset> {
        let delete = Write::delete(&self.key(key).await?).only_if("a = :a AND w = :w");
        match self.client().write(&delete.value(":a", stamp.at).value(":w", stamp.writer.as_str())).await? {
            Wrote::Done(_) => Ok(Reset::Reset),
            Wrote::Refused(None) => Ok(Reset::Absent),
            Wrote::Refused(Some(row)) => Ok(Reset::Stale { current: stamp_of(&row)? }),
        }
    }

    async fn purge_up_to(&self, age: Duration, limit: usize) -> Result<Maintained> {
        let client = self.client();
        let (mut deleted, end) = (0, buried_at(self.purgeable(age)));
        for shard in 0..client.settle(PURGE, || self.open.shards()).await? {
            let mut from = None;
            loop {
                let room = limit.saturating_sub(usize::try_from(deleted).unwrap_or(usize::MAX));
                if room == 0 {
                    return Ok(Maintained { deleted, more: true });
                }
                let query = Query::of(&self.open.partition("keys", shard), Index::Order).and("o <= :end");
                let query = query.value(":end", end.as_str()).limit(room.min(1_000)).from(from);
                let page = client.settle(PURGE, || client.query(&query)).await?;
                for row in &page.rows {
                    deleted += u64::from(self.purged(row).await?);
                }
                from = page.next;
                if from.is_none() {
                    break;
                }
            }
        }
        Ok(Maintained { deleted, more: false })
    }

    /// Deletes a tombstone if its key in the index is still the one that was read.
    async fn purged(&self, row: &Row) -> Result<bool> {
        let place = row.needed("o", row.text("o"))?;
        self.client().deleted(PURGE, &Write::delete(&row.key()?).only_if("o = :o").value(":o", place)).await
    }
}

/// Returns the stored text of the options, which does not change between versions. The skew is not stored, because it
/// limits new writes and says nothing about stored values.
fn to_stored_text(options: OrderedOptions) -> String {
    let stamping = match options.stamping {
        Stamping::Time { .. } => Stamping::Time { max_skew: None },
        Stamping::Sequence => Stamping::Sequence,
    };
    format!("{:?}", OrderedOptions { stamping, ..options })
}

/// Returns a stored text without the skew that an earlier version stored.
pub(crate) fn without_skew(stored: &str) -> Cow<'_, str> {
    let parts = stored.split_once("max_skew: Some(").and_then(|(before, rest)| Some((before, rest.split_once(')')?.1)));
    parts.map_or(Cow::Borrowed(stored), |(before, after)| Cow::Owned(format!("{before}max_skew: None{after}")))
}

fn buried_at(since: Millis) -> String {
    format!("{:016x}", since.0.max(0))
}

/// Returns the outcome of a write that is not newer than the row; `None` for a newer write.
fn judge(row: Option<&Row>, stamp: &Stamp, value: Option<&Payload>) -> Result<Option<Written>> {
    let Some(row) = row else { return Ok(None) };
    row.needed("k", row.number::<i64>("k"))?;
    let (current, last) = (stamp_of(row)?, row.maybe("v", Row::bytes)?);
    Ok(OrderedRules::compare((stamp, value.map(Payload::as_bytes)), (&current, last)))
}

fn stamp_of(row: &Row) -> Result<Stamp> {
    let at = row.needed("a", row.number("a"))?;
    let writer = row.valid("writer id", WriterId::new(row.needed("w", row.text("w"))?))?;
    Ok(Stamp::new(at, writer))
}

/// Returns the value; `None` for a tombstone.
fn live(row: &Row) -> Result<Option<Versioned>> {
    let Some(value) = row.maybe("v", Row::bytes)? else { return Ok(None) };
    let value = row.valid("value", Payload::try_from(value))?;
    Ok(Some(Versioned { value, stamp: stamp_of(row)? }))
}

#[async_trait]
impl OrderedStore for DynamoOrderedStore {
    #[instrument(level = "trace", skip_all)]
    async fn put(&self, key: &Key, value: &Payload, stamp: &Stamp) -> Result<Written> {
        let tag = Tag::fresh();
        self.client().settle("put", || self.write(key, stamp, Some(value), &tag)).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn delete(&self, key: &Key, stamp: &Stamp) -> Result<Written> {
        let tag = Tag::fresh();
        self.client().settle("delete", || self.write(key, stamp, None, &tag)).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn get(&self, key: &Key) -> Result<Option<Versioned>> {
        let attempt = || async move {
            let row = self.client().get(&self.key(key).await?).await?;
            row.as_ref().map_or(Ok(None), live)
        };
        self.client().settle("get", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, prefix: Option<&Key>, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedValue>> {
        let position = &Position::read(cursor, limit)?;
        let attempt = || async move {
            let narrowed = |query: Query| match prefix {
                Some(prefix) => query.and("begins_with(sk, :prefix)").value(":prefix", prefix.as_str()),
                None => query,
            };
            let live_only = |query| narrowed(query).filter("attribute_exists(v)");
            let page = page::rows(&self.open, ("keys", Index::Table), position, limit, live_only).await?;
            let entries = page.entries.iter().filter_map(|row| listed(row).transpose());
            Ok(Page { entries: entries.collect::<Result<_>>()?, next: page.next })
        };
        self.client().settle("list", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn reset(&self, key: &Key, stamp: &Stamp) -> Result<Reset> {
        self.client().settle("reset", || self.reset_once(key, stamp)).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn purge(&self, age: Duration, limit: usize) -> Result<Maintained> {
        self.purge_up_to(age, limit).await
    }
}

fn listed(row: &Row) -> Result<Option<ListedValue>> {
    let Some(versioned) = live(row)? else { return Ok(None) };
    let key = row.valid("key", Key::new(row.sort()?))?;
    Ok(Some(ListedValue { key, versioned }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::fuzz;

    #[test]
    fn the_skew_is_not_stored_and_a_stored_skew_is_ignored() {
        let stored = "OrderedOptions { stamping: Time { max_skew: None }, tombstone_age: 604800s }";
        assert_eq!(to_stored_text(OrderedOptions::time()), stored);
        assert_eq!(
            to_stored_text(OrderedOptions::sequence()),
            "OrderedOptions { stamping: Sequence, tombstone_age: 604800s }"
        );
        let before = "OrderedOptions { stamping: Time { max_skew: Some(3600s) }, tombstone_age: 604800s }";
        assert_eq!(without_skew(before), stored);
        for other in [stored, "", "TokenSet of 9", "max_skew: Some("] {
            assert_eq!(without_skew(other), other);
        }
    }

    #[test]
    fn fuzz_value_row_is_read_or_corrupt() {
        let row = Row::new(&RowKey::new("keys", "key")).with("a", 5_i64).with("w", "ada").with("k", 0_i64);
        let known = [row.clone().with("v", b"value".as_slice()), row.with("k", 1_i64).with("o", buried_at(Millis(7)))];
        let judged = |row: &Row| {
            let stamp = Stamp::new(5, WriterId::new("ada")?);
            judge(Some(row), &stamp, None).map(drop)
        };
        fuzz(&known, &[judged, |row| listed(row).map(drop)]);
    }
}

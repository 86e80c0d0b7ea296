//! Ordered values: the newest stamp wins, and a delete leaves a tombstone (`sql/ordered_store`).

use std::sync::Arc;
use std::time::Duration;

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use storagebox_core::backend::{OrderedRules, PageRequest, micros};
use storagebox_core::{
    Cursor, Key, ListedValue, Maintained, Namespace, OrderedOptions, OrderedStore, Page, Payload, Reset, Result, Stamp,
    Versioned, WriterId, Written, async_trait,
};
use tracing::instrument;

use crate::client::{Client, Kind, OpenNamespace, Step};
use crate::error::{read, unreadable};

const KNOWN: &str = include_str!("../sql/ordered_store/known.sql");
const WRITE: &str = include_str!("../sql/ordered_store/write.sql");
const RESET: &str = include_str!("../sql/ordered_store/reset.sql");
const GET: &str = include_str!("../sql/ordered_store/get.sql");
const LIST: &str = include_str!("../sql/ordered_store/list.sql");
const PURGE: &str = include_str!("../sql/ordered_store/purge.sql");

#[derive(Debug)]
pub(crate) struct SqliteOrderedStore {
    values: Arc<OpenNamespace>,
    rules: OrderedRules,
}

impl SqliteOrderedStore {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace, options: OrderedOptions) -> Result<Self> {
        let rules = OrderedRules::of("sqlite", options)?;
        let values =
            OpenNamespace::new(client, Kind::Ordered, name).with_options(rules.to_stored_text(), rules.keeps());
        Ok(Self { values: Arc::new(values), rules })
    }

    async fn write(&self, key: &Key, value: Option<&Payload>, stamp: &Stamp) -> Result<Written> {
        let operation = if value.is_some() { "put" } else { "delete" };
        let write = Write { key: key.clone(), value: value.cloned(), stamp: stamp.clone(), rules: self.rules };
        self.values.write(operation, write, |step, write| Box::pin(write.make(step))).await
    }
}

/// The arguments of `put`, or of `delete` if there is no value.
struct Write {
    key: Key,
    value: Option<Payload>,
    stamp: Stamp,
    rules: OrderedRules,
}

impl Write {
    async fn make(&self, step: &mut Step<'_>) -> Result<Written> {
        let value = self.value.as_ref().map(Payload::as_bytes);
        let row = step.row(step.ask(KNOWN).bind(self.key.as_str())).await?;
        let last = row.as_ref().map(last_write).transpose()?;
        let last = last.as_ref().map(|(stamp, value)| (stamp, *value));
        if let Some(answer) = self.rules.write((&self.stamp, value), last, step.now.millis())? {
            return Ok(answer);
        }
        let put = step.ask(WRITE).bind(self.key.as_str()).bind(self.stamp.at);
        let put = put.bind(self.stamp.writer.as_str()).bind(value).bind(step.now.0);
        step.change(put).await?;
        Ok(Written::Applied)
    }
}

fn last_write(row: &SqliteRow) -> Result<(Stamp, Option<&[u8]>)> {
    Ok((stamp(row)?, read("a value", row.try_get("value"))?))
}

fn stamp(row: &SqliteRow) -> Result<Stamp> {
    let writer: String = read("a stamp", row.try_get("writer"))?;
    let writer = WriterId::new(writer).map_err(|_| unreadable("a stamp"))?;
    Ok(Stamp::new(read("a stamp", row.try_get("at"))?, writer))
}

fn versioned(row: &SqliteRow) -> Result<Versioned> {
    let value: Vec<u8> = read("a value", row.try_get("value"))?;
    Ok(Versioned { value: Payload::new(value).map_err(|_| unreadable("a value"))?, stamp: stamp(row)? })
}

fn listed(row: &SqliteRow) -> Result<ListedValue> {
    let key: String = read("a key", row.try_get("key"))?;
    Ok(ListedValue { key: Key::new(key).map_err(|_| unreadable("a key"))?, versioned: versioned(row)? })
}

async fn reset(step: &mut Step<'_>, (key, named): &(Key, Stamp)) -> Result<Reset> {
    let Some(known) = step.row(step.ask(KNOWN).bind(key.as_str())).await? else { return Ok(Reset::Absent) };
    let current = stamp(&known)?;
    if current != *named {
        return Ok(Reset::Stale { current });
    }
    step.change(step.ask(RESET).bind(key.as_str())).await?;
    Ok(Reset::Reset)
}

type Purge = (OrderedRules, Duration, i64);

async fn purge(step: &mut Step<'_>, (rules, age, limit): &Purge) -> Result<u64> {
    let arrived = step.now.after(-micros(*age));
    let ask = step.ask(PURGE).bind(arrived.0).bind(rules.horizon(step.now.millis())).bind(*limit);
    step.change(ask).await
}

#[async_trait]
impl OrderedStore for SqliteOrderedStore {
    #[instrument(level = "trace", skip_all)]
    async fn put(&self, key: &Key, value: &Payload, stamp: &Stamp) -> Result<Written> {
        self.write(key, Some(value), stamp).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn delete(&self, key: &Key, stamp: &Stamp) -> Result<Written> {
        self.write(key, None, stamp).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn get(&self, key: &Key) -> Result<Option<Versioned>> {
        let key = key.as_str().to_owned();
        let rows = self.values.look("get", GET, move |ask| ask.bind(key.clone())).await?;
        rows.first().map(versioned).transpose()
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, prefix: Option<&Key>, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedValue>> {
        let listing = PageRequest::of::<Key>("sqlite", cursor, limit)?;
        let (after, most, prefix) =
            (listing.after().to_owned(), listing.limit(), prefix.map_or("", Key::as_str).to_owned());
        let end = format!("{prefix}{}", "\u{10ffff}".repeat(128));
        let rows = self
            .values
            .look("list", LIST, move |ask| ask.bind(after.clone()).bind(most).bind(prefix.clone()).bind(end.clone()));
        let entries = rows.await?.iter().map(listed).collect::<Result<_>>()?;
        Ok(listing.page(entries, |last: &ListedValue| last.key.as_str()))
    }

    #[instrument(level = "trace", skip_all)]
    async fn reset(&self, key: &Key, stamp: &Stamp) -> Result<Reset> {
        let what = (key.clone(), stamp.clone());
        self.values.write("reset", what, |step, what| Box::pin(reset(step, what))).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn purge(&self, age: Duration, limit: usize) -> Result<Maintained> {
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        let what = (self.rules, self.rules.purged(age), most);
        let deleted = self.values.write("purge", what, |step, what| Box::pin(purge(step, what))).await?;
        Ok(Maintained { deleted, more: deleted == limit as u64 })
    }
}

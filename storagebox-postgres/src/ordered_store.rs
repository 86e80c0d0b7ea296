//! Ordered values: each call is one function of the schema (`sql/ordered_store`).

use std::sync::Arc;
use std::time::Duration;

use sqlx::Row;
use sqlx::postgres::PgRow;
use storagebox_core::backend::{OrderedRules, PageRequest, micros};
use storagebox_core::{
    Combined, Cursor, Key, ListedValue, Maintained, Namespace, OrderedOptions, OrderedStore, Page, Payload, Reset,
    Result, Stamp, Versioned, WriterId, Written, async_trait,
};
use tokio::time::Instant;
use tracing::instrument;

use crate::client::{AfterLostReply, Client, FunctionCall, Kind, OpenNamespace};
use crate::combining::{self, Combining, combine};
use crate::error::{read, unreadable};

/// The maximum number of writes in one statement.
const MOST: usize = 64;

#[derive(Debug)]
pub(crate) struct PostgresOrderedStore {
    values: Arc<Values>,
    combiner: Option<Combining<Write>>,
}

#[derive(Debug)]
struct Values {
    values: OpenNamespace,
    rules: OrderedRules,
}

/// A put, or a delete if `value` is `None`.
#[derive(Clone, Debug)]
struct Write {
    key: Key,
    value: Option<Payload>,
    stamp: Stamp,
}

combine!("write", Write -> Written, |write| write.key.clone() => Key);

impl PostgresOrderedStore {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace, options: OrderedOptions) -> Result<Self> {
        let rules = OrderedRules::of("postgres", options)?;
        let values =
            OpenNamespace::new(client, Kind::Ordered, name).with_options(rules.to_stored_text(), rules.keeps());
        let values = Arc::new(Values { values, rules });
        let combiner = combining::combiner(client, MOST, &values, Values::together);
        Ok(Self { values, combiner })
    }

    fn client(&self) -> &Client {
        self.values.client()
    }

    async fn write(&self, write: Write) -> Result<Written> {
        let deadline = self.client().deadline();
        let made_alone = |lost| self.values.alone(&write, AfterLostReply::after_batch(lost), deadline);
        let written = combining::call(self.combiner.as_ref(), self.client(), &write, made_alone).await;
        written.map_err(|error| error.during(if write.value.is_some() { "put" } else { "delete" }))
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl Values {
    fn client(&self) -> &Client {
        self.values.client()
    }

    async fn alone(&self, write: &Write, after_lost: AfterLostReply, deadline: Instant) -> Result<Written> {
        let attempt = |_| async {
            self.written(std::slice::from_ref(write)).await?.pop().ok_or_else(|| unreadable("ordered_write"))?
        };
        self.client().repeated(deadline, after_lost, attempt).await
    }

    async fn together(self: Arc<Self>, mut calls: Vec<Write>) -> Vec<Combined<Result<Written>>> {
        let places = combining::sort(&mut calls, |one, other| one.key.cmp(&other.key));
        let answers = combining::answers(self.client(), places, self.written(&calls)).await;
        answers.into_iter().map(flat).collect()
    }

    /// Makes the writes in one statement. `calls` must be sorted by key.
    async fn written(&self, calls: &[Write]) -> Result<Vec<Result<Written>>> {
        let call = FunctionCall::rows("ordered_write")
            .about(self.values.opened().await?)
            .with(calls.iter().map(|call| call.key.as_str()).collect::<Vec<_>>())
            .with(calls.iter().map(|call| call.stamp.at).collect::<Vec<_>>())
            .with(calls.iter().map(|call| call.stamp.writer.as_str()).collect::<Vec<_>>())
            .with(calls.iter().map(|call| call.value.as_ref().map(Payload::as_bytes)).collect::<Vec<_>>())
            .with(self.rules.is_timed())
            .with(self.rules.max_skew().map(millis))
            .with(millis(self.rules.tombstone_age()));
        let rows = self.client().rows(&call).await?;
        Ok(rows.iter().zip(calls).map(|(row, call)| self.outcome(row, &call.stamp)).collect())
    }

    fn outcome(&self, row: &PgRow, stamp: &Stamp) -> Result<Written> {
        const FUNCTION: &str = "ordered_write";
        match read::<String>(FUNCTION, row.try_get("outcome"))?.as_str() {
            "applied" => Ok(Written::Applied),
            "stale" => Ok(Written::Stale { current: found(row, FUNCTION)? }),
            "duplicate" => Ok(Written::Duplicate),
            "mismatch" => Ok(Written::Mismatch),
            "too old" => Ok(Written::TooOld { horizon: read(FUNCTION, row.try_get("at"))? }),
            "ahead" => Err(self.rules.ahead(stamp, read(FUNCTION, row.try_get("at"))?)),
            _ => Err(unreadable(FUNCTION)),
        }
    }
}

fn flat(answer: Combined<Result<Result<Written>>>) -> Combined<Result<Written>> {
    match answer {
        Combined::Answer(answer) => Combined::Answer(answer.and_then(|answer| answer)),
        Combined::RunAlone => Combined::RunAlone,
        Combined::Lost => Combined::Lost,
    }
}

fn found(row: &PgRow, function: &'static str) -> Result<Stamp> {
    let writer: String = read(function, row.try_get("writer"))?;
    let writer = WriterId::new(writer).map_err(|_| unreadable(function))?;
    Ok(Stamp::new(read(function, row.try_get("at"))?, writer))
}

fn was_reset(row: &PgRow) -> Result<Reset> {
    const FUNCTION: &str = "ordered_reset";
    match read::<String>(FUNCTION, row.try_get("outcome"))?.as_str() {
        "reset" => Ok(Reset::Reset),
        "absent" => Ok(Reset::Absent),
        "stale" => Ok(Reset::Stale { current: found(row, FUNCTION)? }),
        _ => Err(unreadable(FUNCTION)),
    }
}

fn versioned(row: &PgRow, function: &'static str) -> Result<Versioned> {
    let value: Vec<u8> = read(function, row.try_get("value"))?;
    let value = Payload::new(value).map_err(|_| unreadable(function))?;
    Ok(Versioned { value, stamp: found(row, function)? })
}

fn listed(row: &PgRow) -> Result<ListedValue> {
    let key: String = read("ordered_list", row.try_get("key"))?;
    let key = Key::new(key).map_err(|_| unreadable("ordered_list"))?;
    Ok(ListedValue { key, versioned: versioned(row, "ordered_list")? })
}

#[async_trait]
impl OrderedStore for PostgresOrderedStore {
    #[instrument(level = "trace", skip_all)]
    async fn put(&self, key: &Key, value: &Payload, stamp: &Stamp) -> Result<Written> {
        self.write(Write { key: key.clone(), value: Some(value.clone()), stamp: stamp.clone() }).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn delete(&self, key: &Key, stamp: &Stamp) -> Result<Written> {
        self.write(Write { key: key.clone(), value: None, stamp: stamp.clone() }).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn get(&self, key: &Key) -> Result<Option<Versioned>> {
        let attempt = || async move {
            let call = FunctionCall::rows("ordered_get").about(self.values.values.opened().await?).with(key.as_str());
            self.client().rows(&call).await?.first().map(|row| versioned(row, "ordered_get")).transpose()
        };
        self.client().settle("get", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, prefix: Option<&Key>, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedValue>> {
        let listing = &PageRequest::of::<Key>("postgres", cursor, limit)?;
        let attempt = || async {
            let call = FunctionCall::rows("ordered_list")
                .about(self.values.values.opened().await?)
                .with(prefix.map_or("", Key::as_str))
                .with(listing.after())
                .with(listing.limit());
            let entries = self.client().rows(&call).await?.iter().map(listed).collect::<Result<_>>()?;
            Ok(listing.page(entries, |last: &ListedValue| last.key.as_str()))
        };
        self.client().settle("list", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn reset(&self, key: &Key, stamp: &Stamp) -> Result<Reset> {
        let attempt = || async move {
            let call = FunctionCall::rows("ordered_reset")
                .about(self.values.values.opened().await?)
                .with(key.as_str())
                .with(stamp.at)
                .with(stamp.writer.as_str());
            was_reset(&self.client().row(&call).await?)
        };
        self.client().settle("reset", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn purge(&self, age: Duration, limit: usize) -> Result<Maintained> {
        let rules = self.values.rules;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let attempt = || async move {
            let call = FunctionCall::value("ordered_purge")
                .about(self.values.values.opened().await?)
                .with(micros(rules.purged(age)))
                .with(rules.is_timed().then(|| millis(rules.tombstone_age())))
                .with(limit);
            let deleted: i64 = read("ordered_purge", self.client().row(&call).await?.try_get(0))?;
            Ok(Maintained { deleted: deleted.unsigned_abs(), more: deleted == limit })
        };
        self.client().settle("purge", attempt).await
    }
}

//! Ledgers: one row per change; a read of the value adds them up (article 5, approach 6).
//!
//! The key of a change's row contains the operation, so a retry meets the same row. The index orders the rows by time,
//! and the log is read from it. Compaction writes the sum of some changes and their names into one row, in one write,
//! and then deletes these changes. A reader leaves out the changes that the sum names, so compaction never changes the
//! value. If a compaction stops half-way, the next compaction repeats the missing steps.

mod compaction;
mod log;
mod recent;
mod rows;

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Attempt, Cancelled, Change, Counted, Counter, CounterPromise, Cursor, Error, ErrorKind, Key, Ledger, LedgerEntry,
    Maintained, Namespace, OpId, Page, Result, async_trait,
};
use tracing::instrument;

use super::rules::{Rules, unsupported};
use super::values::Values;
use crate::client::{Client, Index, Query, Tag, Wrote};
use crate::config::Regions;
use crate::error::contention;
use crate::row::Row;

use recent::Recent;
use rows::{Sum, change_key, delta_in, entry, is_by, sum_key};

#[derive(Debug)]
pub(crate) struct DynamoLedger {
    rules: Rules,
    values: Values,
    recent: Recent,
    /// Whether several regions may change the ledger. If so, no call deletes or overwrites an entry.
    is_everywhere: bool,
}

/// The stored text of a ledger in several regions. The text does not change between versions.
const EVERYWHERE: &str = "Ledger in several regions";

impl DynamoLedger {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace) -> Self {
        let (rules, recent) = (Rules::ledger(), Recent::default());
        let is_everywhere = client.settings().regions == Regions::Several;
        let values = match is_everywhere {
            true => Values::new(client, name, EVERYWHERE.to_owned()).everywhere(),
            false => Values::new(client, name, rules.to_stored_text()),
        };
        Self { rules, values, recent, is_everywhere }
    }

    /// Refuses a call that deletes or overwrites entries if several regions may change the ledger.
    fn check_one_region(&self, what: &str, instead: &str) -> Result<()> {
        match self.is_everywhere {
            true => Err(unsupported(format_args!("{what} a ledger in several regions"), instead)),
            false => Ok(()),
        }
    }

    fn client(&self) -> &Client {
        self.values.client()
    }

    fn partition(&self, key: &Key) -> String {
        self.values.partition("log", key, "")
    }

    /// Puts the entry of an operation, or returns the row of the entry that another call has put.
    async fn put(&self, key: &Key, op: &OpId, change: Option<&Change>, tag: &Tag) -> Result<Option<Row>> {
        self.values.ready().await?;
        let row = entry(&change_key(self.partition(key), op), op, self.client().now(), change, tag);
        match self.client().write(&row).await? {
            Wrote::Refused(Some(old)) if !is_by(&old, tag) => Ok(Some(old)),
            Wrote::Refused(None) => Err(contention()),
            Wrote::Done(_) | Wrote::Refused(_) => Ok(None),
        }
    }

    async fn sum(&self, key: &Key) -> Result<Sum> {
        let row = self.client().get(&sum_key(self.partition(key))).await?;
        row.as_ref().map_or(Ok(Sum::default()), Sum::read)
    }

    /// Returns the value: the stored sum plus the changes that are not in the sum. Returns `Contention` if a compaction
    /// wrote the sum during the read, because some changes may then be counted twice or not at all.
    async fn added_up(&self, key: &Key) -> Result<i64> {
        self.values.ready().await?;
        let sum = self.sum(key).await?;
        let total = i128::from(sum.delta) + self.changes(key, &sum).await?;
        if self.sum(key).await?.writes != sum.writes {
            return Err(contention());
        }
        let beyond = || Error::new(ErrorKind::TooLarge, "the sum is beyond the range of i64").on("dynamo");
        i64::try_from(total).map_err(|_| beyond())
    }

    /// Adds up the changes that are not in the sum.
    async fn changes(&self, key: &Key, sum: &Sum) -> Result<i128> {
        let all = Query::of(&self.partition(key), Index::Table).and("begins_with(sk, :op)").value(":op", "op:");
        let (mut query, mut total) = (all.only("sk, c, d"), 0);
        loop {
            let page = self.client().query(&query).await?;
            for row in page.rows.iter().filter(|row| !sum.has(row)) {
                total += i128::from(delta_in(row)?.unwrap_or(0));
            }
            if page.next.is_none() {
                return Ok(total);
            }
            query = query.from(page.next);
        }
    }
}

#[async_trait]
impl Counter for DynamoLedger {
    /// Never refuses a change, because a ledger has neither bounds nor a value that could overflow.
    #[instrument(level = "trace", skip_all)]
    async fn attempt_apply(&self, _: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        self.rules.check(change)?;
        let tag = &Tag::fresh();
        let attempt = || async move {
            let Some(old) = self.put(key, &change.op, Some(change), tag).await? else {
                return Ok(Counted::Applied { value: None });
            };
            Ok(match delta_in(&old)? {
                None => Counted::Fenced,
                Some(delta) if delta != change.delta => Counted::Mismatch,
                Some(_) => Counted::AlreadyApplied { value: None },
            })
        };
        self.client().settle("apply", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn cancel(&self, key: &Key, op: &OpId) -> Result<Cancelled> {
        self.check_one_region("a fence in", "a change with the opposite delta")?;
        let tag = &Tag::fresh();
        let attempt = || async move {
            match self.put(key, op, None, tag).await? {
                Some(old) if delta_in(&old)?.is_some() => Ok(Cancelled::AlreadyApplied { value: None }),
                _ => Ok(Cancelled::Cancelled),
            }
        };
        self.client().settle("cancel", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn value(&self, key: &Key) -> Result<i64> {
        self.client().settle("value", || self.added_up(key)).await
    }

    fn promise(&self) -> CounterPromise {
        self.rules.promise()
    }
}

#[async_trait]
impl Ledger for DynamoLedger {
    #[instrument(level = "trace", skip_all)]
    async fn log(&self, key: &Key, cursor: Option<&Cursor>, limit: usize) -> Result<Page<LedgerEntry>> {
        let (after, limit) = log::start_after(cursor, limit)?;
        let page = || log::page(self, key, after, limit);
        self.client().settle("log", page).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn compact(&self, key: &Key, older_than: Duration, limit: usize) -> Result<Maintained> {
        self.check_one_region("the compaction of", "a key for each year, say")?;
        compaction::compact(self, key, self.client().now().before(older_than), limit).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn value_within(&self, key: &Key, max_age: Duration) -> Result<i64> {
        let now = self.client().now();
        if let Some(value) = self.recent.find(key, now, max_age) {
            return Ok(value);
        }
        let value = self.value(key).await?;
        self.recent.keep(key, value, now);
        Ok(value)
    }
}

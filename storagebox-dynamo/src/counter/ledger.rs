//! Ledgers: a row for each change, added up when the value is read (article 5, approach 6).
//!
//! A change's row is named after its operation alone, so that it is one row whenever it is put; its time stands in the
//! index, which has the log in order. Compaction writes the sum of some changes and their names into one row, in one
//! write, and then deletes these changes: a reader leaves out the changes that the sum names. So the value never
//! changes, without a transaction, and the next call repeats a step that was lost.

mod compaction;
mod log;
mod recent;
mod rows;

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Cancelled, Change, Counted, Counter, CounterPromise, Cursor, Error, ErrorKind, Key, Ledger, LedgerEntry,
    Maintained, Namespace, OpId, Page, Result, async_trait,
};
use tracing::instrument;

use super::contention;
use super::rules::{Rules, unsupported};
use super::values::Values;
use crate::client::{Client, Index, Look, Tag, Wrote};
use crate::config::Regions;
use crate::row::Row;
use recent::Recent;
use rows::{Sum, change_key, delta_in, entry, is_by, sum_key};

/// The ledgers of one name.
#[derive(Debug)]
pub(crate) struct DynamoLedger {
    rules: Rules,
    values: Values,
    recent: Recent,
    /// In several regions. What would delete an entry, or put a fence in the place of one, may meet it on its way.
    is_everywhere: bool,
}

/// How such a ledger is kept with its namespace. What stands in tables does not change.
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

    /// That nothing is deleted or overwritten is what makes several regions safe.
    fn checked(&self, what: &str, instead: &str) -> Result<()> {
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

    /// Puts an entry if its operation has none; the entry that it has otherwise.
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

    /// Adds up. The rows are read one after the other, and a compaction in between would be counted twice or not at
    /// all: then it is begun anew.
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

    /// What the changes add to the sum.
    async fn changes(&self, key: &Key, sum: &Sum) -> Result<i128> {
        let all = Look::at(&self.partition(key), Index::Table).and("begins_with(sk, :op)").value(":op", "op:");
        let (mut look, mut total) = (all.only("sk, c, d"), 0);
        loop {
            let answers = self.client().query(&look).await?;
            for row in answers.rows.iter().filter(|row| !sum.has(row)) {
                total += i128::from(delta_in(row)?.unwrap_or(0));
            }
            if answers.next.is_none() {
                return Ok(total);
            }
            look = look.from(answers.next);
        }
    }
}

#[async_trait]
impl Counter for DynamoLedger {
    #[instrument(level = "trace", skip_all)]
    async fn apply(&self, key: &Key, change: &Change) -> Result<Counted> {
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
        self.checked("a fence in", "a change that takes the other back")?;
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
        self.client().settled("value", || self.added_up(key)).await
    }

    fn promise(&self) -> CounterPromise {
        self.rules.promise()
    }
}

#[async_trait]
impl Ledger for DynamoLedger {
    #[instrument(level = "trace", skip_all)]
    async fn log(&self, key: &Key, cursor: Option<&Cursor>, limit: usize) -> Result<Page<LedgerEntry>> {
        let (after, limit) = log::place(cursor, limit)?;
        let page = || log::page(self, key, after, limit);
        self.client().settled("log", page).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn compact(&self, key: &Key, older_than: Duration, limit: usize) -> Result<Maintained> {
        self.checked("the compaction of", "a key for each year, say")?;
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

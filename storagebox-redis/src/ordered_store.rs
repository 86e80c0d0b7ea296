//! Ordered values: each call is one script (`lua/ordered_store`).

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::backend::OrderedRules;
use storagebox_core::{
    Cursor, Key, ListedValue, Maintained, Namespace, OrderedOptions, OrderedStore, Page, Payload, Reset, Result, Stamp,
    Versioned, Written, async_trait,
};
use tracing::instrument;

use crate::client::{Answer, Client, Kind, OpenNamespace, ScriptCall, micros};
use crate::page;
use crate::script::{Script, script};
use crate::upkeep::STEP;

static WRITE: Script = script!("ordered_write", CHANGES, timed, ["number", "whole", "ordered"], "ordered_store/write");
static GET: Script = script!("ordered_get", READS, ["ordered"], "ordered_store/get");
static LIST: Script = script!("ordered_list", READS, ["ordered"], "ordered_store/list");
static RESET: Script = script!("ordered_reset", CHANGES, ["ordered"], "ordered_store/reset");
static PURGE: Script = script!("ordered_purge", CHANGES, timed, ["number", "whole", "ordered"], "ordered_store/purge");

/// The most tombstones that one script examines.
const BATCH: usize = 1_000;

#[derive(Debug)]
pub(crate) struct RedisOrderedStore {
    values: OpenNamespace,
    rules: OrderedRules,
}

impl RedisOrderedStore {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace, options: OrderedOptions) -> Result<Self> {
        let rules = OrderedRules::of("redis", options)?;
        let keeps = rules.is_timed().then(|| millis(rules.tombstone_age()));
        let values = OpenNamespace::new(client, Kind::Ordered, name).with_options(rules.to_stored_text(), keeps);
        Ok(Self { values, rules })
    }

    fn client(&self) -> &Client {
        self.values.client()
    }

    async fn write(&self, key: &Key, value: Option<&Payload>, stamp: &Stamp) -> Result<Written> {
        let attempt = || async {
            let call = self.values.call(&WRITE).await?.with(key.as_str()).with(stamp.at);
            let call = call.with(stamp.writer.as_str()).with(if value.is_some() { "put" } else { "delete" });
            let call = call.with(value.map(Payload::as_bytes)).with(self.rules.is_timed());
            let call = call.with(self.rules.max_skew().map(micros)).with(millis(self.rules.tombstone_age()));
            self.written(&self.client().answer(&call).await?, stamp)
        };
        self.client().settle(if value.is_some() { "put" } else { "delete" }, attempt).await
    }

    fn written(&self, answer: &Answer, stamp: &Stamp) -> Result<Written> {
        match answer.word()? {
            "applied" => Ok(Written::Applied),
            "stale" => Ok(Written::Stale { current: found(answer, 1)? }),
            "duplicate" => Ok(Written::Duplicate),
            "mismatch" => Ok(Written::Mismatch),
            "too old" => Ok(Written::TooOld { horizon: answer.number(1)? }),
            "ahead" => Err(self.rules.ahead(stamp, answer.number(1)?)),
            _ => Err(answer.unreadable()),
        }
    }
}

fn was_reset(answer: &Answer) -> Result<Reset> {
    match answer.word()? {
        "reset" => Ok(Reset::Reset),
        "absent" => Ok(Reset::Absent),
        "stale" => Ok(Reset::Stale { current: found(answer, 1)? }),
        _ => Err(answer.unreadable()),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Reads a stamp: its time in field `at`, then its writer.
fn found(answer: &Answer, at: usize) -> Result<Stamp> {
    Ok(Stamp::new(answer.number(at)?, answer.value(at + 1)?))
}

fn versioned(answer: &Answer, at: usize) -> Result<Versioned> {
    Ok(Versioned { stamp: found(answer, at)?, value: answer.payload(at + 2)? })
}

fn listed(answer: &Answer) -> Result<Page<ListedValue>> {
    let value = |at| Ok(ListedValue { key: answer.value(at)?, versioned: versioned(answer, at + 1)? });
    Ok(page::page(answer.entries(4).map(value).collect::<Result<_>>()?, answer.text(0)?))
}

/// Purges a namespace in steps, until `gone` reaches `most` or no tombstone is left to delete. Each step adds the
/// number of its deleted tombstones to `gone`. `call` has the age of these tombstones and the number that a step
/// examines.
async fn purge(client: &Client, call: &ScriptCall<'_>, most: usize, gone: &mut usize) -> Result<()> {
    let mut passed = 0;
    while *gone < most {
        let step = call.clone().with(most - *gone).with(passed);
        let answer = client.settle("purge", || client.answer(&step)).await?;
        *gone += usize::try_from(answer.count(0)?).unwrap_or(usize::MAX);
        passed = answer.count(1)?;
        if answer.text(2)? != "more" {
            break;
        }
    }
    Ok(())
}

/// Purges the namespace during upkeep, with the tombstone age that the namespace stores.
pub(crate) async fn maintain(client: &Client, key: &str, most: usize, deleted: &mut usize) -> Result<()> {
    let call = ScriptCall::new(&PURGE, key).in_epoch(client.epoch()).with("").with(STEP);
    purge(client, &call, most, deleted).await.map_err(|error| error.during("maintain"))
}

#[async_trait]
impl OrderedStore for RedisOrderedStore {
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
        let attempt = || async move {
            let call = self.values.call(&GET).await?.with(key.as_str());
            let answer = self.client().answer(&call).await?;
            (!answer.is_empty()).then(|| versioned(&answer, 0)).transpose()
        };
        self.client().settle("get", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, prefix: Option<&Key>, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedValue>> {
        let after = page::after::<Key>(cursor)?;
        let limit = page::limit(limit)?;
        let attempt = || async {
            let call = self.values.call(&LIST).await?.with(prefix.map(Key::as_str)).with(after.as_str());
            listed(&self.client().answer(&call.with(limit).in_bulk()).await?)
        };
        self.client().settle("list", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn reset(&self, key: &Key, stamp: &Stamp) -> Result<Reset> {
        let attempt = || async {
            let call = self.values.call(&RESET).await?.with(key.as_str()).with(stamp.at);
            was_reset(&self.client().answer(&call.with(stamp.writer.as_str())).await?)
        };
        self.client().settle("reset", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn purge(&self, age: Duration, limit: usize) -> Result<Maintained> {
        let age = micros(self.rules.purged(age));
        let (call, mut deleted) = (self.values.call(&PURGE).await?.with(age).with(BATCH), 0);
        match purge(self.client(), &call, limit, &mut deleted).await {
            Ok(()) => Ok(Maintained { deleted: deleted as u64, more: deleted == limit }),
            Err(error) if deleted > 0 => Err(error.after_unresolved()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::fuzz;

    #[test]
    fn fuzz_value_answer_is_read_or_refused() {
        let known: &[&[&str]] =
            &[&["5", "ada", "value"], &["", "key", "5", "ada", "value"], &["key-2", "key-2", "-5", "ada", "value"]];
        fuzz(
            &LIST,
            known,
            &[
                |answer| found(answer, 1).map(drop),
                |answer| versioned(answer, 0).map(drop),
                |answer| listed(answer).map(drop),
            ],
        );
        fuzz(&RESET, &[&["reset"], &["absent"], &["stale", "5", "ada"]], &[|answer| was_reset(answer).map(drop)]);
    }
}

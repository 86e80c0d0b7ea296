//! Ordered values: each call is one script (`lua/ordered_store`).

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Cursor, Error, Key, ListedValue, MAX_DURATION, Maintained, Namespace, OrderedOptions, OrderedStore, Page, Payload,
    Result, Stamp, Stamping, Versioned, Written, async_trait,
};
use tracing::instrument;

use crate::client::{Answer, Call, Client, Kind, OpenNamespace, Second, micros};
use crate::page;
use crate::script::{Script, script};
use crate::upkeep::STEP;

static WRITE: Script = script!("ordered_write", CHANGES, timed, ["number", "whole", "ordered"], "ordered_store/write");
static GET: Script = script!("ordered_get", READS, ["ordered"], "ordered_store/get");
static LIST: Script = script!("ordered_list", READS, ["ordered"], "ordered_store/list");
static PURGE: Script = script!("ordered_purge", CHANGES, timed, ["number", "whole", "ordered"], "ordered_store/purge");

/// The most tombstones that one script of a purge looks at.
const BATCH: usize = 1_000;

/// The ordered values of one name.
#[derive(Debug)]
pub(crate) struct RedisOrderedStore {
    values: OpenNamespace,
    options: OrderedOptions,
}

impl RedisOrderedStore {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace, options: OrderedOptions) -> Result<Self> {
        let options = options.checked()?;
        let keeps = is_timed(options).then(|| millis(options.tombstone_age));
        let values = OpenNamespace::new(client, Kind::Ordered, name).with_options(in_words(options), keeps);
        Ok(Self { values, options })
    }

    fn client(&self) -> &Client {
        self.values.client()
    }

    fn skew(&self) -> Option<Duration> {
        match self.options.stamping {
            Stamping::Time { max_skew } => max_skew,
            Stamping::Sequence => None,
        }
    }

    async fn write(&self, key: &Key, value: Option<&Payload>, stamp: &Stamp) -> Result<Written> {
        let attempt = || async {
            let call = self.values.call(&WRITE).await?.with(key.as_str()).with(stamp.at);
            let call = call.with(stamp.writer.as_str()).with(if value.is_some() { "put" } else { "delete" });
            let call = call.with(value.map(Payload::as_bytes)).with(is_timed(self.options));
            let call = call.with(self.skew().map(micros)).with(millis(self.options.tombstone_age));
            self.written(&self.client().answer(&call).await?, stamp)
        };
        self.client().settle(if value.is_some() { "put" } else { "delete" }, Second::May, attempt).await
    }

    fn written(&self, answer: &Answer, stamp: &Stamp) -> Result<Written> {
        match answer.word()? {
            "applied" => Ok(Written::Applied),
            "stale" => Ok(Written::Stale { current: found(answer, 1)? }),
            "duplicate" => Ok(Written::Duplicate),
            "mismatch" => Ok(Written::Mismatch),
            "too old" => Ok(Written::TooOld { horizon: answer.number(1)? }),
            "ahead" => Err(self.ahead(stamp, answer.number(1)?)),
            _ => Err(answer.unreadable()),
        }
    }

    fn ahead(&self, stamp: &Stamp, clock: i64) -> Error {
        let why = format_args!("is more than {:?} ahead of the store's clock", self.skew().unwrap_or_default());
        Error::invalid("stamp", why).with("stamp", stamp.at).with("clock", clock).on("redis")
    }
}

fn is_timed(options: OrderedOptions) -> bool {
    matches!(options.stamping, Stamping::Time { .. })
}

/// The options as they are kept with the namespace. What is kept does not change.
fn in_words(options: OrderedOptions) -> String {
    let age = micros(options.tombstone_age);
    match options.stamping {
        Stamping::Sequence => format!("sequence numbers, tombstones for {age} us"),
        Stamping::Time { max_skew: None } => format!("time stamps, tombstones for {age} us"),
        Stamping::Time { max_skew: Some(skew) } => {
            format!("time stamps at most {} us ahead, tombstones for {age} us", micros(skew))
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The time or number in this field and the writer in the next.
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

/// Purges a namespace, step by step, and counts how many went as it goes. The call names the age, and how many a step
/// looks at.
async fn purge(client: &Client, call: &Call<'_>, most: usize, gone: &mut usize) -> Result<()> {
    let mut passed = 0;
    while *gone < most {
        let step = call.clone().with(most - *gone).with(passed);
        let answer = client.settled("purge", || client.answer(&step)).await?;
        *gone += usize::try_from(answer.count(0)?).unwrap_or(usize::MAX);
        passed = answer.count(1)?;
        if answer.text(2)? != "more" {
            break;
        }
    }
    Ok(())
}

/// What upkeep does to the namespace of this key. It goes by the namespace's own age.
pub(crate) async fn maintain(client: &Client, key: &str, most: usize, deleted: &mut usize) -> Result<()> {
    let call = Call::new(&PURGE, key).in_epoch(client.epoch()).with("").with(STEP);
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
        self.client().settled("get", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, prefix: Option<&Key>, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedValue>> {
        let after = page::after::<Key>(cursor)?;
        let limit = page::limit(limit)?;
        let attempt = || async {
            let call = self.values.call(&LIST).await?.with(prefix.map(Key::as_str)).with(after.as_str());
            listed(&self.client().answer(&call.with(limit).in_bulk()).await?)
        };
        self.client().settled("list", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn purge(&self, age: Duration, limit: usize) -> Result<Maintained> {
        let least = if is_timed(self.options) { self.options.tombstone_age } else { Duration::ZERO };
        let age = micros(age.max(least).min(MAX_DURATION));
        let (call, mut deleted) = (self.values.call(&PURGE).await?.with(age).with(BATCH), 0);
        match purge(self.client(), &call, limit, &mut deleted).await {
            Ok(()) => Ok(Maintained { deleted: deleted as u64, more: deleted == limit }),
            Err(error) if deleted > 0 => Err(error.after_unresolved()),
            Err(error) => Err(error),
        }
    }
}

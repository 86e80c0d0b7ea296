//! Deduplication records: each call is one script (`lua/dedup_repo`).

use storagebox_core::{
    Cursor, DedupId, DedupRepo, Entry, Forgotten, ListedRecord, OpId, Page, Payload, Recorded, Replaced, Result,
    Retention, Version, async_trait,
};
use tracing::instrument;

use crate::client::{Answer, OpenNamespace, micros_of};
use crate::page;
use crate::script::{Script, script};

static RECORD: Script =
    script!("dedup_record", CHANGES, timed, ["number", "buckets", "queue", "record"], "dedup_repo/record");
static GET: Script = script!("dedup_get", READS, timed, ["number", "buckets", "queue", "record"], "dedup_repo/get");
static REPLACE: Script =
    script!("dedup_replace", CHANGES, timed, ["number", "buckets", "queue", "record"], "dedup_repo/replace");
static FORGET: Script =
    script!("dedup_forget", CHANGES, timed, ["number", "buckets", "queue", "record"], "dedup_repo/forget");
static LIST: Script = script!("dedup_list", READS, timed, ["number", "buckets", "queue", "record"], "dedup_repo/list");
pub(crate) static MAINTAIN: Script =
    script!("dedup_maintain", CHANGES, timed, ["number", "buckets", "queue", "front", "record"], "dedup_repo/maintain");

#[derive(Debug)]
pub(crate) struct RedisDedupRepo(pub(crate) OpenNamespace);

/// Reads an entry: its version in field `at`, then its value.
pub(crate) fn entry(answer: &Answer, at: usize) -> Result<Entry> {
    Ok(Entry { version: answer.version(at)?, value: answer.payload(at + 1)? })
}

fn recorded(answer: &Answer) -> Result<Recorded> {
    match answer.word()? {
        "new" => Ok(Recorded::New(answer.version(1)?)),
        "again" => Ok(Recorded::Again(entry(answer, 1)?)),
        "existing" => Ok(Recorded::Existing(entry(answer, 1)?)),
        "in flight" => Ok(Recorded::InFlight { remaining: answer.micros(1)? }),
        "fenced" => Ok(Recorded::Fenced),
        _ => Err(answer.unreadable()),
    }
}

fn replaced(answer: &Answer) -> Result<Replaced> {
    let has_record = answer.bytes(1).is_ok();
    match answer.word()? {
        "replaced" => Ok(Replaced::Replaced(answer.version(1)?)),
        "again" => Ok(Replaced::Again(answer.version(1)?)),
        "stale" => Ok(Replaced::Stale(has_record.then(|| entry(answer, 1)).transpose()?)),
        _ => Err(answer.unreadable()),
    }
}

fn forgotten(answer: &Answer) -> Result<Forgotten> {
    match answer.word()? {
        "forgotten" => Ok(Forgotten::Forgotten),
        "absent" => Ok(Forgotten::Absent),
        "stale" => Ok(Forgotten::Stale(entry(answer, 1)?)),
        _ => Err(answer.unreadable()),
    }
}

fn listed(answer: &Answer) -> Result<Page<ListedRecord>> {
    let record = |at| Ok(ListedRecord { id: answer.value(at)?, entry: entry(answer, at + 1)? });
    Ok(page::page(answer.entries(3).map(record).collect::<Result<_>>()?, answer.text(0)?))
}

#[async_trait]
impl DedupRepo for RedisDedupRepo {
    #[instrument(level = "trace", skip_all)]
    async fn record(&self, id: &DedupId, value: &Payload, op: &OpId, retention: Retention) -> Result<Recorded> {
        let retention = micros_of(retention.checked()?);
        let attempt = || async move {
            let call = self.0.call(&RECORD).await?.with(id.as_str()).with(value.as_bytes());
            let call = call.with(op.as_str()).with(retention).with(self.0.client().memory());
            recorded(&self.0.client().answer(&call).await?)
        };
        self.0.client().settle("record", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn get(&self, id: &DedupId) -> Result<Option<Entry>> {
        let attempt = || async move {
            let call = self.0.call(&GET).await?.with(id.as_str());
            let answer = self.0.client().answer(&call).await?;
            (!answer.is_empty()).then(|| entry(&answer, 0)).transpose()
        };
        self.0.client().settle("get", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn replace(&self, id: &DedupId, version: Version, value: &Payload, op: &OpId) -> Result<Replaced> {
        let attempt = || async move {
            let call = self.0.call(&REPLACE).await?.with(id.as_str()).with(version.number());
            let call = call.with(value.as_bytes()).with(op.as_str()).with(self.0.client().memory());
            replaced(&self.0.client().answer(&call).await?)
        };
        self.0.client().settle("replace", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn forget(&self, id: &DedupId, version: Version) -> Result<Forgotten> {
        let attempt = || async move {
            let call = self.0.call(&FORGET).await?.with(id.as_str()).with(version.number());
            forgotten(&self.0.client().answer(&call.with(self.0.client().memory())).await?)
        };
        self.0.client().settle("forget", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>> {
        let after = page::after::<DedupId>(cursor)?;
        let limit = page::limit(limit)?;
        let attempt = || async {
            let call = self.0.call(&LIST).await?.with(after.as_str()).with(limit);
            listed(&self.0.client().answer(&call.in_bulk()).await?)
        };
        self.0.client().settle("list", attempt).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::fuzz;

    #[test]
    fn fuzz_record_answer_is_read_or_refused() {
        let known: &[&[&str]] = &[
            &["new", "7"],
            &["again", "7", "value"],
            &["in flight", "60000000"],
            &["replaced", "8"],
            &["stale"],
            &["absent"],
            &["id-1", "id-1", "7", "value", "id-2", "8", "value"],
        ];
        fuzz(
            &RECORD,
            known,
            &[
                |answer| recorded(answer).map(drop),
                |answer| replaced(answer).map(drop),
                |answer| forgotten(answer).map(drop),
                |answer| listed(answer).map(drop),
            ],
        );
    }
}

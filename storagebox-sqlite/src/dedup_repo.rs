//! The deduplication records: the first value for an id wins (`sql/dedup_repo`).

use std::sync::Arc;

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use storagebox_core::backend::PageRequest;
use storagebox_core::{
    Cursor, DedupId, DedupRepo, Entry, Forgotten, ListedRecord, OpId, Page, Payload, Recorded, Replaced, Result,
    Retention, Version, async_trait,
};
use tracing::instrument;

use crate::client::{OpenNamespace, Step};
use crate::error::{read, unreadable};
use crate::records::{self, Record, end_of, entry, numbered};

const RECORD: &str = numbered!("dedup_repo/record.sql");
const REPLACE: &str = numbered!("dedup_repo/replace.sql");
const GET: &str = include_str!("../sql/dedup_repo/get.sql");
const LIST: &str = include_str!("../sql/dedup_repo/list.sql");

#[derive(Debug)]
pub(crate) struct SqliteDedupRepo(pub(crate) Arc<OpenNamespace>);

type Value = (DedupId, Payload, OpId, Retention);

async fn record(step: &mut Step<'_>, (id, value, op, retention): &Value) -> Result<Recorded> {
    let known = Record::of(step, id, Some(op)).await?;
    if let Some(answer) = known.state.record(op, known.has_ended, step.now) {
        return Ok(answer);
    }
    let until = end_of(*retention, step.now);
    let put = step.ask(RECORD).bind(id.as_str()).bind(op.as_str()).bind(value.as_bytes()).bind(until);
    let version = step.number("a version", put).await?;
    Ok(Recorded::New(Version::new(version.unsigned_abs())))
}

async fn replace(
    step: &mut Step<'_>,
    (id, version, value, op): &(DedupId, Version, Payload, OpId),
) -> Result<Replaced> {
    if let Some(answer) = Record::of(step, id, None).await?.state.replace(*version, op) {
        return Ok(answer);
    }
    // The version equals the record's, which fits an `i64`.
    let at = version.number() as i64;
    let put = step.ask(REPLACE).bind(id.as_str()).bind(value.as_bytes()).bind(op.as_str()).bind(at);
    let next = step.number("a version", put).await?;
    Ok(Replaced::Replaced(Version::new(next.unsigned_abs())))
}

async fn forget(step: &mut Step<'_>, (id, version): &(DedupId, Version)) -> Result<Forgotten> {
    if let Some(answer) = Record::of(step, id, None).await?.state.forget(*version) {
        return Ok(answer);
    }
    records::end(step, id).await?;
    Ok(Forgotten::Forgotten)
}

fn listed(row: &SqliteRow) -> Result<ListedRecord> {
    let id: String = read("a record", row.try_get("id"))?;
    Ok(ListedRecord { id: DedupId::new(id).map_err(|_| unreadable("a record"))?, entry: entry(row)? })
}

#[async_trait]
impl DedupRepo for SqliteDedupRepo {
    #[instrument(level = "trace", skip_all)]
    async fn record(&self, id: &DedupId, value: &Payload, op: &OpId, retention: Retention) -> Result<Recorded> {
        let value = (id.clone(), value.clone(), op.clone(), retention.checked()?);
        self.0.write("record", value, |step, value| Box::pin(record(step, value))).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn get(&self, id: &DedupId) -> Result<Option<Entry>> {
        let id = id.as_str().to_owned();
        let rows = self.0.look("get", GET, move |ask| ask.bind(id.clone())).await?;
        rows.first().map(entry).transpose()
    }

    #[instrument(level = "trace", skip_all)]
    async fn replace(&self, id: &DedupId, version: Version, value: &Payload, op: &OpId) -> Result<Replaced> {
        let value = (id.clone(), version, value.clone(), op.clone());
        self.0.write("replace", value, |step, value| Box::pin(replace(step, value))).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn forget(&self, id: &DedupId, version: Version) -> Result<Forgotten> {
        let record = (id.clone(), version);
        self.0.write("forget", record, |step, record| Box::pin(forget(step, record))).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>> {
        let listing = PageRequest::of::<DedupId>("sqlite", cursor, limit)?;
        let (after, most) = (listing.after().to_owned(), listing.limit());
        let rows = self.0.look("list", LIST, move |ask| ask.bind(after.clone()).bind(most)).await?;
        let entries = rows.iter().map(listed).collect::<Result<_>>()?;
        Ok(listing.page(entries, |last: &ListedRecord| last.id.as_str()))
    }
}

//! The deduplication records: each call is one function of the schema (`sql/dedup_repo`).

use std::sync::Arc;
use std::time::Duration;

use sqlx::Row;
use sqlx::postgres::PgRow;
use storagebox_core::backend::{PageRequest, micros_of};
use storagebox_core::{
    Combined, Cursor, DedupId, DedupRepo, Entry, Forgotten, ListedRecord, OpId, Page, Payload, Recorded, Replaced,
    Result, Retention, Version, async_trait,
};
use tokio::time::Instant;
use tracing::instrument;

use crate::client::{AfterLostReply, Client, FunctionCall, OpenNamespace};
use crate::combining::{self, Combining, combine};
use crate::error::{read, unreadable};

/// The maximum number of records in one statement.
const MOST: usize = 64;

#[derive(Debug)]
pub(crate) struct PostgresDedupRepo {
    records: Arc<OpenNamespace>,
    combiner: Option<Combining<Record>>,
}

#[derive(Clone, Debug)]
struct Record {
    id: DedupId,
    value: Payload,
    op: OpId,
    retention: Retention,
}

combine!("record", Record -> Recorded, |record| record.id.clone() => DedupId);

impl PostgresDedupRepo {
    pub(crate) fn new(records: OpenNamespace) -> Self {
        let records = Arc::new(records);
        let combiner = combining::combiner(records.client(), MOST, &records, together);
        Self { records, combiner }
    }

    fn client(&self) -> &Client {
        self.records.client()
    }
}

async fn alone(
    records: &OpenNamespace,
    record: &Record,
    after_lost: AfterLostReply,
    deadline: Instant,
) -> Result<Recorded> {
    let attempt = |_| async {
        let mut answers = recorded(records, std::slice::from_ref(record)).await?;
        answers.pop().ok_or_else(|| unreadable("dedup_record"))
    };
    records.client().repeated(deadline, after_lost, attempt).await
}

async fn together(records: Arc<OpenNamespace>, mut calls: Vec<Record>) -> Vec<Combined<Result<Recorded>>> {
    let places = combining::sort(&mut calls, |one, other| one.id.cmp(&other.id));
    combining::answers(records.client(), places, recorded(&records, &calls)).await
}

/// Writes the records in one statement. `calls` must be sorted by id.
async fn recorded(records: &OpenNamespace, calls: &[Record]) -> Result<Vec<Recorded>> {
    let client = records.client();
    let call = FunctionCall::rows("dedup_record")
        .about(records.opened().await?)
        .with(calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>())
        .with(calls.iter().map(|call| Some(call.value.as_bytes())).collect::<Vec<_>>())
        .with(calls.iter().map(|call| call.op.as_str()).collect::<Vec<_>>())
        .with(calls.iter().map(|call| micros_of(call.retention)).collect::<Vec<_>>())
        .with(client.memory());
    client.rows(&call).await?.iter().map(outcome_of_record).collect()
}

fn outcome_of_record(row: &PgRow) -> Result<Recorded> {
    const FUNCTION: &str = "dedup_record";
    match outcome(row, FUNCTION)?.as_str() {
        "new" => Ok(Recorded::New(version(row, FUNCTION)?)),
        "again" => Ok(Recorded::Again(entry(row, FUNCTION)?)),
        "existing" => Ok(Recorded::Existing(entry(row, FUNCTION)?)),
        "in flight" => Ok(Recorded::InFlight { remaining: remaining(row, FUNCTION)? }),
        "fenced" => Ok(Recorded::Fenced),
        _ => Err(unreadable(FUNCTION)),
    }
}

pub(crate) fn outcome(row: &PgRow, function: &'static str) -> Result<String> {
    read(function, row.try_get("outcome"))
}

pub(crate) fn version(row: &PgRow, function: &'static str) -> Result<Version> {
    Ok(Version::new(read::<i64>(function, row.try_get("version"))?.unsigned_abs()))
}

pub(crate) fn entry(row: &PgRow, function: &'static str) -> Result<Entry> {
    let value: Vec<u8> = read(function, row.try_get("value"))?;
    let value = Payload::new(value).map_err(|_| unreadable(function))?;
    Ok(Entry { value, version: version(row, function)? })
}

pub(crate) fn remaining(row: &PgRow, function: &'static str) -> Result<Duration> {
    Ok(Duration::from_micros(read::<i64>(function, row.try_get("remaining"))?.unsigned_abs()))
}

/// Returns the version as an argument, or -1 if this backend did not make the version.
pub(crate) fn number(version: Version) -> i64 {
    i64::try_from(version.number()).unwrap_or(-1)
}

#[async_trait]
impl DedupRepo for PostgresDedupRepo {
    #[instrument(level = "trace", skip_all)]
    async fn record(&self, id: &DedupId, value: &Payload, op: &OpId, retention: Retention) -> Result<Recorded> {
        let retention = retention.checked()?;
        let record = Record { id: id.clone(), value: value.clone(), op: op.clone(), retention };
        let deadline = self.client().deadline();
        let made_alone = |lost| alone(&self.records, &record, AfterLostReply::after_batch(lost), deadline);
        combining::call(self.combiner.as_ref(), self.client(), &record, made_alone).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn get(&self, id: &DedupId) -> Result<Option<Entry>> {
        let attempt = || async move {
            let call = FunctionCall::rows("dedup_get").about(self.records.opened().await?).with(id.as_str());
            self.client().rows(&call).await?.first().map(|row| entry(row, "dedup_get")).transpose()
        };
        self.client().settle("get", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn replace(&self, id: &DedupId, version: Version, value: &Payload, op: &OpId) -> Result<Replaced> {
        let attempt = || async move {
            let call = FunctionCall::rows("dedup_replace")
                .about(self.records.opened().await?)
                .with(id.as_str())
                .with(number(version))
                .with(value.as_bytes())
                .with(op.as_str())
                .with(self.client().memory());
            replaced(&self.client().row(&call).await?)
        };
        self.client().settle("replace", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn forget(&self, id: &DedupId, version: Version) -> Result<Forgotten> {
        let attempt = || async move {
            let call = FunctionCall::rows("dedup_forget")
                .about(self.records.opened().await?)
                .with(id.as_str())
                .with(number(version))
                .with(self.client().memory());
            forgotten(&self.client().row(&call).await?)
        };
        self.client().settle("forget", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>> {
        let listing = &PageRequest::of::<DedupId>("postgres", cursor, limit)?;
        let attempt = || async {
            let call = FunctionCall::rows("dedup_list")
                .about(self.records.opened().await?)
                .with(listing.after())
                .with(listing.limit());
            let entries = self.client().rows(&call).await?.iter().map(listed).collect::<Result<_>>()?;
            Ok(listing.page(entries, |last: &ListedRecord| last.id.as_str()))
        };
        self.client().settle("list", attempt).await
    }
}

fn replaced(row: &PgRow) -> Result<Replaced> {
    const FUNCTION: &str = "dedup_replace";
    let there: Option<i64> = read(FUNCTION, row.try_get("version"))?;
    match outcome(row, FUNCTION)?.as_str() {
        "replaced" => Ok(Replaced::Replaced(version(row, FUNCTION)?)),
        "again" => Ok(Replaced::Again(version(row, FUNCTION)?)),
        "stale" => Ok(Replaced::Stale(there.map(|_| entry(row, FUNCTION)).transpose()?)),
        _ => Err(unreadable(FUNCTION)),
    }
}

fn forgotten(row: &PgRow) -> Result<Forgotten> {
    const FUNCTION: &str = "dedup_forget";
    match outcome(row, FUNCTION)?.as_str() {
        "forgotten" => Ok(Forgotten::Forgotten),
        "absent" => Ok(Forgotten::Absent),
        "stale" => Ok(Forgotten::Stale(entry(row, FUNCTION)?)),
        _ => Err(unreadable(FUNCTION)),
    }
}

fn listed(row: &PgRow) -> Result<ListedRecord> {
    let id: String = read("dedup_list", row.try_get("id"))?;
    let id = DedupId::new(id).map_err(|_| unreadable("dedup_list"))?;
    Ok(ListedRecord { id, entry: entry(row, "dedup_list")? })
}

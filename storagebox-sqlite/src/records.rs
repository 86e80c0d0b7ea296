//! Deduplication records, which the `DedupRepo` and the `LeaseRepo` of one name share.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use storagebox_core::backend::rules::{IdLease, IdRecord, IdState};
use storagebox_core::{DedupId, Entry, Fence, Fingerprint, OpId, Payload, Result, Retention, Version};

use crate::client::Step;
use crate::clock::Micros;
use crate::error::{read, unreadable};

/// Expands to the statement that increments the namespace's last number, followed by the statements of a file.
macro_rules! numbered {
    ($file:literal) => {
        concat!(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sql/dedup_repo/next_number.sql")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sql/", $file)),
        )
    };
}

pub(crate) use numbered;

const KNOWN: &str = include_str!("../sql/dedup_repo/known.sql");
const END: &str = include_str!("../sql/dedup_repo/end.sql");

const RECORD: &str = "a record";

#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) state: IdState<Micros>,
    /// Whether the calling operation has ended (D-7).
    pub(crate) has_ended: bool,
}

impl Record {
    /// Reads the record of an id, after ending a record whose retention is over (D-4, D-7).
    pub(crate) async fn of(step: &mut Step<'_>, id: &DedupId, op: Option<&OpId>) -> Result<Self> {
        let asked = step.ask(KNOWN).bind(id.as_str()).bind(op.map(OpId::as_str));
        let row = step.row(asked).await?.ok_or_else(|| unreadable(RECORD))?;
        let ended: Option<i64> = read(RECORD, row.try_get("ended"))?;
        let mut record =
            Self { state: state(&row, step)?, has_ended: ended.is_some_and(|since| Micros(since) > step.forgotten) };
        if record.state.is_expired(step.now) {
            record.has_ended |= record.state.done().is_some_and(|done| Some(&done.op) == op);
            record.state = IdState::default();
            end(step, id).await?;
        }
        Ok(record)
    }
}

/// Ends the record or the lease of an id, and fences its operation.
pub(crate) async fn end(step: &mut Step<'_>, id: &DedupId) -> Result<()> {
    step.change(step.ask(END).bind(id.as_str()).bind(step.now.0)).await.map(drop)
}

/// Returns the end of a retention that begins now, or `None` if it never ends.
pub(crate) fn end_of(retention: Retention, now: Micros) -> Option<i64> {
    storagebox_core::backend::micros_of(retention).map(|micros| now.after(micros).0)
}

fn state(row: &SqliteRow, step: &Step<'_>) -> Result<IdState<Micros>> {
    let text = |column| read::<Option<&str>>(RECORD, row.try_get(column));
    let number = |column| read::<Option<i64>>(RECORD, row.try_get(column));
    let op = |column| text(column)?.map(OpId::new).transpose().map_err(|_| unreadable(RECORD));
    let (fence, until) = (number("fence")?.map(|fence| Fence::new(fence.unsigned_abs())), number("until")?.map(Micros));
    let fingerprint = text("fingerprint")?.map(Fingerprint::new).transpose().map_err(|_| unreadable(RECORD))?;
    match text("state")? {
        None => Ok(IdState::Vacant(None)),
        Some("leased") => {
            let until = until.ok_or_else(|| unreadable(RECORD))?;
            let fingerprint = fingerprint.filter(|_| until > step.forgotten);
            if text("op")? == Some("") {
                return Ok(IdState::Vacant(fingerprint));
            }
            Ok(IdState::Leased(IdLease {
                op: op("op")?.ok_or_else(|| unreadable(RECORD))?,
                fence: fence.ok_or_else(|| unreadable(RECORD))?,
                until,
                fingerprint,
                is_inherited: number("replaced_version")?.is_some(),
            }))
        }
        Some("done") => Ok(IdState::Done(IdRecord {
            entry: entry(row)?,
            op: op("op")?.ok_or_else(|| unreadable(RECORD))?,
            fence,
            fingerprint,
            replaced_by: op("replaced_by")?
                .zip(number("replaced_version")?.map(|version| Version::new(version.unsigned_abs()))),
            until,
        })),
        Some(_) => Err(unreadable(RECORD)),
    }
}

pub(crate) fn entry(row: &SqliteRow) -> Result<Entry> {
    let value: Vec<u8> = read(RECORD, row.try_get("value"))?;
    let value = Payload::new(value).map_err(|_| unreadable(RECORD))?;
    // The driver reads null as 0 if an `i64` is asked for.
    let version: Option<i64> = read(RECORD, row.try_get("version"))?;
    let version = version.ok_or_else(|| unreadable(RECORD))?;
    Ok(Entry { value, version: Version::new(version.unsigned_abs()) })
}

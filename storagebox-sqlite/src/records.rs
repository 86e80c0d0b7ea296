//! Deduplication records, shared by the two repositories of one name.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use storagebox_core::{DedupId, Entry, Fence, Fingerprint, OpId, Payload, Result, Retention, Version};

use crate::client::Step;
use crate::clock::Micros;
use crate::error::{read, unreadable};

/// The statements of this file, behind the one that gives the next number.
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

/// What is known of one id, within a step.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) state: State,
    /// Whether the operation that asks is over (D-7).
    pub(crate) has_ended: bool,
}

#[derive(Debug)]
pub(crate) enum State {
    Vacant,
    Leased(Leased),
    Done(Done),
}

#[derive(Debug)]
pub(crate) struct Leased {
    pub(crate) op: String,
    pub(crate) fence: Fence,
    pub(crate) until: Micros,
    /// The fingerprint of the id, unless the lease lapsed so long ago that it is forgotten.
    pub(crate) fingerprint: Option<String>,
    /// Whether an earlier lease lapsed with this fingerprint, so that an abort of this one leaves it (D-6).
    pub(crate) is_inherited: bool,
}

#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) entry: Entry,
    /// The operation that recorded the first value.
    pub(crate) op: String,
    /// The lease that completed, if there was one.
    pub(crate) fence: Option<Fence>,
    pub(crate) fingerprint: Option<String>,
    /// The operation that put the present value in place of the one at this version.
    pub(crate) replaced_by: Option<(String, Version)>,
    until: Option<Micros>,
}

impl Record {
    /// The record of an id by the clock. One whose retention is over is ended as of now, and its operation is fenced
    /// from here on (D-4, D-7).
    pub(crate) async fn of(step: &mut Step<'_>, id: &DedupId, op: Option<&OpId>) -> Result<Self> {
        let asked = step.ask(KNOWN).bind(id.as_str()).bind(op.map(OpId::as_str));
        let row = step.row(asked).await?.ok_or_else(|| unreadable(RECORD))?;
        let ended: Option<i64> = read(RECORD, row.try_get("ended"))?;
        let mut record =
            Self { state: state(&row)?, has_ended: ended.is_some_and(|since| Micros(since) > step.forgotten) };
        if let State::Leased(leased) = &mut record.state
            && leased.until <= step.forgotten
        {
            leased.fingerprint = None;
        }
        if let State::Done(done) = &record.state
            && done.until.is_some_and(|until| until <= step.now)
        {
            record.has_ended |= op.is_some_and(|op| done.op == op.as_str());
            record.state = State::Vacant;
            end(step, id).await?;
        }
        Ok(record)
    }

    pub(crate) fn done(&self) -> Option<&Done> {
        match &self.state {
            State::Done(done) => Some(done),
            State::Vacant | State::Leased(_) => None,
        }
    }

    /// Whether both name a fingerprint, and not the same (D-6).
    pub(crate) fn is_of_another(&self, fingerprint: Option<&Fingerprint>) -> bool {
        let known = match &self.state {
            State::Vacant => None,
            State::Leased(leased) => leased.fingerprint.as_ref(),
            State::Done(done) => done.fingerprint.as_ref(),
        };
        known.zip(fingerprint).is_some_and(|(known, asked)| known != asked.as_str())
    }
}

/// Leaves the id vacant and fences the operation that had it.
pub(crate) async fn end(step: &mut Step<'_>, id: &DedupId) -> Result<()> {
    step.change(step.ask(END).bind(id.as_str()).bind(step.now.0)).await.map(drop)
}

/// The end of what is kept from now on; `None` is never.
pub(crate) fn end_of(retention: Retention, now: Micros) -> Option<i64> {
    storagebox_core::backend::micros_of(retention).map(|micros| now.after(micros).0)
}

fn state(row: &SqliteRow) -> Result<State> {
    let text = |column| read::<Option<String>>(RECORD, row.try_get(column));
    let number = |column| read::<Option<i64>>(RECORD, row.try_get(column));
    let fence = number("fence")?.map(|fence| Fence::new(fence.unsigned_abs()));
    match text("state")?.as_deref() {
        None => Ok(State::Vacant),
        Some("leased") => Ok(State::Leased(Leased {
            op: text("op")?.ok_or_else(|| unreadable(RECORD))?,
            fence: fence.ok_or_else(|| unreadable(RECORD))?,
            until: Micros(number("until")?.ok_or_else(|| unreadable(RECORD))?),
            fingerprint: text("fingerprint")?,
            is_inherited: number("replaced_version")?.is_some(),
        })),
        Some("done") => Ok(State::Done(Done {
            entry: entry(row)?,
            op: text("op")?.ok_or_else(|| unreadable(RECORD))?,
            fence,
            fingerprint: text("fingerprint")?,
            replaced_by: text("replaced_by")?
                .zip(number("replaced_version")?.map(|version| Version::new(version.unsigned_abs()))),
            until: number("until")?.map(Micros),
        })),
        Some(_) => Err(unreadable(RECORD)),
    }
}

pub(crate) fn entry(row: &SqliteRow) -> Result<Entry> {
    let value: Vec<u8> = read(RECORD, row.try_get("value"))?;
    let value = Payload::new(value).map_err(|_| unreadable(RECORD))?;
    // The driver takes null for 0 where a number is asked for.
    let version: Option<i64> = read(RECORD, row.try_get("version"))?;
    let version = version.ok_or_else(|| unreadable(RECORD))?;
    Ok(Entry { value, version: Version::new(version.unsigned_abs()) })
}

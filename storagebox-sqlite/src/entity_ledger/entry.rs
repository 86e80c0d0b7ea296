//! Entries: registering and choosing attempts, and removing entries.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use storagebox_core::{Chosen, EntryId, Error, Key, OpId, OutboxEntry, Payload, Registered, Result};

use crate::client::{Ask, Step};
use crate::error::{read, unreadable};

const FOUND: &str = include_str!("../../sql/entity_ledger/entry.sql");
const REGISTER: &str = include_str!("../../sql/entity_ledger/register.sql");
const CHOOSE: &str = include_str!("../../sql/entity_ledger/choose.sql");
const REMOVE: &str = include_str!("../../sql/entity_ledger/remove.sql");
const REST: &str = include_str!("../../sql/entity_ledger/rest.sql");

pub(super) const ENTRY: &str = "an entry";

/// Prepares statements whose first arguments are the namespace, the key and the message of an entry.
fn about<'q>(step: &Step<'_>, sql: &'static str, id: &'q EntryId) -> Ask<'q> {
    step.ask(sql).bind(id.key.as_str()).bind(id.message.as_str())
}

/// Returns the entry, or `None` if the message has no entry or has the entry of another commit.
async fn found(step: &mut Step<'_>, id: &EntryId) -> Result<Option<OutboxEntry>> {
    let row = step.row(about(step, FOUND, id).bind(id.commit.as_str())).await?;
    Ok(row.as_ref().map(beside).transpose()?.flatten())
}

pub(super) async fn register(step: &mut Step<'_>, (id, attempt): &(EntryId, OpId)) -> Result<Registered> {
    let Some(mut entry) = found(step, id).await? else {
        return Ok(Registered::Gone);
    };
    if entry.chosen.is_some() {
        return Ok(Registered::Chosen(entry));
    }
    if !entry.attempts.contains(attempt) {
        entry.attempts.push(attempt.clone());
        step.change(about(step, REGISTER, id).bind(later(&entry)?)).await?;
    }
    Ok(Registered::Registered)
}

pub(super) async fn choose(step: &mut Step<'_>, (id, attempt): &(EntryId, OpId)) -> Result<Chosen> {
    let found = found(step, id).await?.filter(|entry| entry.attempts.contains(attempt));
    let Some(mut entry) = found else {
        return Ok(Chosen::Gone);
    };
    if entry.chosen.is_none() {
        step.change(about(step, CHOOSE, id).bind(attempt.as_str())).await?;
        entry.chosen = Some(attempt.clone());
    }
    Ok(Chosen::Chosen(entry))
}

pub(super) async fn remove(step: &mut Step<'_>, id: &EntryId) -> Result<bool> {
    let removed = step.change(about(step, REMOVE, id).bind(id.commit.as_str())).await?;
    if removed > 0 {
        rest(step, &id.key).await?;
    }
    Ok(removed > 0)
}

/// If the entity has no state and no entry, starts the time for which its version is remembered.
pub(super) async fn rest(step: &mut Step<'_>, key: &Key) -> Result<()> {
    step.change(step.ask(REST).bind(key.as_str()).bind(step.now.0)).await.map(drop)
}

/// Reads an entry from the columns of a row. Returns `None` if the row has no entry.
pub(super) fn beside(row: &SqliteRow) -> Result<Option<OutboxEntry>> {
    let Some(first) = op(row, "op")? else {
        return Ok(None);
    };
    let later: String = read(ENTRY, row.try_get("later"))?;
    let later: Vec<String> = serde_json::from_str(&later).map_err(|error| unreadable(ENTRY).caused_by(error))?;
    let later = later.into_iter().map(|op| OpId::new(op).map_err(|_| unreadable(ENTRY)));
    let attempts = std::iter::once(Ok(first)).chain(later).collect::<Result<_>>()?;
    let content: Vec<u8> = read(ENTRY, row.try_get("content"))?;
    let content = Payload::new(content).map_err(|_| unreadable(ENTRY))?;
    Ok(Some(OutboxEntry { content, attempts, chosen: op(row, "chosen")? }))
}

fn op(row: &SqliteRow, column: &str) -> Result<Option<OpId>> {
    let op: Option<String> = read(ENTRY, row.try_get(column))?;
    op.map(OpId::new).transpose().map_err(|_| unreadable(ENTRY))
}

/// Returns the attempts after the first, as JSON.
fn later(entry: &OutboxEntry) -> Result<String> {
    let later: Vec<_> = entry.attempts.iter().skip(1).map(OpId::as_str).collect();
    serde_json::to_string(&later)
        .map_err(|error| Error::invalid("attempts", "cannot be written as JSON").caused_by(error))
}

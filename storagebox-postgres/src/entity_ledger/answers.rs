//! Maps the functions' answers to outcomes, and reads the cursors of a listing.

use sqlx::Row;
use sqlx::postgres::PgRow;
use storagebox_core::{
    Chosen, Committed, EntryId, Error, Key, MessageId, OpId, Opened, OutboxEntry, Payload, Registered, Result, Version,
};

use crate::error::{read, unreadable};
use crate::item_bank::texts;

pub(super) fn opened(row: &PgRow) -> Result<Opened> {
    const FUNCTION: &str = "entity_open";
    let version = |number: i64| number.try_into().map(Version::new).map_err(|_| unreadable(FUNCTION));
    Ok(Opened {
        version: read::<Option<_>>(FUNCTION, row.try_get("version"))?.map(version).transpose()?,
        state: payload(row, FUNCTION, "state")?,
        entry: payload(row, FUNCTION, "content")?.map(|content| entry(row, FUNCTION, content)).transpose()?,
        token_is_live: read(FUNCTION, row.try_get("is_live"))?,
    })
}

pub(super) fn committed(row: &PgRow) -> Result<Committed> {
    match read::<String>("entity_commit", row.try_get(0))?.as_str() {
        "committed" => Ok(Committed::Committed),
        "conflict" => Ok(Committed::Conflict),
        "token gone" => Ok(Committed::TokenGone),
        _ => Err(unreadable("entity_commit")),
    }
}

/// Reads the answer of a registration. The answer has the entry's content only if an attempt is chosen.
pub(super) fn registered(row: Option<&PgRow>) -> Result<Registered> {
    const FUNCTION: &str = "entity_register";
    let Some(row) = row else { return Ok(Registered::Gone) };
    match payload(row, FUNCTION, "content")? {
        Some(content) => Ok(Registered::Chosen(entry(row, FUNCTION, content)?)),
        None => Ok(Registered::Registered),
    }
}

pub(super) fn chosen(row: Option<&PgRow>) -> Result<Chosen> {
    const FUNCTION: &str = "entity_choose";
    let Some(row) = row else { return Ok(Chosen::Gone) };
    let content = payload(row, FUNCTION, "content")?.ok_or_else(|| unreadable(FUNCTION))?;
    Ok(Chosen::Chosen(entry(row, FUNCTION, content)?))
}

fn payload(row: &PgRow, function: &'static str, column: &str) -> Result<Option<Payload>> {
    let bytes: Option<Vec<u8>> = read(function, row.try_get(column))?;
    bytes.map(|bytes| Payload::new(bytes).map_err(|_| unreadable(function))).transpose()
}

/// Returns an error if the entry has no attempt, or if its chosen attempt is not one of its attempts.
fn entry(row: &PgRow, function: &'static str, content: Payload) -> Result<OutboxEntry> {
    let op = |text: String| OpId::new(text).map_err(|_| unreadable(function));
    let attempts = texts(read(function, row.try_get("attempts"))?);
    let attempts = attempts.into_iter().map(op).collect::<Result<Vec<_>>>()?;
    let chosen = read::<Option<String>>(function, row.try_get("chosen"))?.map(op).transpose()?;
    match attempts.is_empty() || chosen.as_ref().is_some_and(|chosen| !attempts.contains(chosen)) {
        true => Err(unreadable(function)),
        false => Ok(OutboxEntry { content, attempts, chosen }),
    }
}

pub(super) fn listed(row: &PgRow) -> Result<Listed> {
    const FUNCTION: &str = "entity_pending";
    let text = |column: &str| read::<String>(FUNCTION, row.try_get(column));
    let key = Key::new(text("key")?).map_err(|_| unreadable(FUNCTION))?;
    let message = MessageId::new(text("message")?).map_err(|_| unreadable(FUNCTION))?;
    let commit = OpId::new(text("added_by")?).map_err(|_| unreadable(FUNCTION))?;
    let position = format!("{}:{key}{message}", key.as_str().len());
    Ok(Listed { entry: EntryId { key, message, commit }, position })
}

/// An entry of a page, and the position from which the next page continues.
pub(super) struct Listed {
    pub(super) entry: EntryId,
    pub(super) position: String,
}

/// The last entry of the previous page.
pub(super) struct Position {
    key: Key,
    message: MessageId,
}

impl Position {
    /// Returns the key and the message. For the first page, these are texts that sort before all others.
    pub(super) fn texts(position: Option<&Self>) -> (&str, &str) {
        position.map_or(("", ""), |position| (position.key.as_str(), position.message.as_str()))
    }
}

impl TryFrom<&str> for Position {
    type Error = Error;

    fn try_from(text: &str) -> Result<Self> {
        let bad = || Error::invalid("cursor", "is not a position in a listing of entries");
        let (length, rest) = text.split_once(':').ok_or_else(bad)?;
        let length = length.parse().map_err(|_| bad())?;
        let (key, message) = rest.split_at_checked(length).ok_or_else(bad)?;
        Ok(Self { key: Key::new(key)?, message: MessageId::new(message)? })
    }
}

//! Pages of pending entries.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use storagebox_core::backend::PageRequest;
use storagebox_core::{EntryId, Error, Key, MessageId, OpId, Result};

use super::entry::ENTRY;
use crate::error::{read, unreadable};

/// The key and the message of an entry. Its text is the length of the key in bytes, a colon, the key and the message.
pub(super) struct Position {
    key: Key,
    message: MessageId,
}

impl TryFrom<&str> for Position {
    type Error = Error;

    fn try_from(text: &str) -> Result<Self> {
        let strange = || Error::invalid("cursor", "was not made by this namespace");
        let (length, both) = text.split_once(':').ok_or_else(strange)?;
        let length = length.parse().map_err(|_| strange())?;
        let (key, message) = both.split_at_checked(length).ok_or_else(strange)?;
        Ok(Self { key: Key::new(key)?, message: MessageId::new(message)? })
    }
}

/// Returns the key and the message after which the page begins. The first page begins after empty texts, which sort
/// first.
pub(super) fn after(listing: &PageRequest) -> (String, String) {
    match Position::try_from(listing.after()) {
        Ok(after) => (after.key.as_str().to_owned(), after.message.as_str().to_owned()),
        Err(_) => Default::default(),
    }
}

pub(super) struct Listed {
    pub(super) entry: EntryId,
    pub(super) position: String,
}

impl Listed {
    pub(super) fn of(row: &SqliteRow) -> Result<Self> {
        let text = |column| read::<String>(ENTRY, row.try_get(column));
        let (key, message, commit) = (Key::new(text("key")?), MessageId::new(text("message")?), OpId::new(text("op")?));
        let strange = |_| unreadable(ENTRY);
        let entry = EntryId {
            key: key.map_err(strange)?,
            message: message.map_err(strange)?,
            commit: commit.map_err(strange)?,
        };
        let position = format!("{}:{}{}", entry.key.as_str().len(), entry.key.as_str(), entry.message.as_str());
        Ok(Self { entry, position })
    }
}

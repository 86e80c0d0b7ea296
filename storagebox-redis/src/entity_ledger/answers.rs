//! Reads the answers of the entity scripts.

use storagebox_core::{
    Chosen, Committed, EntryId, Error, Key, MessageId, Opened, OutboxEntry, Page, Registered, Result,
};

use crate::client::Answer;
use crate::page;

/// The entry after which a page begins, as text: the length of the key, `:`, the key and the message.
pub(super) struct Position;

impl TryFrom<&str> for Position {
    type Error = Error;

    fn try_from(text: &str) -> Result<Self> {
        let (length, rest) = text.split_once(':').ok_or_else(page::not_ours)?;
        let length = length.parse().map_err(|_| page::not_ours())?;
        let (key, message) = rest.split_at_checked(length).ok_or_else(page::not_ours)?;
        Key::new(key)?;
        MessageId::new(message).map(|_| Self)
    }
}

/// Returns `true` if the field contains `word`, and `false` if it is empty.
fn says(answer: &Answer, at: usize, word: &str) -> Result<bool> {
    match answer.text(at)? {
        "" => Ok(false),
        found if found == word => Ok(true),
        _ => Err(answer.unreadable()),
    }
}

fn token(answer: &Answer, at: usize) -> Result<Option<bool>> {
    match answer.text(at)? {
        "" => Ok(None),
        "live" => Ok(Some(true)),
        "absent" => Ok(Some(false)),
        _ => Err(answer.unreadable()),
    }
}

/// Reads an entry from field `at` on: its content, its chosen attempt and its attempts.
fn entry(answer: &Answer, at: usize) -> Result<OutboxEntry> {
    let chosen = (!answer.text(at + 1)?.is_empty()).then(|| answer.value(at + 1)).transpose()?;
    let attempts: Vec<_> = answer.entries_after(at + 2, 1).map(|at| answer.value(at)).collect::<Result<_>>()?;
    let entry = OutboxEntry { content: answer.payload(at)?, attempts, chosen };
    if entry.attempts.is_empty() { Err(answer.unreadable()) } else { Ok(entry) }
}

pub(super) fn opened(answer: &Answer) -> Result<Opened> {
    let has_version = !answer.text(0)?.is_empty();
    let version = has_version.then(|| answer.version(0)).transpose()?;
    let state = says(answer, 1, "state")?.then(|| answer.payload(2)).transpose()?;
    let has_entry = answer.bytes(4).is_ok() && says(answer, 4, "entry")?;
    let entry = has_entry.then(|| entry(answer, 5)).transpose()?;
    Ok(Opened { version, state, entry, token_is_live: token(answer, 3)? })
}

pub(super) fn committed(answer: &Answer) -> Result<Committed> {
    match answer.word()? {
        "committed" => Ok(Committed::Committed),
        "conflict" => Ok(Committed::Conflict),
        "token gone" => Ok(Committed::TokenGone),
        _ => Err(answer.unreadable()),
    }
}

pub(super) fn registered(answer: &Answer) -> Result<Registered> {
    match answer.word()? {
        "registered" => Ok(Registered::Registered),
        "chosen" => Ok(Registered::Chosen(entry(answer, 1)?)),
        "gone" => Ok(Registered::Gone),
        _ => Err(answer.unreadable()),
    }
}

pub(super) fn chosen(answer: &Answer) -> Result<Chosen> {
    match answer.word()? {
        "chosen" => Ok(Chosen::Chosen(entry(answer, 1)?)),
        "gone" => Ok(Chosen::Gone),
        _ => Err(answer.unreadable()),
    }
}

pub(super) fn removed(answer: &Answer) -> Result<bool> {
    match answer.word()? {
        "removed" => Ok(true),
        "absent" => Ok(false),
        _ => Err(answer.unreadable()),
    }
}

pub(super) fn listed(answer: &Answer) -> Result<Page<EntryId>> {
    let entry =
        |at| Ok(EntryId { key: answer.value(at)?, message: answer.value(at + 1)?, commit: answer.value(at + 2)? });
    Ok(page::page(answer.entries(3).map(entry).collect::<Result<_>>()?, answer.text(0)?))
}

#[cfg(test)]
mod tests {
    use storagebox_core::Cursor;

    use super::*;
    use crate::client::fuzz;
    use crate::entity_ledger::CHOOSE;

    #[test]
    fn fuzz_entity_answer_is_read_or_refused() {
        let known: &[&[&str]] = &[
            &["7", "state", "value", "live", "entry", "content", "op", "op", "other"],
            &["", "", "", ""],
            &["committed"],
            &["registered"],
            &["chosen", "content", "", "op"],
            &["removed"],
            &["3:keymessage", "key", "message", "op", "key", "other", "op"],
        ];
        fuzz(
            &CHOOSE,
            known,
            &[
                |answer| opened(answer).map(drop),
                |answer| committed(answer).map(drop),
                |answer| registered(answer).map(drop),
                |answer| chosen(answer).map(drop),
                |answer| removed(answer).map(drop),
                |answer| listed(answer).map(drop),
            ],
        );
    }

    #[test]
    fn fuzz_entry_cursor_is_read_or_refused() {
        storagebox_fuzz::texts(&["after:3:keymessage", "after:2:é:x", "after:3:key", "after:"], |text| {
            let after = page::after::<Position>(Some(&Cursor::new(text)));
            assert!(after.is_err() || text.matches(':').count() >= 2, "{text:?}");
        });
    }
}

//! The rows of an entity and of its entries.
//!
//! | attribute | of an entity |
//! |---|---|
//! | `n` | its version |
//! | `v` | its state, if it has one |
//! | `z` | when it may be forgotten, if it then has neither a state nor an entry |
//!
//! | attribute | of an entry |
//! |---|---|
//! | `c` | the commit that added it |
//! | `d` | the key of its entity; the sort key is the hash of that key and the message |
//! | `v` | its content |
//! | `a` | its attempts, a list |
//! | `p` | the chosen attempt, if there is one |
//! | `o` | its place in the index, which is its sort key |
//! | `m` | the tag of the call that added it; later changes keep it |
//! | `b` | when it was added or an attempt was registered last |
//! | `s` | `gone` after it was removed; then only `c` and `b` are left of it |
//! | `y` | when it was removed |

use aws_sdk_dynamodb::types::AttributeValue;
use sha2::{Digest, Sha256};
use storagebox_core::{EntryId, Key, MessageId, OpId, OutboxEntry, Payload, Result, Version};

use crate::client::hex;
use crate::clock::Millis;
use crate::row::{Row, Value};

/// The value of the attribute `s` of a removed entry.
pub(super) const GONE: &str = "gone";
/// The condition that the message had no entry when the request was sent. If an entry is removed after that, a late
/// copy of the request still fails.
pub(super) const VACANT: &str = "attribute_not_exists(pk) OR (s = :gone AND y < :now)";
/// The condition that the row is still the removed entry that was read. This condition is for an entry that was removed
/// in the present millisecond.
pub(super) const FENCED: &str = "s = :gone AND t = :fence";
/// The condition that the row is this commit's entry for this entity, and that the entry is not removed.
pub(super) const REMOVABLE: &str = "c = :commit AND d = :key AND attribute_not_exists(s)";
/// The condition that this attempt can be registered for the entry.
pub(super) const REGISTRABLE: &str = "c = :commit AND d = :key AND attribute_not_exists(s) AND attribute_not_exists(p) \
                                      AND NOT contains(a, :attempt) AND size(a) < :most";
/// The condition that no attempt of the entry is chosen yet, that this attempt is registered, and that the row is not
/// damaged.
pub(super) const CHOOSABLE: &str = "c = :commit AND d = :key AND attribute_not_exists(s) AND attribute_not_exists(p) \
                                    AND contains(a, :p) AND a[0] = :commit AND o = sk AND attribute_type(v, :bytes) \
                                    AND attribute_type(m, :text)";
/// The condition that the entry was last changed before the request was sent. If an entry is added or gets an attempt
/// after that, a late copy of the request does not change the entry.
pub(super) const EARLIER: &str = "b < :now";
/// The condition that the entry is still the entry that was read. This condition is for an entry that was changed in
/// the present millisecond.
pub(super) const SEEN: &str = "m = :made AND size(a) = :count";

/// The largest number of attempts of an entry, limited by the row size of 400 KB.
pub(super) const MOST_ATTEMPTS: usize = 250;

#[derive(Debug)]
pub(super) struct Entity {
    pub(super) version: Version,
    pub(super) state: Option<Payload>,
}

impl Entity {
    pub(super) fn read(row: &Row) -> Result<Self> {
        let version = row.needed("n", row.times("n"))?.unsigned_abs();
        let state = row.maybe("v", Row::bytes)?.map(|state| payload(row, state)).transpose()?;
        Ok(Self { version: Version::new(version), state })
    }
}

/// Reads the entry of a row; `None` for a removed entry.
pub(super) fn entry(row: &Row) -> Result<Option<OutboxEntry>> {
    match row.maybe("s", Row::text)? {
        None => {}
        Some(GONE) => return Ok(None),
        Some(_) => return Err(row.unreadable("its state is not known")),
    }
    let id = listed(row)?;
    let content = payload(row, row.needed("v", row.bytes("v"))?)?;
    let attempts = attempts(row)?;
    let chosen = row.maybe("p", Row::text)?.map(|chosen| op(row, chosen)).transpose()?;
    made(row)?;
    changed(row)?;
    let entry = OutboxEntry { content, attempts, chosen };
    let is_whole = is_named(&entry, &id.commit) && entry.chosen.iter().all(|chosen| entry.attempts.contains(chosen));
    if is_whole { Ok(Some(entry)) } else { Err(row.unreadable("its attempts are not valid")) }
}

/// Reads the id of an entry from a row of the index.
pub(super) fn listed(row: &Row) -> Result<EntryId> {
    let key = row.valid("key", Key::new(row.needed("d", row.text("d"))?))?;
    let message = row.sort()?.strip_prefix(&group(&key)).map(MessageId::new);
    let Some(Ok(message)) = message else { return Err(row.unreadable("its sort key is not that of its entity")) };
    row.needed("o", row.text("o").filter(|place| row.text("sk") == Some(*place)))?;
    Ok(EntryId { key, message, commit: op(row, row.needed("c", row.text("c"))?)? })
}

/// Returns the tag of the call that added the entry.
pub(super) fn made(row: &Row) -> Result<&str> {
    row.needed("m", row.text("m"))
}

/// Returns when the entry was added or an attempt was registered last.
pub(super) fn changed(row: &Row) -> Result<Millis> {
    row.needed("b", row.moment("b")?)
}

/// Returns whether this commit added the entry.
pub(super) fn is_named(entry: &OutboxEntry, commit: &OpId) -> bool {
    entry.attempts.first() == Some(commit)
}

/// Returns the prefix of the sort keys of an entity's entries: a hash of the entity's key.
pub(super) fn group(key: &Key) -> String {
    // A key and a message together may be too long for a sort key.
    format!("{}:", hex(&Sha256::digest(key.as_str())))
}

/// Returns a list attribute of these operations.
pub(super) fn texts<'a>(ops: impl IntoIterator<Item = &'a OpId>) -> AttributeValue {
    AttributeValue::L(ops.into_iter().map(|op| op.as_str().value()).collect())
}

fn attempts(row: &Row) -> Result<Vec<OpId>> {
    let list = row.attributes().get("a").and_then(|list| list.as_l().ok());
    let text = |value: &AttributeValue| op(row, row.needed("a", value.as_s().ok())?);
    row.needed("a", list)?.iter().map(text).collect()
}

fn op(row: &Row, text: &str) -> Result<OpId> {
    row.valid("operation id", OpId::new(text))
}

fn payload(row: &Row, bytes: &[u8]) -> Result<Payload> {
    row.valid("value", Payload::try_from(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{RowKey, fuzz};

    #[test]
    fn fuzz_entity_row_is_read_or_corrupt() {
        let row = Row::new(&RowKey::alone("p")).with("n", 7_u64);
        let known = [row.clone().with("v", b"state".as_slice()), row.with("z", 9_i64)];
        fuzz(&known, &[|row| Entity::read(row).map(drop)]);
    }

    #[test]
    fn fuzz_entry_row_is_read_or_corrupt() {
        let [key, first, second] = ["key", "first", "second"];
        let (key, ops) = (Key::new(key).unwrap(), [OpId::new(first).unwrap(), OpId::new(second).unwrap()]);
        let row = Row::new(&RowKey::new("entries", format!("{}message", group(&key)))).with("c", first);
        let row = row.with("b", 7_i64);
        let open = row
            .clone()
            .with("m", "tag")
            .with("o", row.sort().unwrap())
            .with("d", key.as_str())
            .with("v", b"content".as_slice())
            .with("a", texts(&ops));
        assert_eq!(entry(&open).unwrap().unwrap().attempts, ops);
        let chosen = open.clone().with("p", second);
        assert_eq!(entry(&chosen).unwrap().unwrap().chosen.as_ref(), Some(&ops[1]));
        fuzz(&[open, chosen, row.with("s", GONE)], &[|row| entry(row).map(drop), |row| listed(row).map(drop)]);
    }

    /// Stored rows contain this text, so every version must compute the same text for a key.
    #[test]
    fn the_sort_key_prefix_of_an_entity_never_changes() {
        assert_eq!(group(&Key::new("é").unwrap()), "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c:");
    }
}

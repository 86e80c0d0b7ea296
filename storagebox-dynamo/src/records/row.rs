//! A record as a row.
//!
//! | attribute | holds |
//! |---|---|
//! | `s` | `leased`, `done`, or `ended`: vacant, and the last operation has ended |
//! | `c` | the operation that has the id, or the last one |
//! | `n` | the last number of the id, a version or a fence; the version of a record |
//! | `f`, `u`, `p` | the fence, the end and the fingerprint of a lease; a record keeps fence and fingerprint |
//! | `q` | the fingerprint of lapsed leases, which a lease inherits and which stays when that lease is aborted |
//! | `v`, `x` | the value of a record and the end of its retention |
//! | `r`, `w` | the operation that replaced the value last, and the version that it replaced |
//! | `y` | when the operation in `c` ended |
//! | `e` | when the latest operation with a separate row ended ([`ended`](super::ended)) |
//! | `t` | the tag of the attempt that wrote the row. No two writes have the same tag |
//!
//! Earlier versions wrote the list `h` in place of `t`.

use storagebox_core::backend::rules::{IdLease, IdRecord, IdState};
use storagebox_core::{Entry, Fence, Fingerprint, OpId, Payload, Result, Version};

use super::Records;
use super::ended::{Ended, is_remembered};
use super::record::Record;
use crate::client::{OpenNamespace, Write};
use crate::clock::Millis;
use crate::row::{Row, RowKey};

pub(crate) const LEASED: &str = "leased";
pub(crate) const DONE: &str = "done";
pub(crate) const ENDED: &str = "ended";

/// The condition that the id has a record of this version whose retention is not over.
pub(crate) const CURRENT: &str = "s = :done AND n = :version AND (attribute_not_exists(x) OR x > :past)";

impl Records {
    /// Sets the expiry of a row whose state ends at `end`; `None` means that the state has no end.
    pub(crate) fn expiring(&self, write: Write, end: Option<Millis>) -> Write {
        write.expiring(self.open.expiry_after(end))
    }
}

impl Record {
    /// Reads the record, without an expired value and without forgotten operations and fingerprints.
    pub(super) fn read(row: &Row, open: &OpenNamespace, past: Millis) -> Result<Self> {
        let mut record = Self {
            state: state(row)?,
            ended: None,
            others: row.moment("e")?,
            asked: None,
            last: row.needed("n", row.number("n"))?,
            tag: Some(tag(row)?),
            is_own: false,
        };
        if let (IdState::Vacant(_), Some(since)) = (&record.state, row.moment("y")?) {
            record.ended = Some(Ended { op: op(row)?, since });
        }
        record.expire(past);
        let remembered = |since: Millis| is_remembered(open, since, past);
        record.ended = record.ended.filter(|ended| remembered(ended.since));
        match &mut record.state {
            IdState::Vacant(fingerprint) if record.ended.is_none() => *fingerprint = None,
            IdState::Leased(leased) if !remembered(leased.until) => leased.fingerprint = None,
            _ => {}
        }
        record.others = record.others.filter(|since| remembered(*since));
        Ok(record)
    }

    /// Returns the row of the id in its next state.
    pub(super) fn becoming(&self, state: &IdState<Millis>, key: &RowKey, open: &OpenNamespace) -> Row {
        let others = self.last_ended();
        let (number, until) = number_and_end(state);
        let end = until.map(|until| until.max(others.unwrap_or(until)));
        let row = Row::new(key)
            .with("n", number.unwrap_or(self.last))
            .with_some("c", state.op().map(OpId::as_str))
            .with_some("p", state.fingerprint().map(Fingerprint::as_str))
            .with_some("e", others.map(|since| since.0))
            .expiring(open.expiry_after(end));
        match state {
            IdState::Vacant(_) => row.with("s", ENDED),
            IdState::Leased(IdLease { fence, until, fingerprint, is_inherited, .. }) => row
                .with("s", LEASED)
                .with("f", fence.number())
                .with("u", until.0)
                .with_some("q", fingerprint.as_ref().filter(|_| *is_inherited).map(Fingerprint::as_str)),
            IdState::Done(done) => row
                .with("s", DONE)
                .with("v", done.entry.value.as_bytes())
                .with_some("x", done.until.map(|until| until.0))
                .with_some("f", done.fence.map(Fence::number))
                .with_some("r", done.replaced_by.as_ref().map(|(op, _)| op.as_str()))
                .with_some("w", done.replaced_by.as_ref().map(|(_, version)| version.number())),
        }
    }
}

/// Returns the fence or version of a state, and the end of the state.
fn number_and_end(state: &IdState<Millis>) -> (Option<u64>, Option<Millis>) {
    match state {
        IdState::Vacant(_) => (None, None),
        IdState::Leased(leased) => (Some(leased.fence.number()), Some(leased.until)),
        IdState::Done(done) => (Some(done.entry.version.number()), done.until),
    }
}

fn state(row: &Row) -> Result<IdState<Millis>> {
    match row.needed("s", row.text("s"))? {
        LEASED => leased(row).map(IdState::Leased),
        DONE => done(row).map(IdState::Done),
        ENDED => fingerprint(row, "q").map(IdState::Vacant),
        _ => Err(row.unreadable("its state is not known")),
    }
}

fn leased(row: &Row) -> Result<IdLease<Millis>> {
    let inherited = fingerprint(row, "q")?;
    Ok(IdLease {
        op: op(row)?,
        fence: row.needed("f", fence(row)?)?,
        until: row.needed("u", row.number("u").map(Millis))?,
        is_inherited: inherited.is_some(),
        fingerprint: inherited.or(fingerprint(row, "p")?),
    })
}

fn done(row: &Row) -> Result<IdRecord<Millis>> {
    let value = row.valid("value", Payload::try_from(row.needed("v", row.bytes("v"))?))?;
    Ok(IdRecord {
        entry: Entry { value, version: Version::new(row.needed("n", row.number("n"))?) },
        op: op(row)?,
        fence: fence(row)?,
        fingerprint: fingerprint(row, "p")?,
        replaced_by: replacement(row)?,
        until: row.moment("x")?,
    })
}

fn op(row: &Row) -> Result<OpId> {
    row.valid("operation id", OpId::new(row.needed("c", row.text("c"))?))
}

fn replacement(row: &Row) -> Result<Option<(OpId, Version)>> {
    let Some(op) = row.maybe("r", Row::text)? else { return Ok(None) };
    let op = row.valid("operation id", OpId::new(op))?;
    Ok(Some((op, Version::new(row.needed("w", row.number("w"))?))))
}

fn fence(row: &Row) -> Result<Option<Fence>> {
    Ok(row.maybe("f", Row::number)?.map(Fence::new))
}

fn fingerprint(row: &Row, attribute: &'static str) -> Result<Option<Fingerprint>> {
    let print = row.maybe(attribute, Row::text)?.map(Fingerprint::new).transpose();
    row.valid("fingerprint", print)
}

fn tag(row: &Row) -> Result<String> {
    match row.maybe("t", Row::text)? {
        None if row.has("h") => Ok(String::new()),
        tag => row.needed("t", tag.filter(|tag| !tag.is_empty())).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{RowKey, fuzz};

    #[test]
    fn fuzz_record_row_is_read_or_corrupt() {
        let row =
            Row::new(&RowKey::new("ids", "id")).with("c", "op").with("n", 7_u64).with("p", "print").with("t", "tag");
        let leased = row.clone().with("s", LEASED).with("f", 7_u64).with("u", 8_i64);
        let done = row.clone().with("s", DONE).with("v", b"value".as_slice()).with("x", 8_i64);
        let known = [leased, done.with("r", "op").with("w", 9_u64), row.with("s", ENDED)];
        fuzz(&known, &[|row| state(row).map(drop), |row| tag(row).map(drop)]);
    }
}

//! A record as a row.
//!
//! | attribute | holds |
//! |---|---|
//! | `s` | `leased`, `done`, or `ended`: vacant, and the operation that had it is over |
//! | `c` | that operation, or the one that has it |
//! | `n` | the last number that was given on the id; a record's version |
//! | `f`, `u`, `p` | a lease's fence, its end, its fingerprint; a record keeps the first and the last |
//! | `q` | the fingerprint of lapsed leases, which a lease inherits, and which stays when that lease is aborted |
//! | `v`, `x` | a record's value, and the end of its retention |
//! | `r`, `w` | who replaced the value last, and at which version |
//! | `y` | when the operation in `c` ended |
//! | `e` | when the last one before it ended; those have rows of their own ([`ended`](super::ended)) |
//! | `h` | the marks of the last writes, the latest first, which stands for the row as it is; and of the very first |

use storagebox_core::backend::rules::{IdLease, IdRecord, IdState};
use storagebox_core::{Entry, Fence, Fingerprint, OpId, Payload, Result, Version};

use super::Records;
use super::ended::{Ended, is_remembered};
use super::log::{Log, Mark};
use super::record::Record;
use crate::client::{OpenNamespace, Write};
use crate::clock::Millis;
use crate::row::{EXPIRES, Row, RowKey};

pub(crate) const LEASED: &str = "leased";
pub(crate) const DONE: &str = "done";
pub(crate) const ENDED: &str = "ended";

/// The record is there at this version, and its retention is not over.
pub(crate) const CURRENT: &str = "s = :done AND n = :version AND (attribute_not_exists(x) OR x > :past)";

impl Records {
    /// Says from when on no promise needs a row whose state ends then; there may be no end.
    pub(crate) fn kept(&self, write: Write, end: Option<Millis>) -> Write {
        match end.and_then(|end| self.open.forgotten_after(end)) {
            Some(forgotten) => write.set("g", forgotten.0).set(EXPIRES, self.client().deletable(forgotten)),
            None => write.remove(&["g", EXPIRES]),
        }
    }
}

impl Record {
    /// The record as it is now: what has expired is over, and what need not be remembered is forgotten.
    pub(super) fn read(row: &Row, open: &OpenNamespace, past: Millis) -> Result<Self> {
        let mut record = Self {
            state: state(row)?,
            ended: None,
            others: row.moment("e")?,
            asked: None,
            last: row.needed("n", row.number("n"))?,
            log: Log::read(row)?,
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

    /// The row of the id when it is in this state, by the write of this mark.
    pub(super) fn becoming(&self, state: &IdState<Millis>, mark: Mark, key: &RowKey, open: &OpenNamespace) -> Row {
        let others = self.last_ended();
        let (number, until) = number_and_end(state);
        let end = until.map(|until| until.max(others.unwrap_or(until)));
        let forgotten = end.and_then(|end| open.forgotten_after(end));
        let row = Row::new(key)
            .with("n", number.unwrap_or(self.last))
            .with("h", self.log.clone().with(mark))
            .with_some("c", state.op().map(OpId::as_str))
            .with_some("p", state.fingerprint().map(Fingerprint::as_str))
            .with_some("e", others.map(|since| since.0))
            .with_some("g", forgotten.map(|forgotten| forgotten.0))
            .with_some(EXPIRES, forgotten.map(|forgotten| open.client().deletable(forgotten)));
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

/// The last number that was given in this state, and the end of the state.
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
    let value =
        Payload::try_from(row.needed("v", row.bytes("v"))?).map_err(|_| row.unreadable("its value is too long"))?;
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
    OpId::new(row.needed("c", row.text("c"))?).map_err(|_| row.unreadable("its operation id is not valid"))
}

fn replacement(row: &Row) -> Result<Option<(OpId, Version)>> {
    let Some(op) = row.maybe("r", Row::text)? else { return Ok(None) };
    let op = OpId::new(op).map_err(|_| row.unreadable("its operation id is not valid"))?;
    Ok(Some((op, Version::new(row.needed("w", row.number("w"))?))))
}

fn fence(row: &Row) -> Result<Option<Fence>> {
    Ok(row.maybe("f", Row::number)?.map(Fence::new))
}

fn fingerprint(row: &Row, attribute: &'static str) -> Result<Option<Fingerprint>> {
    let print = row.maybe(attribute, Row::text)?.map(Fingerprint::new).transpose();
    print.map_err(|_| row.unreadable("its fingerprint is not valid"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{RowKey, whatever};

    #[test]
    fn whatever_a_row_of_a_record_holds() {
        let row = Row::new(&RowKey::new("ids", "id")).with("c", "op").with("n", 7_u64).with("p", "print");
        let leased = row.clone().with("s", LEASED).with("f", 7_u64).with("u", 8_i64);
        let done = row.clone().with("s", DONE).with("v", b"value".as_slice()).with("x", 8_i64);
        let known = [leased, done.with("r", "op").with("w", 9_u64), row.with("s", ENDED)];
        whatever(&known, &[|row| state(row).map(drop)]);
    }
}

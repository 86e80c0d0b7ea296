//! The void calls of a claim (ER-5). The attribute `x` of its row has their numbers.
//!
//! A claim without a row gets a row with the state `void`, and is still unknown. The numbers stay when another call
//! takes an item for the claim, until the row is deleted.

use storagebox_core::backend::rules::VoidCalls;
use storagebox_core::{Attempt, Result};

use super::Bank;
use super::claim::{HELD, LASTS, UNKNOWN, is_forgotten};
use crate::client::{Moment, Tag, Write, Wrote};
use crate::error::contention;
use crate::row::{Row, RowKey};

/// The stored state of an unknown claim that has void calls.
pub(super) const VOID: &str = "void";
/// The condition that the claim is unknown and has void calls.
pub(super) const ONLY_VOID: &str = "s = :void";
/// The condition that the attempt's call is not void.
pub(super) const NOT_VOID: &str = "NOT contains(x, :call)";
/// The condition that the row has room for one more void call.
const ROOM: &str = "(attribute_not_exists(x) OR size(x) < :most)";

/// Returns whether the claim's row says that the call of the attempt is void.
pub(super) fn is_void(at: Moment, row: Option<&Row>, attempt: Attempt) -> Result<bool> {
    Ok(void_calls(at, row)?.contain(attempt))
}

fn void_calls(at: Moment, row: Option<&Row>) -> Result<VoidCalls> {
    match row {
        Some(row) if !is_forgotten(at, row)? => Ok(row.maybe("x", Row::numbers)?.into_iter().flatten().collect()),
        _ => Ok(VoidCalls::default()),
    }
}

impl Bank {
    /// Returns the refusal of an attempt whose claim is unknown. If an earlier attempt was sent, first makes the call
    /// void.
    pub(super) async fn refused_unknown<T>(
        &self,
        key: &RowKey,
        row: Option<&Row>,
        attempt: Attempt,
        tag: &Tag,
        refusal: T,
    ) -> Result<T> {
        let voiding = self.ending(key, VOID, self.client().now()).tagged(tag);
        let is_forgotten = row.map_or(Ok(true), |row| is_forgotten(self.client().moment(), row))?;
        let voiding = match is_forgotten {
            // The numbers of a forgotten row are forgotten too.
            true => {
                let voiding = voiding.set("x", &[attempt.call()][..]).only_if(UNKNOWN);
                voiding.value(":past", self.client().surely_past().0)
            }
            false => added(voiding, attempt).only_if(format!("{ONLY_VOID} AND {ROOM}")).value(":void", VOID),
        };
        self.voided(row, attempt, voiding, refusal).await
    }

    /// Returns the refusal of an attempt to retire a claim that holds an item. If an earlier attempt was sent, first
    /// makes the call void.
    pub(super) async fn refused_holding<T>(&self, key: &RowKey, row: &Row, attempt: Attempt, refusal: T) -> Result<T> {
        // The row keeps the tag of the call that took the item.
        let voiding = added(Write::update(key), attempt).only_if(format!("{LASTS} AND {ROOM}"));
        let voiding = voiding.value(":held", HELD).value(":coming", self.client().surely_coming().0);
        self.voided(Some(row), attempt, voiding, refusal).await
    }

    async fn voided<T>(&self, row: Option<&Row>, attempt: Attempt, voiding: Write, refusal: T) -> Result<T> {
        if !void_calls(self.client().moment(), row)?.refuse(attempt)? {
            return Ok(refusal);
        }
        match self.client().write(&voiding).await? {
            Wrote::Done(_) => Ok(refusal),
            // The row has changed since it was read, maybe by the lost attempt itself. The next attempt reads it again.
            Wrote::Refused(_) => Err(contention()),
        }
    }
}

/// Adds the call of the attempt to the row's void calls.
fn added(write: Write, attempt: Attempt) -> Write {
    let write = write.add("x", ":calls").value(":calls", &[attempt.call()][..]);
    write.value(":most", Attempt::MAX_VOID as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Millis;
    use crate::row::fuzz;

    #[test]
    fn fuzz_row_of_void_calls_is_read_or_corrupt() {
        let row = Row::new(&RowKey::new("claims", "ada")).with("s", VOID).with("x", &[i64::MIN, 7][..]);
        let at = Moment { past: Millis(7), coming: Millis(9) };
        let calls = void_calls(at, Some(&row)).unwrap();
        assert_eq!(calls.numbers(), [i64::MIN, 7]);
        fuzz(
            &[row.clone().with("g", 8_i64), row],
            &[|row| is_void(Moment { past: Millis(7), coming: Millis(9) }, Some(row), Attempt::of_call(7)).map(drop)],
        );
    }
}

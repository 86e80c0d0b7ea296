//! A claim's row: what it holds and until when, or how it ended.

use storagebox_core::backend::rules::StoredTime;
use storagebox_core::{ClaimId, ClaimState, End, Held, Hold, HoldState, Item, Result};

use crate::client::{Client, Moment, Write};
use crate::clock::Millis;
use crate::item_bank::Bank;
use crate::row::{EXPIRES, Row, RowKey};

pub(super) const HELD: &str = "held";
pub(super) const CONFIRMED: &str = "confirmed";
pub(super) const RELEASED: &str = "released";
pub(super) const EXPIRED: &str = "expired";

/// A claim's row overwrites one that is not remembered any more.
pub(super) const UNKNOWN: &str = "attribute_not_exists(pk) OR g <= :past";
/// A hold that lasts for its holder, by every clock.
pub(super) const LASTS: &str = "s = :held AND (attribute_not_exists(u) OR u > :coming)";
/// One that does not, and whose end is not written yet.
pub(super) const RAN_OUT: &str = "s = :held AND u <= :coming";

/// Judges a row as its holder may: a hold has lapsed a skew before its end.
pub(super) fn judge(at: Moment, row: Option<&Row>) -> Result<ClaimState> {
    let Some(row) = row else { return Ok(ClaimState::Unknown) };
    if row.moment("g")?.is_some_and(|forgotten| forgotten <= at.past) {
        return Ok(ClaimState::Unknown);
    }
    let hold = match (row.text("s"), until(row)?) {
        (Some(HELD), None) => HoldState::Forever,
        (Some(HELD), Some(until)) if at.coming < until => HoldState::Remaining(at.coming.until(until)),
        (Some(HELD), Some(_)) => return Ok(ClaimState::Ended(End::Expired)),
        (Some(CONFIRMED), _) => HoldState::Confirmed,
        (Some(RELEASED), _) => return Ok(ClaimState::Ended(End::Released)),
        (Some(EXPIRED), _) => return Ok(ClaimState::Ended(End::Expired)),
        _ => return Err(row.unreadable("its state is not known")),
    };
    Ok(ClaimState::Held(Held { item: held_item(row)?, hold }))
}

pub(super) fn until(row: &Row) -> Result<Option<Millis>> {
    row.moment("u")
}

pub(super) fn held_item(row: &Row) -> Result<Item> {
    Item::new(row.needed("i", row.text("i"))?).map_err(|_| row.unreadable("its item is not valid"))
}

/// Whether the hold that the row tells of has lapsed by every clock, so that others may take its item.
pub(super) fn has_lapsed(at: Moment, row: &Row) -> Result<bool> {
    Ok(row.text("s") == Some(HELD) && until(row)?.is_some_and(|until| until <= at.past))
}

/// The end of a hold that begins now.
pub(super) fn end_of(client: &Client, hold: Hold) -> Option<Millis> {
    match hold {
        Hold::Forever => None,
        Hold::For(duration) => Some(client.end_of(duration)),
    }
}

/// A hold as its holder is told of it when it begins.
pub(super) fn begun(hold: Hold) -> HoldState {
    match hold {
        Hold::Forever => HoldState::Forever,
        Hold::For(duration) => HoldState::Remaining(duration),
    }
}

impl Bank {
    pub(super) async fn claim_key(&self, claim: &str) -> Result<RowKey> {
        Ok(RowKey::new(self.open.partition_of("claims", claim).await?, claim))
    }

    pub(super) async fn state(&self, claim: &ClaimId) -> Result<ClaimState> {
        let (key, at) = (self.claim_key(claim.as_str()).await?, self.client().moment());
        let row = self.client().get(&key).await?;
        judge(at, row.as_ref())
    }

    /// From when on a claim that ends then need not be remembered, as attributes.
    pub(super) fn forgetting(&self, end: Option<Millis>) -> (Option<i64>, Option<i64>) {
        let forgotten = end.and_then(|end| self.open.forgotten_after(end));
        (forgotten.map(|at| at.0), forgotten.map(|at| self.client().deletable(at)))
    }

    /// Ends a claim in its row. It lets go of its item, which the same transaction frees.
    pub(super) fn ending(&self, key: &RowKey, state: &str, end: Millis) -> Write {
        let (forgotten, expires) = self.forgetting(Some(end));
        let ended = Write::update(key).set("s", state).set_some("g", forgotten).set_some(EXPIRES, expires);
        ended.remove(&["i", "u"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::whatever;

    #[test]
    fn whatever_a_row_of_a_claim_holds() {
        let row = Row::new(&RowKey::new("claims", "ada")).with("i", "code").with("s", HELD);
        let known = [row.clone().with("u", 7_i64).with("g", 8_i64), row];
        whatever(
            &known,
            &[|row| until(row).map(drop), |row| held_item(row).map(drop), |row| row.moment("g").map(drop)],
        );
    }
}

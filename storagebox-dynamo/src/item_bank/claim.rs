//! The row of a claim: what it holds and until when, or how it ended, and which of its calls are void.

use storagebox_core::backend::rules::StoredTime;
use storagebox_core::{ClaimId, ClaimState, End, Held, Hold, HoldState, Item, Result};

use super::void::VOID;
use crate::client::{Client, Moment, Write};
use crate::clock::Millis;
use crate::item_bank::Bank;
use crate::row::{Row, RowKey};

/// The text in the partition keys of the rows of claims.
pub(super) const CLAIMS: &str = "claims";
pub(super) const HELD: &str = "held";
pub(super) const CONFIRMED: &str = "confirmed";
pub(super) const RELEASED: &str = "released";
pub(super) const EXPIRED: &str = "expired";

/// The condition that the claim is unknown. A claim that is no longer remembered counts as unknown.
pub(super) const UNKNOWN: &str = "attribute_not_exists(pk) OR g <= :past";
/// The condition that the hold has not ended on any clock.
pub(super) const LASTS: &str = "s = :held AND (attribute_not_exists(u) OR u > :coming)";
/// The condition that the hold may have ended on some clock, and that the end is not written yet.
pub(super) const RAN_OUT: &str = "s = :held AND u <= :coming";

/// Reads the state of a claim. A hold counts as lapsed `max_skew` before its stored end.
pub(super) fn judge(at: Moment, row: Option<&Row>) -> Result<ClaimState> {
    let Some(row) = row else { return Ok(ClaimState::Unknown) };
    if is_forgotten(at, row)? {
        return Ok(ClaimState::Unknown);
    }
    let hold = match (row.text("s"), until(row)?) {
        (Some(HELD), None) => HoldState::Forever,
        (Some(HELD), Some(until)) if at.coming < until => HoldState::Remaining(at.coming.until(until)),
        (Some(HELD), Some(_)) => return Ok(ClaimState::Ended(End::Expired)),
        (Some(CONFIRMED), _) => HoldState::Confirmed,
        (Some(RELEASED), _) => return Ok(ClaimState::Ended(End::Released)),
        (Some(EXPIRED), _) => return Ok(ClaimState::Ended(End::Expired)),
        (Some(VOID), _) => return Ok(ClaimState::Unknown),
        _ => return Err(row.unreadable("its state is not known")),
    };
    Ok(ClaimState::Held(Held { item: held_item(row)?, hold }))
}

pub(super) fn is_forgotten(at: Moment, row: &Row) -> Result<bool> {
    Ok(row.moment("g")?.is_some_and(|forgotten| forgotten <= at.past))
}

pub(super) fn until(row: &Row) -> Result<Option<Millis>> {
    row.moment("u")
}

pub(super) fn held_item(row: &Row) -> Result<Item> {
    row.valid("item", Item::new(row.needed("i", row.text("i"))?))
}

/// Returns whether the hold has lapsed on every clock, so that another claim may take the item.
pub(super) fn has_lapsed(at: Moment, row: &Row) -> Result<bool> {
    Ok(row.text("s") == Some(HELD) && until(row)?.is_some_and(|until| until <= at.past))
}

/// Returns the stored end of a hold that begins now.
pub(super) fn end_of(client: &Client, hold: Hold) -> Option<Millis> {
    match hold {
        Hold::Forever => None,
        Hold::For(duration) => Some(client.end_of(duration)),
    }
}

pub(super) fn begun(hold: Hold) -> HoldState {
    match hold {
        Hold::Forever => HoldState::Forever,
        Hold::For(duration) => HoldState::Remaining(duration),
    }
}

impl Bank {
    pub(super) async fn claim_key(&self, claim: &str) -> Result<RowKey> {
        self.open.key_of(CLAIMS, claim).await
    }

    pub(super) async fn claim_row(&self, claim: &ClaimId) -> Result<Option<Row>> {
        self.client().get(&self.claim_key(claim.as_str()).await?).await
    }

    pub(super) async fn state(&self, claim: &ClaimId) -> Result<ClaimState> {
        let (key, at) = (self.claim_key(claim.as_str()).await?, self.client().moment());
        let row = self.client().get(&key).await?;
        judge(at, row.as_ref())
    }

    /// Returns the write that gives a claim an ended state or `void`, and keeps its void calls. If the claim has an
    /// item, the same transaction must free the item.
    pub(super) fn ending(&self, key: &RowKey, state: &str, end: Millis) -> Write {
        let ended = Write::update(key).set("s", state).remove(&["i", "u"]);
        ended.expiring(self.open.expiry_after(Some(end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::fuzz;

    #[test]
    fn fuzz_claim_row_is_read_or_corrupt() {
        let row = Row::new(&RowKey::new("claims", "ada")).with("i", "code").with("s", HELD);
        let known = [row.clone().with("u", 7_i64).with("g", 8_i64), row];
        fuzz(&known, &[|row| until(row).map(drop), |row| held_item(row).map(drop), |row| row.moment("g").map(drop)]);
    }
}

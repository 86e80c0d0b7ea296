//! Holds that have lapsed: the next call that meets such an item frees it.

use storagebox_core::{ClaimId, Item, Result};

use super::Bank;
use super::claim::{CONFIRMED, EXPIRED, HELD, until};
use super::item::{free_at, held_at};
use crate::client::{Refusal, Tag, Transacted, Write};
use crate::clock::Millis;
use crate::row::{Row, RowKey};

/// The claim that is to be ended still holds this item, and its hold has lapsed by every clock.
const LAPSED: &str = "s = :held AND i = :i AND u <= :past";
/// No claim of this id holds this item any more.
const LET_GO: &str = "attribute_not_exists(i) OR i <> :i";
/// The item stands where it was seen, with the claim that was seen.
const UNCHANGED: &str = "o = :was AND c = :c";

impl Bank {
    /// Ends the claim and frees its item, in one transaction. `false` if the hold lasts, or another was quicker.
    pub(super) async fn freed(&self, item: &Item, by: &ClaimId, at: &str) -> Result<bool> {
        let key = self.claim_key(by.as_str()).await?;
        let past = self.client().surely_past();
        let ended = self.ending(&key, EXPIRED, past).only_if(LAPSED);
        let ended = ended.value(":held", HELD).value(":i", item.as_str()).value(":past", past.0);
        let writes = [ended, self.freeing(item, by, at).await?];
        match self.client().transact(&writes).await? {
            Transacted::Done => Ok(true),
            Transacted::Refused(refusals) => match refusals.into_iter().next() {
                Some(Refusal::Condition(row)) => self.corrected(item, by, at, &key, row.as_ref()).await,
                _ => Ok(false),
            },
        }
    }

    /// The claim was extended, confirmed, or has gone on without this item: its own row says so, and the item's row
    /// follows it.
    async fn corrected(&self, item: &Item, by: &ClaimId, at: &str, key: &RowKey, row: Option<&Row>) -> Result<bool> {
        if let Some(row) = row.filter(|row| row.text("i") == Some(item.as_str())) {
            self.moved(item, by, at, row).await?;
            return Ok(false);
        }
        let let_go = Write::check(key).only_if(LET_GO).value(":i", item.as_str());
        let writes = [let_go, self.freeing(item, by, at).await?];
        // A token of its own: nothing in these writes tells them from those of an earlier time.
        let transacted = self.client().transact_as(&writes, Tag::fresh().as_str()).await?;
        Ok(matches!(transacted, Some(Transacted::Done)))
    }

    async fn freeing(&self, item: &Item, by: &ClaimId, at: &str) -> Result<Write> {
        let freed = Write::update(&self.item_key(item.as_str()).await?).set("o", free_at(item.as_str()));
        Ok(freed.remove(&["c"]).only_if(UNCHANGED).value(":was", at).value(":c", by.as_str()))
    }

    /// Puts the item where the claim's row says that it belongs.
    pub(super) async fn moved(&self, item: &Item, by: &ClaimId, at: &str, claim: &Row) -> Result<()> {
        let end: Option<Millis> = until(claim)?.filter(|_| claim.text("s") != Some(CONFIRMED));
        let moved = Write::update(&self.item_key(item.as_str()).await?);
        let moved = match held_at(end) {
            Some(later) => moved.set("o", later),
            None => moved.remove(&["o"]),
        };
        let moved = moved.only_if(UNCHANGED).value(":was", at).value(":c", by.as_str());
        self.client().write(&moved).await.map(drop)
    }
}

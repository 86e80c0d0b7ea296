//! Lapsed holds: the next call that finds an item with a lapsed hold frees the item.

use storagebox_core::{ClaimId, Item, Result};

use super::Bank;
use super::claim::{CONFIRMED, EXPIRED, HELD, until};
use super::item::{free_at, held_at};
use crate::client::{Tag, Transacted, Write, Wrote};
use crate::clock::Millis;
use crate::row::{Row, RowKey};

/// The condition that the claim still holds this item and that its hold has lapsed on every clock.
const LAPSED: &str = "s = :held AND i = :i AND u <= :past";
/// The condition that the claim no longer holds this item.
const LET_GO: &str = "attribute_not_exists(i) OR i <> :i";
/// The condition that the item still has the claim and the key in the index that were read.
const UNCHANGED: &str = "o = :was AND c = :c";

impl Bank {
    /// Ends a lapsed claim and frees its item, in one transaction. Returns `false` if the hold has not lapsed, or if
    /// another call freed the item first.
    pub(super) async fn freed(&self, item: &Item, by: &ClaimId, at: &str) -> Result<bool> {
        let key = self.claim_key(by.as_str()).await?;
        let past = self.client().surely_past();
        let ended = self.ending(&key, EXPIRED, past).only_if(LAPSED);
        let ended = ended.value(":held", HELD).value(":i", item.as_str()).value(":past", past.0);
        let writes = [ended, self.freeing(item, by, at).await?];
        match self.client().transact(&writes).await?.of_first() {
            Some(Wrote::Done(_)) => Ok(true),
            Some(Wrote::Refused(row)) => self.corrected(item, by, at, &key, row.as_ref()).await,
            None => Ok(false),
        }
    }

    /// Corrects the row of an item by the row of its claim. Returns whether the item is free now.
    async fn corrected(&self, item: &Item, by: &ClaimId, at: &str, key: &RowKey, row: Option<&Row>) -> Result<bool> {
        if let Some(row) = row.filter(|row| row.text("i") == Some(item.as_str())) {
            self.moved(item, by, at, row).await?;
            return Ok(false);
        }
        let let_go = Write::check(key).only_if(LET_GO).value(":i", item.as_str());
        let writes = [let_go, self.freeing(item, by, at).await?];
        // A random token, because the same writes may be made again at another time.
        let transacted = self.client().transact_as(&writes, Tag::fresh().as_str()).await?;
        Ok(matches!(transacted, Some(Transacted::Done)))
    }

    async fn freeing(&self, item: &Item, by: &ClaimId, at: &str) -> Result<Write> {
        let freed = Write::update(&self.item_key(item.as_str()).await?).set("o", free_at(item.as_str()));
        Ok(freed.remove(&["c"]).only_if(UNCHANGED).value(":was", at).value(":c", by.as_str()))
    }

    /// Moves the item to its place in the index for the end of the claim's hold.
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

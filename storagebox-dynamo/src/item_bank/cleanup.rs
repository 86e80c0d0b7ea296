//! Items whose claims last and whose place in the index still says that their hold has lapsed, because a `confirm` or
//! an `extend` was interrupted. Upkeep moves them to their place, so that no taker finds them.

use storagebox_core::{ClaimId, Namespace, Result};

use super::Bank;
use super::claim::has_lapsed;
use super::item::{ITEMS, LAPSING, item_of, lapsing_at};
use crate::client::{Client, Kind, Partition, prefix_of};
use crate::row::{Attributes, Row, Value};

/// The condition that the row may be an item whose hold has lapsed by its place in the index.
pub(crate) const LAPSED: &str = "begins_with(pk, :banks) AND o BETWEEN :lapsing AND :lapsed AND attribute_exists(c)";
impl Bank {
    /// Returns the values of [`LAPSED`].
    pub(crate) fn lapsed(client: &Client) -> Attributes {
        let banks = prefix_of(Kind::Bank, client);
        let values = [
            (":banks", banks.value()),
            (":lapsing", LAPSING.value()),
            (":lapsed", lapsing_at(client.surely_past()).value()),
        ];
        Attributes::from(values.map(|(placeholder, value)| (placeholder.to_owned(), value)))
    }

    /// Returns the bank of an item's row; `None` for any other row.
    pub(crate) fn of_items(row: &Row, client: &Client) -> Option<Namespace> {
        let (name, shard) = Partition::parse(client, row.text("pk")?)?.within(Kind::Bank, ITEMS)?;
        shard.parse::<u16>().is_ok().then_some(name)
    }

    /// Moves the item to its place if its claim lasts, and returns whether it did. An item whose hold has lapsed is
    /// left to a taker.
    pub(crate) async fn moved_back(&self, row: &Row) -> Result<bool> {
        // The call that needs a damaged row reports it. It must not keep upkeep from the other rows.
        let by = row.text("c").and_then(|by| ClaimId::new(by).ok());
        let (Some(by), Some(at), Ok(item)) = (by, row.text("o"), item_of(row)) else { return Ok(false) };
        let claim = self.client().get(&self.claim_key(by.as_str()).await?).await?;
        let lasts = |claim: &Row| matches!(has_lapsed(self.client().moment(), claim), Ok(false));
        let stays = |claim: &Row| claim.text("i") == Some(item.as_str()) && lasts(claim);
        let Some(claim) = claim.filter(stays) else { return Ok(false) };
        self.moved(&item, &by, at, &claim).await.map(|()| true)
    }
}

//! Upkeep of items whose place in the index is wrong. After an interrupted `confirm` or `extend`, the place of an item
//! says that its hold has lapsed, although its claim lasts. Upkeep moves the item to its correct place, where takers do
//! not find it.

use storagebox_core::{ClaimId, Namespace, Result};

use super::Bank;
use super::claim::has_lapsed;
use super::item::{ITEMS, LAPSING, item_of, lapsing_at};
use crate::client::{Client, Kind, Partition, prefix_of};
use crate::row::{Attributes, Row, Value};

/// The condition that the row is an item whose key in the index says that its hold has lapsed.
pub(crate) const LAPSED: &str = "begins_with(pk, :banks) AND o BETWEEN :lapsing AND :lapsed AND attribute_exists(c)";
impl Bank {
    /// Returns the values of the placeholders in [`LAPSED`].
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

    /// Moves a held item to its correct place in the index. Returns whether the item was moved.
    pub(crate) async fn moved_back(&self, row: &Row) -> Result<bool> {
        // A damaged row must not stop upkeep of the other rows. The call that needs the row reports it.
        let by = row.text("c").and_then(|by| ClaimId::new(by).ok());
        let (Some(by), Some(at), Ok(item)) = (by, row.text("o"), item_of(row)) else { return Ok(false) };
        let claim = self.client().get(&self.claim_key(by.as_str()).await?).await?;
        let lasts = |claim: &Row| matches!(has_lapsed(self.client().moment(), claim), Ok(false));
        let stays = |claim: &Row| claim.text("i") == Some(item.as_str()) && lasts(claim);
        let Some(claim) = claim.filter(stays) else { return Ok(false) };
        self.moved(&item, &by, at, &claim).await.map(|()| true)
    }
}

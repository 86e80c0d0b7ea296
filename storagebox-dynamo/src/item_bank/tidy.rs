//! Items that stay with their claims and still stand where lapsed holds are, because a confirm or an extend was cut
//! off: upkeep puts them where they belong, so that no taker meets them.

use storagebox_core::{ClaimId, Namespace, Result};

use super::Bank;
use super::claim::has_lapsed;
use super::item::{LAPSING, item_of, lapsing_at};
use crate::client::{Client, Kind, named, prefix_of};
use crate::row::{Attributes, Row, Value};

/// The row may be an item whose hold, as the index has it, ran out.
pub(crate) const LAPSED: &str = "begins_with(pk, :banks) AND o BETWEEN :lapsing AND :lapsed AND attribute_exists(c)";
/// The part of a bank that has them.
const ITEMS: &str = "items";

impl Bank {
    /// What [`LAPSED`] compares with.
    pub(crate) fn lapsed(client: &Client) -> Attributes {
        let banks = prefix_of(Kind::Bank, client);
        let values = [
            (":banks", banks.value()),
            (":lapsing", LAPSING.value()),
            (":lapsed", lapsing_at(client.surely_past()).value()),
        ];
        Attributes::from(values.map(|(placeholder, value)| (placeholder.to_owned(), value)))
    }

    /// The bank of whose items the row is one.
    pub(crate) fn of_items(row: &Row, client: &Client) -> Option<Namespace> {
        named(Kind::Bank, client, row.text("pk")?, ITEMS)
    }

    /// Puts the item where it belongs, if it stays with its claim. Any other waits there for a taker.
    pub(crate) async fn tidied(&self, row: &Row) -> Result<bool> {
        // A damaged row is reported to the call that needs it. It must not keep upkeep from the other rows.
        let by = row.text("c").and_then(|by| ClaimId::new(by).ok());
        let (Some(by), Some(at), Ok(item)) = (by, row.text("o"), item_of(row)) else { return Ok(false) };
        let claim = self.client().get(&self.claim_key(by.as_str()).await?).await?;
        let lasts = |claim: &Row| matches!(has_lapsed(self.client().moment(), claim), Ok(false));
        let stays = |claim: &Row| claim.text("i") == Some(item.as_str()) && lasts(claim);
        let Some(claim) = claim.filter(stays) else { return Ok(false) };
        self.moved(&item, &by, at, &claim).await.map(|()| true)
    }
}

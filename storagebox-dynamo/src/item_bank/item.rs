//! An item's row: its place in the index, and who has it.

use sha2::{Digest, Sha256};
use storagebox_core::{Item, Result};

use crate::client::{hex, shard_of};
use crate::clock::Millis;
use crate::item_bank::Bank;
use crate::row::{Row, RowKey};

/// What places of free items begin with.
pub(super) const FREE: &str = "0";
/// What places of items whose hold may lapse begin with.
pub(super) const LAPSING: &str = "1";
/// The state of an item that was spent by a claim that is retired.
pub(super) const SPENT: &str = "spent";

/// The place of a free item.
pub(super) fn free_at(item: &str) -> String {
    format!("{FREE}{}", hex(&Sha256::digest(item)[..8]))
}

/// The place of an item whose hold ends then.
pub(super) fn lapsing_at(until: Millis) -> String {
    format!("{LAPSING}{:016x}", until.0.max(0))
}

/// The place of an item that is held until then, if it has one.
pub(super) fn held_at(until: Option<Millis>) -> Option<String> {
    until.map(lapsing_at)
}

impl Bank {
    pub(super) async fn item_key(&self, item: &str) -> Result<RowKey> {
        let shard = shard_of(item, self.open.shards().await?);
        Ok(RowKey::new(self.items(shard), item))
    }

    /// The partition of a shard's items.
    pub(super) fn items(&self, shard: u16) -> String {
        self.open.partition("items", shard)
    }
}

/// What an item's row says by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Free,
    Withdrawn,
    Spent,
    /// With a claim, whose row tells the rest.
    With(String),
}

impl Standing {
    pub(super) fn of(row: &Row) -> Result<Self> {
        match (row.maybe("c", Row::text)?, row.maybe("s", Row::text)?) {
            (Some(""), _) => Err(row.unreadable("its claim is empty")),
            (Some(claim), _) => Ok(Self::With(claim.to_owned())),
            (None, Some(SPENT)) => Ok(Self::Spent),
            (None, Some(_)) => Err(row.unreadable("its state is not known")),
            (None, None) if row.maybe("w", Row::number::<i64>)?.is_some() => Ok(Self::Withdrawn),
            // It stands where takers find it.
            (None, None) => row.needed("o", row.text("o").filter(|at| at.starts_with(FREE))).map(|_| Self::Free),
        }
    }
}

/// The item whose row it is.
pub(super) fn item_of(row: &Row) -> Result<Item> {
    Item::new(row.sort()?).map_err(|_| row.unreadable("its item is not valid"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::whatever;

    #[test]
    fn whatever_a_row_of_an_item_holds() {
        let row = Row::new(&RowKey::new("items", "code"));
        let known = [
            row.clone().with("o", free_at("code")),
            row.clone().with("o", lapsing_at(Millis(7))).with("c", "ada"),
            row.clone().with("s", SPENT),
            row.with("w", 1_i64),
        ];
        whatever(&known, &[|row| Standing::of(row).map(drop), |row| item_of(row).map(drop)]);
    }
}

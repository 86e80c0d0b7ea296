//! The row of an item: its place in the index, and the claim that has it.

use sha2::{Digest, Sha256};
use storagebox_core::{Item, Result};

use crate::client::hex;
use crate::clock::Millis;
use crate::item_bank::Bank;
use crate::row::{Row, RowKey};

/// The text in the partition keys of the rows of items.
pub(super) const ITEMS: &str = "items";
/// The first character of a free item's key in the index.
pub(super) const FREE: &str = "0";
/// The first character of the key in the index of an item whose hold may lapse.
pub(super) const LAPSING: &str = "1";
/// The value of the attribute `s` of an item whose claim was confirmed and later retired.
pub(super) const SPENT: &str = "spent";

pub(super) fn free_at(item: &str) -> String {
    format!("{FREE}{}", hex(&Sha256::digest(item)[..8]))
}

/// Returns the key in the index of an item whose hold ends at this time.
pub(super) fn lapsing_at(until: Millis) -> String {
    format!("{LAPSING}{:016x}", until.0.max(0))
}

/// Returns the key of a held item in the index; `None` if the hold has no end.
pub(super) fn held_at(until: Option<Millis>) -> Option<String> {
    until.map(lapsing_at)
}

impl Bank {
    pub(super) async fn item_key(&self, item: &str) -> Result<RowKey> {
        self.open.key_of(ITEMS, item).await
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ItemRow {
    Free,
    Withdrawn,
    Spent,
    /// The claim with this id has the item. The row of the claim has its state.
    With(String),
}

impl ItemRow {
    pub(super) fn of(row: &Row) -> Result<Self> {
        match (row.maybe("c", Row::text)?, row.maybe("s", Row::text)?) {
            (Some(""), _) => Err(row.unreadable("its claim is empty")),
            (Some(claim), _) => Ok(Self::With(claim.to_owned())),
            (None, Some(SPENT)) => Ok(Self::Spent),
            (None, Some(_)) => Err(row.unreadable("its state is not known")),
            (None, None) if row.maybe("w", Row::number::<i64>)?.is_some() => Ok(Self::Withdrawn),
            // A free item has a place in the index.
            (None, None) => row.needed("o", row.text("o").filter(|at| at.starts_with(FREE))).map(|_| Self::Free),
        }
    }
}

pub(super) fn item_of(row: &Row) -> Result<Item> {
    row.valid("item", Item::new(row.sort()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::fuzz;

    #[test]
    fn fuzz_item_row_is_read_or_corrupt() {
        let row = Row::new(&RowKey::new("items", "code"));
        let known = [
            row.clone().with("o", free_at("code")),
            row.clone().with("o", lapsing_at(Millis(7))).with("c", "ada"),
            row.clone().with("s", SPENT),
            row.with("w", 1_i64),
        ];
        fuzz(&known, &[|row| ItemRow::of(row).map(drop), |row| item_of(row).map(drop)]);
    }
}

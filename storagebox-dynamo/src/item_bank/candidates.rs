//! The items that may be taken from a bank: free items, and items whose hold has lapsed.

use futures_util::future::try_join_all;
use storagebox_core::{ClaimId, Item, Result};

use super::Bank;
use super::item::{FREE, ITEMS, LAPSING, item_of, lapsing_at};
use crate::candidates::{Candidates, Source};
use crate::client::{Index, Query, hex};
use crate::row::Row;

/// An item that may be taken, as the index shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Candidate {
    Free(Item),
    /// An item whose hold has lapsed. The claim `by` must be ended first. `at` is the item's key in the index.
    Lapsed {
        item: Item,
        by: ClaimId,
        at: String,
    },
}

impl Candidate {
    pub(crate) fn item(&self) -> &Item {
        match self {
            Self::Free(item) | Self::Lapsed { item, .. } => item,
        }
    }

    fn read(row: &Row) -> Result<Self> {
        let (item, at) = (item_of(row)?, row.needed("o", row.text("o"))?);
        match row.maybe("c", Row::text)? {
            Some(by) => {
                let by = row.valid("claim id", ClaimId::new(by))?;
                Ok(Self::Lapsed { item, by, at: at.to_owned() })
            }
            None => Ok(Self::Free(item)),
        }
    }
}

impl Source for Bank {
    type Candidate = Candidate;

    fn candidates(&self) -> &Candidates<Candidate> {
        &self.candidates
    }

    /// Reads a random shard from a random key of the index. If the page is empty, reads from the beginning of every
    /// shard.
    async fn page_from_anywhere(&self, limit: usize) -> Result<Vec<Candidate>> {
        let shard = fastrand::u16(..self.open.shards().await?);
        let start = format!("{FREE}{}", hex(&fastrand::u32(..).to_be_bytes()));
        let page = self.page(shard, &start, limit).await?;
        if page.is_empty() { self.page_from_start(limit).await } else { Ok(page) }
    }

    /// Reads from the beginning of every shard.
    async fn page_from_start(&self, limit: usize) -> Result<Vec<Candidate>> {
        let shards = 0..self.open.shards().await?;
        let pages = try_join_all(shards.map(|shard| self.page(shard, FREE, limit))).await?;
        Ok(pages.into_iter().flatten().collect())
    }
}

impl Bank {
    /// Reads the free items of a shard and then the items whose hold has lapsed on every clock, in one request.
    async fn page(&self, shard: u16, start: &str, limit: usize) -> Result<Vec<Candidate>> {
        debug_assert!(start < LAPSING);
        let query = Query::of(&self.open.partition(ITEMS, shard), Index::Order)
            .and("o BETWEEN :start AND :end")
            .value(":start", start)
            .value(":end", lapsing_at(self.client().surely_past()))
            .limit(limit);
        let page = self.client().query(&query).await?;
        page.rows.iter().map(Candidate::read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{RowKey, fuzz};

    #[test]
    fn fuzz_index_row_is_read_or_corrupt() {
        let free = Row::new(&RowKey::new("items", "code")).with("o", FREE);
        let known = [free.clone().with("c", "ada"), free];
        fuzz(&known, &[|row| Candidate::read(row).map(drop)]);
    }
}

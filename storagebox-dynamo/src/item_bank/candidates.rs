//! What may be taken from a bank: free items, and those whose hold has lapsed.

use futures_util::future::try_join_all;
use storagebox_core::{ClaimId, Item, Result};

use super::Bank;
use super::item::{FREE, LAPSING, item_of, lapsing_at};
use crate::candidates::{Candidates, Source};
use crate::client::{Index, Look, hex};
use crate::row::Row;

/// An item that may be taken, as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Candidate {
    Free(Item),
    /// Its hold has lapsed; the claim has to be ended first.
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

    /// From a row of the index.
    fn read(row: &Row) -> Result<Self> {
        let (item, at) = (item_of(row)?, row.needed("o", row.text("o"))?);
        match row.maybe("c", Row::text)? {
            Some(by) => {
                let by = ClaimId::new(by).map_err(|_| row.unreadable("its claim id is not valid"))?;
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

    /// A page from a random place of a random shard; if that is empty, from every shard.
    async fn somewhere(&self, limit: usize) -> Result<Vec<Candidate>> {
        let shard = fastrand::u16(..self.open.shards().await?);
        let start = format!("{FREE}{}", hex(&fastrand::u32(..).to_be_bytes()));
        let page = self.page(shard, &start, limit).await?;
        if page.is_empty() { self.everywhere(limit).await } else { Ok(page) }
    }

    /// A page from the beginning of every shard. Empty only if none had a candidate all the while.
    async fn everywhere(&self, limit: usize) -> Result<Vec<Candidate>> {
        let shards = 0..self.open.shards().await?;
        let pages = try_join_all(shards.map(|shard| self.page(shard, FREE, limit))).await?;
        Ok(pages.into_iter().flatten().collect())
    }
}

impl Bank {
    /// Free items, then holds that have lapsed by every clock; one strongly consistent request.
    async fn page(&self, shard: u16, start: &str, limit: usize) -> Result<Vec<Candidate>> {
        debug_assert!(start < LAPSING);
        let look = Look::at(&self.items(shard), Index::Order)
            .and("o BETWEEN :start AND :end")
            .value(":start", start)
            .value(":end", lapsing_at(self.client().surely_past()))
            .limit(limit);
        let answers = self.client().query(&look).await?;
        answers.rows.iter().map(Candidate::read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{RowKey, whatever};

    #[test]
    fn whatever_a_row_of_the_index_holds() {
        let free = Row::new(&RowKey::new("items", "code")).with("o", FREE);
        let known = [free.clone().with("c", "ada"), free];
        whatever(&known, &[|row| Candidate::read(row).map(drop)]);
    }
}

//! Counts items: reads all items and all claims once, several shards at the same time.

use std::ops::Add;

use futures_util::{StreamExt, TryStreamExt, stream};
use storagebox_core::{Counts, Result};

use super::Bank;
use super::claim::{CLAIMS, CONFIRMED, HELD};
use super::item::{ITEMS, SPENT};
use crate::client::{Index, Query, RowPage};
use crate::clock::Millis;

/// The number of partitions that are read at once, each page by page.
const AT_ONCE: usize = 32;
/// The filter of items that have no claim and are not free.
const SET_ASIDE: &str = "attribute_exists(w) OR attribute_exists(s)";
/// The filter of claims that have an item.
const HOLDING: &str = "s = :confirmed OR (s = :held AND (attribute_not_exists(u) OR u > :past))";

/// The kind of rows that one pass of `counts` reads.
#[derive(Clone, Copy, Debug)]
enum Of {
    Items,
    Claims,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    items: u64,
    withdrawn: u64,
    spent: u64,
    held: u64,
}

impl Tally {
    /// Counts the items of a page.
    fn of_page(of: Of, page: &RowPage) -> Self {
        // The filter excludes items that are free or have a claim, but `scanned` includes them.
        let items = if matches!(of, Of::Items) { page.scanned } else { 0 };
        page.rows.iter().fold(Self { items, ..Self::default() }, |tally, row| match row.text("s") {
            Some(HELD) => Self { held: tally.held + 1, ..tally },
            Some(CONFIRMED | SPENT) => Self { spent: tally.spent + 1, ..tally },
            _ => Self { withdrawn: tally.withdrawn + 1, ..tally },
        })
    }
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            items: self.items + other.items,
            withdrawn: self.withdrawn + other.withdrawn,
            spent: self.spent + other.spent,
            held: self.held + other.held,
        }
    }
}

impl Bank {
    /// Counts the items. An item with a lapsed hold counts as free. Each page has the timeout `call_timeout`; all pages
    /// together have no timeout.
    pub(super) async fn counts(&self) -> Result<Counts> {
        let shards = self.client().settle("counts", || self.open.shards()).await?;
        let past = self.client().surely_past();
        let passes = (0..shards).flat_map(|shard| [(shard, Of::Items), (shard, Of::Claims)]);
        let tallies = stream::iter(passes).map(|(shard, of)| self.tally(shard, of, past));
        let add = |sum: Tally, one| async move { Ok(sum + one) };
        let Tally { items, withdrawn, spent, held } =
            tallies.buffer_unordered(AT_ONCE).try_fold(Tally::default(), add).await?;
        let free = items.saturating_sub(withdrawn + spent + held);
        Ok(Counts { free, held, spent, withdrawn })
    }

    async fn tally(&self, shard: u16, of: Of, past: Millis) -> Result<Tally> {
        let (mut query, mut tally) = (self.query(shard, of, past), Tally::default());
        loop {
            let page = self.client().settle("counts", || self.client().query(&query)).await?;
            tally = tally + Tally::of_page(of, &page);
            if page.next.is_none() {
                return Ok(tally);
            }
            query = query.from(page.next);
        }
    }

    fn query(&self, shard: u16, of: Of, past: Millis) -> Query {
        match of {
            Of::Items => Query::of(&self.open.partition(ITEMS, shard), Index::Table).filter(SET_ASIDE).only("s, w"),
            Of::Claims => Query::of(&self.open.partition(CLAIMS, shard), Index::Table)
                .filter(HOLDING)
                .only("s")
                .value(":confirmed", CONFIRMED)
                .value(":held", HELD)
                .value(":past", past.0),
        }
    }
}

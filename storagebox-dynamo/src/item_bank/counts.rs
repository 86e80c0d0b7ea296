//! Counting: one pass over the items and one over the claims, of all shards at once.

use std::ops::Add;

use futures_util::{StreamExt, TryStreamExt, stream};
use storagebox_core::{Counts, Result};

use super::Bank;
use super::claim::{CONFIRMED, HELD};
use super::item::SPENT;
use crate::client::{Index, Look};
use crate::clock::Millis;
use crate::row::Row;

/// Passes under way at once. Each goes through a partition of its own, page by page.
const AT_ONCE: usize = 32;
/// Items that are with no claim and not free.
const SET_ASIDE: &str = "attribute_exists(w) OR attribute_exists(s)";
/// Claims that have an item.
const HOLDING: &str = "s = :confirmed OR (s = :held AND (attribute_not_exists(u) OR u > :past))";

/// What a pass goes through.
#[derive(Clone, Copy, Debug)]
enum Of {
    Items,
    Claims,
}

/// What passes found.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    items: u64,
    withdrawn: u64,
    spent: u64,
    held: u64,
}

impl Tally {
    /// What a page shows. Items that are free or with a claim are counted and not shown.
    fn of_page(of: Of, rows: &[Row], looked_at: u64) -> Self {
        let items = if matches!(of, Of::Items) { looked_at } else { 0 };
        rows.iter().fold(Self { items, ..Self::default() }, |tally, row| match row.text("s") {
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
    /// What is neither held nor spent nor withdrawn is free, holds that have lapsed included. It takes as long as the
    /// bank is large: each page is a read with a call's time, and all of them together have no end of their own.
    pub(super) async fn counts(&self) -> Result<Counts> {
        let shards = self.client().settled("counts", || self.open.shards()).await?;
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
        let (mut look, mut tally) = (self.look(shard, of, past), Tally::default());
        loop {
            let page = self.client().settled("counts", || self.client().query(&look)).await?;
            tally = tally + Tally::of_page(of, &page.rows, page.looked_at);
            if page.next.is_none() {
                return Ok(tally);
            }
            look = look.from(page.next);
        }
    }

    fn look(&self, shard: u16, of: Of, past: Millis) -> Look {
        match of {
            Of::Items => Look::at(&self.items(shard), Index::Table).filter(SET_ASIDE).only("s, w"),
            Of::Claims => Look::at(&self.open.partition("claims", shard), Index::Table)
                .filter(HOLDING)
                .only("s")
                .value(":confirmed", CONFIRMED)
                .value(":held", HELD)
                .value(":past", past.0),
        }
    }
}

//! Adds, withdraws, restores and lists many items.

use std::collections::{HashMap, HashSet};

use storagebox_core::{Added, ClaimId, Item, ItemState, ListedItem, Page, Restored, Result, Withdrawn};

use super::Bank;
use super::claim::{CONFIRMED, EXPIRED, HELD, RELEASED, has_lapsed};
use super::item::{FREE, ITEMS, ItemRow, free_at, item_of};
use super::void::VOID;
use crate::client::{Index, Moment, Tag, Write, Wrote};
use crate::error::contention;
use crate::page::{self, Position};
use crate::row::{Row, RowKey};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ItemOutcome {
    Changed,
    Already,
    InUse,
    Unknown,
}

impl Bank {
    /// Adds items, each by one conditional put.
    pub(super) async fn add(&self, items: &[Item]) -> Result<Added> {
        let count = self.counted("add", items, |item, tag| async move {
            let key = self.item_key(item.as_str()).await?;
            let row = Row::new(&key).with("o", free_at(item.as_str()));
            let added = Write::put(row).tagged(&tag).only_if("attribute_not_exists(pk)");
            self.changed(&added, &tag, |_| Ok(ItemOutcome::Already)).await
        });
        let count = count.await?;
        Ok(Added { added: count(ItemOutcome::Changed), already_present: count(ItemOutcome::Already) })
    }

    pub(super) async fn withdraw(&self, items: &[Item]) -> Result<Withdrawn> {
        let count = self.counted("withdraw", items, |item, tag| async move {
            let key = self.item_key(item.as_str()).await?;
            let Some(row) = self.client().get(&key).await? else { return Ok(ItemOutcome::Unknown) };
            if ItemRow::of(&row)? != ItemRow::Free {
                return self.not_free(&item, &row, &tag).await;
            }
            let withdrawn = Write::update(&key).tagged(&tag).set_to("w", ":w").value(":w", 1_i64).remove(&["o"]);
            let withdrawn = if_unchanged(withdrawn, &row, "begins_with(o, :free)").value(":free", FREE);
            self.changed(&withdrawn, &tag, |_| Err(contention())).await
        });
        let count = count.await?;
        Ok(Withdrawn {
            withdrawn: count(ItemOutcome::Changed),
            already_withdrawn: count(ItemOutcome::Already),
            in_use: count(ItemOutcome::InUse),
            unknown: count(ItemOutcome::Unknown),
        })
    }

    /// Returns the outcome of `withdraw` for an item that is not free. If the item's hold has lapsed, frees the item
    /// for the next attempt.
    async fn not_free(&self, item: &Item, row: &Row, tag: &Tag) -> Result<ItemOutcome> {
        match ItemRow::of(row)? {
            ItemRow::Withdrawn if tag.is_on(row) => Ok(ItemOutcome::Changed),
            ItemRow::Withdrawn => Ok(ItemOutcome::Already),
            ItemRow::Spent => Ok(ItemOutcome::InUse),
            ItemRow::Free => Err(contention()),
            ItemRow::With(by) => match (self.claimed(row, &by).await?, row.text("o")) {
                (ItemState::Free, Some(at)) => {
                    self.freed(item, &ClaimId::new(by)?, at).await?;
                    Err(contention())
                }
                _ => Ok(ItemOutcome::InUse),
            },
        }
    }

    pub(super) async fn restore(&self, items: &[Item]) -> Result<Restored> {
        let count = self.counted("restore", items, |item, tag| async move {
            let key = self.item_key(item.as_str()).await?;
            let Some(row) = self.client().get(&key).await? else { return Ok(ItemOutcome::Unknown) };
            match ItemRow::of(&row)? {
                ItemRow::Withdrawn => {}
                _ if tag.is_on(&row) => return Ok(ItemOutcome::Changed),
                _ => return Ok(ItemOutcome::Already),
            }
            let restored = Write::update(&key).tagged(&tag).set("o", free_at(item.as_str())).remove(&["w"]);
            let restored = if_unchanged(restored, &row, "attribute_exists(w)");
            self.changed(&restored, &tag, |_| Err(contention())).await
        });
        let count = count.await?;
        Ok(Restored {
            restored: count(ItemOutcome::Changed),
            not_withdrawn: count(ItemOutcome::Already),
            unknown: count(ItemOutcome::Unknown),
        })
    }

    /// Makes the write of one item. Returns `Changed` if this or an earlier attempt of the call made the write.
    async fn changed(
        &self,
        write: &Write,
        tag: &Tag,
        refused: impl Fn(&Row) -> Result<ItemOutcome>,
    ) -> Result<ItemOutcome> {
        match self.client().write(write).await? {
            Wrote::Done(_) => Ok(ItemOutcome::Changed),
            Wrote::Refused(Some(row)) if tag.is_on(&row) => Ok(ItemOutcome::Changed),
            Wrote::Refused(Some(row)) => refused(&row),
            Wrote::Refused(None) => Ok(ItemOutcome::Unknown),
        }
    }

    /// Changes each distinct item. Returns a function that counts the items with a given outcome.
    async fn counted<F>(
        &self,
        operation: &'static str,
        items: &[Item],
        change: impl Fn(Item, Tag) -> F + Sync,
    ) -> Result<impl Fn(ItemOutcome) -> u64>
    where
        F: Future<Output = Result<ItemOutcome>> + Send,
    {
        let outcomes = self.client().for_each(operation, items, change).await?;
        Ok(move |asked| outcomes.iter().filter(|outcome| **outcome == asked).count() as u64)
    }

    /// Reads the row of the claim that has the item, and returns the state of the item.
    async fn claimed(&self, item: &Row, by: &str) -> Result<ItemState> {
        let (key, at) = (self.claim_key(by).await?, self.client().moment());
        let claim = self.client().get(&key).await?;
        state_by_claim(item, by, claim.as_ref(), at)
    }

    pub(super) async fn holder(&self, item: &Item) -> Result<ItemState> {
        match self.client().get(&self.item_key(item.as_str()).await?).await? {
            None => Ok(ItemState::Unknown),
            Some(row) => match ItemRow::of(&row)? {
                ItemRow::With(by) => self.claimed(&row, &by).await,
                alone => Ok(without_claim(&alone)),
            },
        }
    }

    /// Lists a page of items, and reads their claims in batches.
    pub(super) async fn list(&self, position: &Position, limit: usize) -> Result<Page<ListedItem>> {
        let page = page::rows(&self.open, (ITEMS, Index::Table), position, limit, |query| query).await?;
        let mut keys = Vec::new();
        for row in &page.entries {
            if let ItemRow::With(by) = ItemRow::of(row)? {
                keys.push(self.claim_key(&by).await?);
            }
        }
        let at = self.client().moment();
        let claims = self.claims(&keys).await?;
        let entries = page.entries.iter().map(|row| {
            let state = match ItemRow::of(row)? {
                ItemRow::With(by) => state_by_claim(row, &by, claims.get(&by), at)?,
                alone => without_claim(&alone),
            };
            Ok(ListedItem { item: item_of(row)?, state })
        });
        Ok(Page { entries: entries.collect::<Result<_>>()?, next: page.next })
    }

    async fn claims(&self, keys: &[RowKey]) -> Result<HashMap<String, Row>> {
        let mut seen = HashSet::new();
        let distinct = keys.iter().filter(|key| seen.insert(*key)).map(RowKey::attributes).collect();
        let rows = self.client().rows(distinct).await?;
        rows.into_iter().map(|row| Ok((row.sort()?.to_owned(), row))).collect()
    }
}

/// Returns the state of an item that a claim has; `claim` is the claim's row.
fn state_by_claim(item: &Row, by: &str, claim: Option<&Row>, at: Moment) -> Result<ItemState> {
    let by = item.valid("claim id", ClaimId::new(by))?;
    let Some(claim) = claim else { return Ok(ItemState::Free) };
    let is_of_this = claim.maybe("i", Row::text)? == item.text("sk");
    let lapsed = has_lapsed(at, claim)?;
    Ok(match claim.needed("s", claim.text("s"))? {
        CONFIRMED if is_of_this => ItemState::Spent(Some(by)),
        HELD if is_of_this && !lapsed => ItemState::Held(by),
        HELD | CONFIRMED | RELEASED | EXPIRED | VOID => ItemState::Free,
        _ => return Err(claim.unreadable("its state is not known")),
    })
}

/// Adds to a `withdraw` or `restore` the condition that the row still has the tag that was read. A late copy of the
/// write then changes nothing after another `withdraw` or `restore`.
fn if_unchanged(write: Write, seen: &Row, condition: &str) -> Write {
    match seen.text("t") {
        Some(tag) => write.only_if(format!("t = :seen AND {condition}")).value(":seen", tag),
        None => write.only_if(condition),
    }
}

fn without_claim(row: &ItemRow) -> ItemState {
    match row {
        ItemRow::Withdrawn => ItemState::Withdrawn,
        ItemRow::Spent => ItemState::Spent(None),
        ItemRow::Free | ItemRow::With(_) => ItemState::Free,
    }
}

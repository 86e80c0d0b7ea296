//! Many items: adding, setting aside and listing them.

use std::collections::{HashMap, HashSet};

use futures_util::{StreamExt, stream};
use storagebox_core::{Added, ClaimId, Item, ItemState, ListedItem, Page, Restored, Result, Withdrawn};

use super::Bank;
use super::claim::{CONFIRMED, EXPIRED, HELD, RELEASED, has_lapsed};
use super::item::{FREE, Standing, free_at, item_of};
use super::release::moving;
use crate::client::{Index, Moment, Tag, Write, Wrote};
use crate::page::{self, Position};
use crate::row::{Row, RowKey};

/// How many items of a call are under way at once.
const AT_ONCE: usize = 64;

/// What became of one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fate {
    Changed,
    Already,
    InUse,
    Unknown,
}

impl Bank {
    /// One conditional put an item. A refusal by a row with this call's tag is this call's own write.
    pub(super) async fn add(&self, items: &[Item]) -> Result<Added> {
        let mut report = Added::default();
        let fates = self.each("add", items, |item, tag| async move {
            let key = self.item_key(item.as_str()).await?;
            let row = Row::new(&key).with("o", free_at(item.as_str()));
            let added = Write::put(row).tagged(&tag).only_if("attribute_not_exists(pk)");
            self.fate(&added, &tag, |_| Ok(Fate::Already)).await
        });
        for (fate, count) in fates.await? {
            match fate {
                Fate::Changed => report.added = count,
                _ => report.already_present += count,
            }
        }
        Ok(report)
    }

    pub(super) async fn withdraw(&self, items: &[Item]) -> Result<Withdrawn> {
        let fates = self.each("withdraw", items, |item, tag| async move {
            let key = self.item_key(item.as_str()).await?;
            let Some(row) = self.client().get(&key).await? else { return Ok(Fate::Unknown) };
            if Standing::of(&row)? != Standing::Free {
                return self.not_free(&item, &row, &tag).await;
            }
            let withdrawn = Write::update(&key).tagged(&tag).set_to("w", ":w").value(":w", 1_i64).remove(&["o"]);
            let withdrawn = if_unchanged(withdrawn, &row, "begins_with(o, :free)").value(":free", FREE);
            self.fate(&withdrawn, &tag, |_| Err(moving())).await
        });
        let fates = fates.await?;
        let count = |fate| fates.get(&fate).copied().unwrap_or_default();
        Ok(Withdrawn {
            withdrawn: count(Fate::Changed),
            already_withdrawn: count(Fate::Already),
            in_use: count(Fate::InUse),
            unknown: count(Fate::Unknown),
        })
    }

    /// An item whose hold has lapsed is freed, and then tried again.
    async fn not_free(&self, item: &Item, row: &Row, tag: &Tag) -> Result<Fate> {
        match Standing::of(row)? {
            Standing::Withdrawn if tag.is_on(row) => Ok(Fate::Changed),
            Standing::Withdrawn => Ok(Fate::Already),
            Standing::Spent => Ok(Fate::InUse),
            Standing::Free => Err(moving()),
            Standing::With(by) => match (self.claimed(row, &by).await?, row.text("o")) {
                (ItemState::Free, Some(at)) => {
                    self.freed(item, &ClaimId::new(by)?, at).await?;
                    Err(moving())
                }
                _ => Ok(Fate::InUse),
            },
        }
    }

    pub(super) async fn restore(&self, items: &[Item]) -> Result<Restored> {
        let fates = self.each("restore", items, |item, tag| async move {
            let key = self.item_key(item.as_str()).await?;
            let Some(row) = self.client().get(&key).await? else { return Ok(Fate::Unknown) };
            match Standing::of(&row)? {
                Standing::Withdrawn => {}
                _ if tag.is_on(&row) => return Ok(Fate::Changed),
                _ => return Ok(Fate::Already),
            }
            let restored = Write::update(&key).tagged(&tag).set("o", free_at(item.as_str())).remove(&["w"]);
            let restored = if_unchanged(restored, &row, "attribute_exists(w)");
            self.fate(&restored, &tag, |_| Err(moving())).await
        });
        let fates = fates.await?;
        let count = |fate| fates.get(&fate).copied().unwrap_or_default();
        Ok(Restored {
            restored: count(Fate::Changed),
            not_withdrawn: count(Fate::Already),
            unknown: count(Fate::Unknown),
        })
    }

    async fn fate(&self, write: &Write, tag: &Tag, refused: impl Fn(&Row) -> Result<Fate>) -> Result<Fate> {
        match self.client().write(write).await? {
            Wrote::Done(_) => Ok(Fate::Changed),
            Wrote::Refused(Some(row)) if tag.is_on(&row) => Ok(Fate::Changed),
            Wrote::Refused(Some(row)) => refused(&row),
            Wrote::Refused(None) => Ok(Fate::Unknown),
        }
    }

    /// Does the same to each distinct item, many at once, each with a call's attempts of its own. How many had each
    /// fate; after a failure others may have been changed.
    async fn each<F>(
        &self,
        operation: &'static str,
        items: &[Item],
        change: impl Fn(Item, Tag) -> F + Sync,
    ) -> Result<HashMap<Fate, u64>>
    where
        F: Future<Output = Result<Fate>> + Send,
    {
        let mut seen = HashSet::new();
        let distinct: Vec<_> = items.iter().filter(|item| seen.insert(*item)).cloned().collect();
        let several = distinct.len() > 1;
        let mut fates = stream::iter(distinct)
            .map(|item| {
                let (tag, change) = (Tag::fresh(), &change);
                async move { self.client().settled(operation, || change(item.clone(), tag.clone())).await }
            })
            .buffer_unordered(AT_ONCE);
        let mut counts = HashMap::new();
        while let Some(fate) = fates.next().await {
            let fate = fate.map_err(|error| if several { error.after_unresolved() } else { error })?;
            *counts.entry(fate).or_default() += 1;
        }
        Ok(counts)
    }

    /// Where an item is that is with a claim: the claim's row decides.
    async fn claimed(&self, item: &Row, by: &str) -> Result<ItemState> {
        let (key, at) = (self.claim_key(by).await?, self.client().moment());
        let claim = self.client().get(&key).await?;
        shown(item, by, claim.as_ref(), at)
    }

    pub(super) async fn holder(&self, item: &Item) -> Result<ItemState> {
        match self.client().get(&self.item_key(item.as_str()).await?).await? {
            None => Ok(ItemState::Unknown),
            Some(row) => match Standing::of(&row)? {
                Standing::With(by) => self.claimed(&row, &by).await,
                alone => Ok(without_claim(&alone)),
            },
        }
    }

    /// A page of items, and their claims in batches.
    pub(super) async fn list(&self, position: &Position, limit: usize) -> Result<Page<ListedItem>> {
        let page = page::rows(&self.open, ("items", Index::Table), position, limit, |look| look).await?;
        let mut keys = Vec::new();
        for row in &page.entries {
            if let Standing::With(by) = Standing::of(row)? {
                keys.push(self.claim_key(&by).await?);
            }
        }
        let at = self.client().moment();
        let claims = self.claims(&keys).await?;
        let entries = page.entries.iter().map(|row| {
            let state = match Standing::of(row)? {
                Standing::With(by) => shown(row, &by, claims.get(&by), at)?,
                alone => without_claim(&alone),
            };
            Ok(ListedItem { item: item_of(row)?, state })
        });
        Ok(Page { entries: entries.collect::<Result<_>>()?, next: page.next })
    }

    async fn claims(&self, keys: &[RowKey]) -> Result<HashMap<String, Row>> {
        let mut seen = HashSet::new();
        let distinct: Vec<_> = keys.iter().filter(|key| seen.insert(*key)).cloned().collect();
        let rows = self.client().rows(&distinct).await?;
        rows.into_iter().map(|row| Ok((row.sort()?.to_owned(), row))).collect()
    }
}

/// Where an item is that is with a claim, as the claim's row says.
fn shown(item: &Row, by: &str, claim: Option<&Row>, at: Moment) -> Result<ItemState> {
    let by = ClaimId::new(by).map_err(|_| item.unreadable("its claim id is not valid"))?;
    let Some(claim) = claim else { return Ok(ItemState::Free) };
    let is_of_this = claim.maybe("i", Row::text)? == item.text("sk");
    let lapsed = has_lapsed(at, claim)?;
    Ok(match claim.needed("s", claim.text("s"))? {
        CONFIRMED if is_of_this => ItemState::Spent(Some(by)),
        HELD if is_of_this && !lapsed => ItemState::Held(by),
        HELD | CONFIRMED | RELEASED | EXPIRED => ItemState::Free,
        _ => return Err(claim.unreadable("its state is not known")),
    })
}

/// A copy of the write that lands late changes nothing once another withdrawal or restoration has changed the row. A
/// take leaves the tag, by which an `add` whose reply was lost knows its own item.
fn if_unchanged(write: Write, seen: &Row, condition: &str) -> Write {
    match seen.text("t") {
        Some(tag) => write.only_if(format!("t = :seen AND {condition}")).value(":seen", tag),
        None => write.only_if(condition),
    }
}

fn without_claim(standing: &Standing) -> ItemState {
    match standing {
        Standing::Withdrawn => ItemState::Withdrawn,
        Standing::Spent => ItemState::Spent(None),
        Standing::Free | Standing::With(_) => ItemState::Free,
    }
}

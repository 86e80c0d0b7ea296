//! `add`: adds items that are in neither table.

use std::collections::HashSet;

use futures_util::{StreamExt, TryStreamExt, stream};
use storagebox_core::{Added, Item, Result};

use super::tables::{ITEM, Tables, key};
use crate::client::{Refusal, Tag, Transacted, Write};
use crate::row::Row;

/// The number of items that one batch reads, and that one transaction writes.
const BATCH: usize = 100;
const AT_ONCE: usize = 8;

impl Tables {
    /// Adds the items that neither of the two tables has.
    pub(super) async fn add(&self, items: &[Item]) -> Result<Added> {
        let distinct: HashSet<&Item> = items.iter().collect();
        let total = distinct.len();
        // The records are read second, so that an item that is taken meanwhile is found among the records.
        let mut absent = self.not_free(distinct.into_iter().cloned().collect()).await?;
        self.leave_given(&mut absent).await?;
        let absent: Vec<_> = absent.into_iter().collect();
        let several = absent.len() > BATCH;
        let batches = stream::iter(absent.chunks(BATCH).map(<[Item]>::to_vec));
        let added = batches.map(|batch| self.put(batch)).buffer_unordered(AT_ONCE);
        let added = added.try_fold(0, |sum, count| async move { Ok(sum + count) }).await;
        let added = added.map_err(|error| if several { error.after_unresolved() } else { error })?;
        Ok(Added { added: added as u64, already_present: (total - added) as u64 })
    }

    async fn not_free(&self, items: Vec<Item>) -> Result<HashSet<Item>> {
        let batches = stream::iter(items.chunks(BATCH).map(<[Item]>::to_vec));
        let absent = batches.map(|batch| self.not_free_of(batch)).buffer_unordered(AT_ONCE);
        absent.try_concat().await.map(|absent: Vec<Item>| absent.into_iter().collect())
    }

    async fn not_free_of(&self, mut batch: Vec<Item>) -> Result<Vec<Item>> {
        let keys: Vec<_> = batch.iter().map(|item| key(item.as_str())).collect();
        let free = self.client().settle("add", || self.client().rows(keys.clone())).await?;
        let free: HashSet<_> = free.iter().filter_map(|row| row.text(ITEM)).collect();
        batch.retain(|item| !free.contains(item.as_str()));
        Ok(batch)
    }

    /// Removes from `items` the items that a record names.
    async fn leave_given(&self, items: &mut HashSet<Item>) -> Result<()> {
        let mut from = None;
        while !items.is_empty() {
            let page = self.client().settle("add", || self.page(self.records(), None, from.clone())).await?;
            for record in &page.rows {
                items.remove(&self.given_by(record)?);
            }
            match page.next {
                Some(next) => from = Some(next),
                None => break,
            }
        }
        Ok(())
    }

    /// Puts those items of the batch that do not exist yet. Returns how many items this call added.
    async fn put(&self, mut batch: Vec<Item>) -> Result<usize> {
        let (tag, mut added) = (Tag::fresh(), 0);
        while !batch.is_empty() {
            let writes: Vec<_> = batch.iter().map(|item| free(item, &tag)).collect();
            match self.client().settle("add", || self.client().transact(&writes)).await? {
                Transacted::Done => return Ok(added + batch.len()),
                Transacted::Refused(refusals) => {
                    added += refusals.iter().filter(|refusal| is_own(refusal, &tag)).count();
                    let mut left = refusals.iter().map(|refusal| matches!(refusal, Refusal::Not));
                    batch.retain(|_| left.next().unwrap_or_default());
                }
            }
        }
        Ok(added)
    }
}

fn free(item: &Item, tag: &Tag) -> Write {
    let row = Write::put(Row::from(key(item.as_str()))).tagged(tag);
    row.only_if("attribute_not_exists(#item)").name("#item", ITEM)
}

/// Returns whether the row that refused a write was written by the call with this tag.
fn is_own(refusal: &Refusal, tag: &Tag) -> bool {
    matches!(refusal, Refusal::Condition(Some(row)) if tag.is_on(row))
}

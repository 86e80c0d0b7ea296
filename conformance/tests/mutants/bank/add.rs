//! Mistakes of `add`.

use std::collections::BTreeSet;

use storagebox_core::{Added, Item, ItemBank, ItemState, Result};

use super::BrokenBank;
use crate::steps::lock;

impl BrokenBank {
    /// Reports all items as added, but writes only the full pages of 25 items.
    pub(super) async fn add_without_tail(&self, items: &[Item]) -> Result<Added> {
        let tail = if items.len() > 25 { items.len() % 25 } else { 0 };
        let mut report = self.inner.add(&items[..items.len() - tail]).await?;
        report.added += tail as u64;
        Ok(report)
    }

    pub(super) async fn add_counting_duplicates(&self, items: &[Item]) -> Result<Added> {
        let mut report = self.inner.add(items).await?;
        let distinct = items.iter().collect::<BTreeSet<_>>().len();
        report.added += (items.len() - distinct) as u64;
        Ok(report)
    }

    /// Reports an item as added if the item was present and its hold has lapsed.
    pub(super) async fn add_counting_the_lapsed(&self, items: &[Item]) -> Result<Added> {
        let had: Vec<_> = lock(&self.state.had).values().cloned().collect();
        let mut report = self.inner.add(items).await?;
        for item in items.iter().filter(|item| had.contains(item)) {
            if self.inner.holder(item).await? == ItemState::Free {
                report.added += 1;
                report.already_present -= 1;
            }
        }
        Ok(report)
    }
}

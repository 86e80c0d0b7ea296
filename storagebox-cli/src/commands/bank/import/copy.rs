//! Copies the missing ids with their items one by one, and then the missing free items.

use storagebox::values::{ClaimId, Item};
use storagebox::{Bank, Taken};
use tokio::task::yield_now;

use super::contents::{Contents, Place};
use crate::exit::Failure;
use crate::progress::Progress;

const BATCH: usize = 5_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Copied {
    pub(super) ids: u64,
    pub(super) free: u64,
}

pub(super) async fn all(there: &Contents, here: &Contents, into: &Bank) -> Result<Copied, Failure> {
    let missing = missing(there, here);
    if !missing.is_empty() {
        set_aside(here, into).await?;
    }
    let progress = Progress::of_items("importing ids", missing.len() as u64);
    for (item, id) in &missing {
        give(id, item, into).await?;
        progress.item();
        yield_now().await;
    }
    let free = free_all(there, here, !missing.is_empty(), into).await?;
    Ok(Copied { ids: missing.len() as u64, free })
}

/// Returns the ids that do not have their items in the importing bank, each with its item.
pub(super) fn missing<'a>(there: &'a Contents, here: &Contents) -> Vec<(&'a Item, &'a ClaimId)> {
    let mut missing: Vec<_> = there.given().filter(|(item, id)| !has(here, item, id)).collect();
    // Sorted, so that concurrent imports work in the same order.
    missing.sort_unstable();
    missing
}

fn has(here: &Contents, item: &Item, id: &ClaimId) -> bool {
    matches!(here.place(item), Some(Place::Given(holder)) if holder == id)
}

/// Withdraws all free items, so that `give` can free exactly one item for an id.
async fn set_aside(here: &Contents, into: &Bank) -> storagebox::Result<()> {
    let free: Vec<_> = here.free().cloned().collect();
    for batch in free.chunks(BATCH) {
        into.withdraw(batch).await?;
    }
    Ok(())
}

/// Makes an unknown or withdrawn item the only free item, and takes it for the id.
async fn give(id: &ClaimId, item: &Item, into: &Bank) -> Result<(), Failure> {
    if into.add([item]).await?.already_present > 0 {
        into.restore([item]).await?;
    }
    match into.assign(id).await? {
        Taken::New(held) | Taken::Again(held) if held.item == *item => Ok(()),
        Taken::Ended(_) => Err(Failure::EndedMeanwhile(id.clone())),
        _ => Err(Failure::TakenMeanwhile(id.clone())),
    }
}

/// Makes the free items of the other bank free in the importing bank. Returns the number of items that were not free
/// before.
async fn free_all(there: &Contents, here: &Contents, was_set_aside: bool, into: &Bank) -> Result<u64, Failure> {
    let is_free = |item: &&Item| !was_set_aside && here.place(item) == Some(&Place::Free);
    let missing: Vec<_> = there.free().filter(|item| !is_free(item)).cloned().collect();
    let progress = Progress::of_items("importing", missing.len() as u64);
    for batch in missing.chunks(BATCH) {
        into.add(batch).await?;
        into.restore(batch).await?;
        batch.iter().for_each(|_| progress.item());
        yield_now().await;
    }
    let new = missing.iter().filter(|item| here.place(item) != Some(&Place::Free));
    Ok(new.count() as u64)
}

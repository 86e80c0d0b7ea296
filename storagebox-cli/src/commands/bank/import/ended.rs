//! Finds ids whose claims have ended here, which no listing shows.

use futures_util::stream::{self, StreamExt, TryStreamExt};
use storagebox::bank::ClaimState;
use storagebox::values::{ClaimId, Item};
use storagebox::{Bank, Result};

use super::compare::Comparison;
use crate::progress::Progress;

const CONCURRENCY: usize = 64;
const BATCH: usize = 1_000;

/// Reads the claim of each missing id, and adds the ids that cannot take their items to `obstacles`.
pub(super) async fn enter_all(obstacles: &mut Comparison, missing: &[(&Item, &ClaimId)], into: &Bank) -> Result<()> {
    let progress = Progress::of_items("checking ids", missing.len() as u64);
    for batch in missing.chunks(BATCH) {
        let ids: Vec<_> = batch.iter().map(|(_, id)| ClaimId::clone(id)).collect();
        let states: Vec<_> = stream::iter(ids).map(|id| into.get(id)).buffered(CONCURRENCY).try_collect().await?;
        for ((item, id), state) in batch.iter().zip(states) {
            if !can_take(item, &state) {
                obstacles.enter_ended(id);
            }
            progress.item();
        }
    }
    Ok(())
}

fn can_take(item: &Item, state: &ClaimState) -> bool {
    match state {
        ClaimState::Unknown => true,
        ClaimState::Held(held) => held.item == *item,
        ClaimState::Ended(_) => false,
    }
}

//! A server that is killed and started again.

use storagebox_core::{ClaimId, ClaimState, Counts, Hold, ItemBank, StoreExt};

use super::take_new;
use crate::case::Verdict;
use crate::failure::{ensure_eq, ensure_matches};
use crate::harness::Restart;
use crate::world::World;

pub(super) async fn what_was_acknowledged_survives_a_restart(world: &World) -> Verdict {
    let bank = world.filled(10).await?;
    let (ada, bob, eve) = (ClaimId::new("ada")?, ClaimId::new("bob")?, ClaimId::new("eve")?);
    let item = take_new(&bank, &ada, Hold::Forever).await?;
    take_new(&bank, &bob, Hold::Forever).await?;
    bank.confirm(&bob).await?;
    bank.release(&eve).await?;
    for how in [Restart::Clean, Restart::Kill] {
        world.harness().restart(world.namespace(), how).await?;
        let bank = world.client().await?.bank("bank")?;
        let expected = Counts { free: 8, held: 1, spent: 1, withdrawn: 0 };
        ensure_eq!(bank.counts().await?, expected, "the counts after {how:?}");
        let state = bank.get(&ada).await?;
        ensure_matches!(state, ClaimState::Held(held) if held.item == item, "the holder after {how:?}");
        ensure_matches!(bank.get(&eve).await?, ClaimState::Ended(_), "a fenced claim after {how:?}");
    }
    Ok(())
}

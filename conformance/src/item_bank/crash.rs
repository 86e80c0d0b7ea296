//! A server that is killed and restarted.

use std::collections::BTreeSet;
use std::sync::Arc;

use storagebox_core::{Backend, ClaimId, ClaimState, Counts, Hold, Item, ItemBank, ItemState};
use tokio::sync::{Semaphore, watch};

use super::take_new;
use crate::failure::{Failure, Verdict, ensure_eq, ensure_matches};
use crate::harness::Restart;
use crate::race::{answered, race};
use crate::world::World;

pub(super) async fn what_was_acknowledged_survives_a_restart(world: &World) -> Verdict {
    let bank = world.filled(10).await?;
    let (ada, bob, eve) = (ClaimId::new("ada")?, ClaimId::new("bob")?, ClaimId::new("eve")?);
    let item = take_new(&bank, &ada, Hold::Forever).await?;
    take_new(&bank, &bob, Hold::Forever).await?;
    let _ = bank.confirm(&bob).await?;
    let _ = bank.release(&eve).await?;
    for how in [Restart::Clean, Restart::Kill] {
        world.restart(how).await?;
        let bank = world.client().await?.item_bank(&"bank".parse()?)?;
        let expected = Counts { free: 8, held: 1, spent: 1, withdrawn: 0 };
        ensure_eq!(bank.counts().await?, expected, "the counts after {how:?}");
        let state = bank.get(&ada).await?;
        ensure_matches!(state, ClaimState::Held(held) if held.item == item, "the holder after {how:?}");
        ensure_matches!(bank.get(&eve).await?, ClaimState::Ended(_), "a fenced claim after {how:?}");
    }
    Ok(())
}

const CALLERS: usize = 8;

const TAKES: usize = 10;

/// Callers take items while the server is killed, and repeat the calls after the restart. Every claim keeps its item,
/// and no claim has two items.
pub(super) async fn calls_under_way_survive_a_kill(world: &World) -> Verdict {
    let bank = world.filled(CALLERS * TAKES).await?;
    let (taken, back) = (Arc::new(Semaphore::new(0)), watch::Sender::new(false));
    let takers = race(CALLERS, |number| {
        let (bank, taken, back) = (Arc::clone(&bank), Arc::clone(&taken), back.subscribe());
        async move { take_all(&*bank, number, &taken, back).await }
    });
    let (told, killed) = tokio::join!(takers, async {
        let _some = taken.acquire_many(CALLERS as u32).await;
        let killed = world.sandbox().restart(Restart::Kill).await;
        back.send_replace(true);
        killed
    });
    killed?;
    let told: Vec<_> = told?.into_iter().flatten().collect();
    let items: BTreeSet<_> = told.iter().map(|(_, item)| item).collect();
    ensure_eq!(items.len(), CALLERS * TAKES, "different items that callers were given");
    let fresh = world.client().await?.item_bank(&"bank".parse()?)?;
    for (claim, item) in &told {
        ensure_eq!(fresh.holder(item).await?, ItemState::Held(claim.clone()), "who holds {item:?}");
    }
    ensure_eq!(world.audit().await?.len(), CALLERS * TAKES, "items audited");
    Ok(())
}

/// Takes items until the server is killed, and continues after the restart.
async fn take_all(
    bank: &dyn ItemBank,
    caller: usize,
    taken: &Semaphore,
    mut back: watch::Receiver<bool>,
) -> Result<Vec<(ClaimId, Item)>, Failure> {
    let mut told = Vec::new();
    for number in 0..TAKES {
        let claim = ClaimId::new(format!("{caller}/{number}"))?;
        let outcome = match bank.take(&claim, Hold::Forever).await {
            Err(error) if error.is_retryable() => {
                // The sender lives longer than all callers.
                let _ = back.wait_for(|is_back| *is_back).await;
                answered(|| bank.take(&claim, Hold::Forever)).await?
            }
            // Nobody waits for the takes of a caller that has failed.
            outcome => outcome.inspect_err(|_| taken.close())?,
        };
        taken.add_permits(1);
        let item = outcome.item().cloned().ok_or_else(|| {
            taken.close();
            Failure::new(format!("a take got no item: {outcome:?}"))
        });
        told.push((claim, item?));
    }
    Ok(told)
}

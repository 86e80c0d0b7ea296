//! A change is visible as a whole or not at all: reads of the claim and then of its item agree.

use std::sync::Arc;

use storagebox_core::{Backend, ClaimId, ClaimState, Hold, HoldState, Item, ItemBank, ItemState};

use tokio::task::yield_now;

use super::take_new;
use crate::failure::{Failure, Verdict, ensure};
use crate::race::{answered, race};
use crate::world::{World, items};

/// The number of claims that end at once.
const CLAIMS: usize = 4;

/// The maximum number of reads until a caller sees the end of a claim. The case fails after this many reads.
const LOOKS: usize = 100_000;

#[derive(Clone, Copy)]
enum End {
    Confirm,
    Release,
}

#[derive(Clone)]
struct Held {
    bank: Arc<dyn ItemBank>,
    claim: ClaimId,
    item: Item,
}

pub(super) async fn a_confirmed_claim_and_its_spent_item_are_seen_together(world: &World) -> Verdict {
    seen_together(world, End::Confirm).await
}

pub(super) async fn a_released_claim_and_its_free_item_are_seen_together(world: &World) -> Verdict {
    seen_together(world, End::Release).await
}

async fn seen_together(world: &World, end: End) -> Verdict {
    for round in 0..world.profile().rounds * 4 {
        let bank = world.store().item_bank(&format!("bank-{round}").parse()?)?;
        bank.add(&items(CLAIMS)?).await?;
        let mut held = Vec::new();
        for number in 0..CLAIMS {
            let claim = ClaimId::new(format!("claim-{number}"))?;
            let item = take_new(&bank, &claim, Hold::Forever).await?;
            held.push(Held { bank: Arc::clone(&bank), claim, item });
        }
        race(3 * CLAIMS, |number| {
            let held = held[number % CLAIMS].clone();
            async move {
                match number / CLAIMS {
                    0 => held.end(end).await,
                    1 => held.watched_from_the_claim(end).await,
                    _ => held.watched_from_the_item(end).await,
                }
            }
        })
        .await?;
    }
    Ok(())
}

impl Held {
    async fn end(&self, end: End) -> Verdict {
        match end {
            End::Confirm => drop(answered(|| self.bank.confirm(&self.claim)).await?),
            End::Release => drop(answered(|| self.bank.release(&self.claim)).await?),
        }
        Ok(())
    }

    async fn watched_from_the_claim(&self, end: End) -> Verdict {
        for _ in 0..LOOKS {
            if self.claim_has_ended(end).await? {
                ensure!(self.item_has_left(end).await?, "{} has ended, but its item is still held", self.claim);
                return Ok(());
            }
            // A store that never waits would otherwise block the thread that the ending caller needs.
            yield_now().await;
        }
        Err(Failure::new(format!("{} never ends", self.claim)))
    }

    async fn watched_from_the_item(&self, end: End) -> Verdict {
        for _ in 0..LOOKS {
            if self.item_has_left(end).await? {
                ensure!(
                    self.claim_has_ended(end).await?,
                    "the item of {} is no longer held, but the claim has not ended",
                    self.claim
                );
                return Ok(());
            }
            yield_now().await;
        }
        Err(Failure::new(format!("the item of {} stays held", self.claim)))
    }

    async fn claim_has_ended(&self, end: End) -> Result<bool, Failure> {
        let state = answered(|| self.bank.get(&self.claim)).await?;
        Ok(match end {
            End::Confirm => matches!(state, ClaimState::Held(held) if held.hold == HoldState::Confirmed),
            End::Release => matches!(state, ClaimState::Ended(_)),
        })
    }

    async fn item_has_left(&self, end: End) -> Result<bool, Failure> {
        let state = answered(|| self.bank.holder(&self.item)).await?;
        Ok(match end {
            End::Confirm => matches!(state, ItemState::Spent(_)),
            End::Release => state == ItemState::Free,
        })
    }
}

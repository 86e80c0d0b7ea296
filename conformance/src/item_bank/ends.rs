//! When holds end, and how a faulty clock affects them.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    ClaimId, ClaimState, Confirmed, Counts, End, Extended, Hold, HoldState, Item, ItemBank, ItemState, Released, Taken,
    async_trait,
};

use super::take_new;
use crate::ends::{Ending, ensure_ends_in_time};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::lasting::{Lasting, MEMORY, ensure_lasts};
use crate::race::{answered, race};
use crate::world::World;

const HOUR: Duration = Duration::from_secs(3_600);

/// A bank whose holds are tested.
struct Holds(Arc<dyn ItemBank>);

#[async_trait]
impl Ending for Holds {
    async fn begin(&self, name: &str, lasts: Duration) -> Verdict {
        self.0.add(&[Item::new(name)?]).await?;
        take_new(&self.0, &ClaimId::new(name)?, Hold::For(lasts)).await?;
        Ok(())
    }

    async fn left(&self, name: &str) -> Result<Option<Option<Duration>>, Failure> {
        Ok(match self.0.get(&ClaimId::new(name)?).await? {
            ClaimState::Held(held) => Some(match held.hold {
                HoldState::Remaining(left) => Some(left),
                _ => None,
            }),
            _ => None,
        })
    }
}

pub(super) async fn a_hold_ends_at_its_time_and_not_before(world: &World) -> Verdict {
    ensure_ends_in_time(world, &Holds(world.bank()?)).await
}

/// A bank whose released claims are tested.
struct Fences(Arc<dyn ItemBank>);

#[async_trait]
impl Lasting for Fences {
    async fn end(&self, name: &str) -> Verdict {
        let _ = self.0.release(&ClaimId::new(name)?).await?;
        Ok(())
    }

    async fn is_known(&self, name: &str) -> Result<bool, Failure> {
        Ok(self.0.get(&ClaimId::new(name)?).await? == ClaimState::Ended(End::Released))
    }
}

pub(super) async fn a_release_is_remembered_to_the_end_of_the_retention(world: &World) -> Verdict {
    ensure_lasts(world, &Fences(world.bank()?), MEMORY).await
}

pub(super) async fn an_extension_counts_from_now(world: &World) -> Verdict {
    let bank = world.filled(2).await?;
    let (ada, bob, short) = (ClaimId::new("ada")?, ClaimId::new("bob")?, world.short());
    take_new(&bank, &ada, Hold::For(short * 2)).await?;
    let extended = bank.extend(&ada, Hold::For(short * 3)).await?;
    let left = ensure_matches!(extended, Extended::Extended(held) => held.hold, "extending a hold");
    ensure_matches!(left, HoldState::Remaining(left) if left <= short * 3, "what is left of it");
    take_new(&bank, &bob, Hold::Forever).await?;
    let extended = bank.extend(&bob, Hold::For(short)).await?;
    ensure_matches!(extended, Extended::Extended(held) if held.hold == HoldState::Forever, "extending a hold for ever");
    world.pass(short * 3).await;
    ensure_eq!(bank.get(&ada).await?, ClaimState::Ended(End::Expired), "the extended hold at its end");
    ensure_matches!(bank.get(&bob).await?, ClaimState::Held(held) if held.hold == HoldState::Forever, "for ever");
    Ok(())
}

/// An ended hold stays ended if the clock is set back after another claim has taken the item. No item is held twice or
/// lost.
pub(super) async fn a_clock_that_is_set_back_gives_no_item_twice(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let (ada, bob, short) = (ClaimId::new("ada")?, ClaimId::new("bob")?, world.short());
    take_new(&bank, &ada, Hold::For(short)).await?;
    world.pass(short * 3).await;
    let item = take_new(&bank, &bob, Hold::Forever).await?;
    world.clock()?.turn_back(short * 3);
    world.store().setup().await?;
    let others = bank.get(&ada).await?;
    ensure_matches!(others, ClaimState::Ended(End::Expired), "the lapsed claim when the clock was set back");
    ensure_eq!(bank.confirm(&ada).await?, Confirmed::Ended(End::Expired), "confirming it");
    ensure_eq!(bank.extend(&ada, Hold::Forever).await?, Extended::Ended(End::Expired), "extending it");
    ensure_eq!(bank.take(&ada, Hold::Forever).await?, Taken::Ended(End::Expired), "a take by it");
    ensure_eq!(bank.release(&ada).await?, Released::Expired, "releasing it");
    ensure_eq!(bank.holder(&item).await?, ItemState::Held(bob), "the holder");
    ensure_eq!(bank.take(&ClaimId::new("eve")?, Hold::Forever).await?, Taken::Empty, "a third take");
    ensure_eq!(bank.counts().await?, Counts { held: 1, ..Counts::default() }, "the counts");
    Ok(())
}

const CALLERS: usize = 12;

/// A hold ends while its extensions race with takes of other claims. In the end at most one claim has the item.
pub(super) async fn a_hold_that_ends_under_waiting_calls_has_one_holder(world: &World) -> Verdict {
    let moment = Duration::from_millis(1);
    for round in 0..world.profile().rounds * 8 {
        let bank = world.filled_bank(&format!("bank-{round}"), 1).await?;
        let ada = ClaimId::new("ada")?;
        take_new(&bank, &ada, Hold::For(HOUR)).await?;
        world.pass(HOUR - moment).await;
        let clock = world.clock()?;
        let told = race(CALLERS, |number| {
            let (bank, ada, clock) = (Arc::clone(&bank), ada.clone(), clock.clone());
            async move {
                match number {
                    _ if number % 3 == 0 => answered(|| bank.extend(&ada, Hold::Forever)).await.map(|_| ()),
                    1 => {
                        clock.advance(moment);
                        Ok(())
                    }
                    _ => {
                        let claim = ClaimId::new(format!("claim-{number}"))?;
                        answered(|| bank.take(&claim, Hold::Forever)).await.map(|_| ())
                    }
                }
            }
        });
        told.await?;
        ensure_one_holder(&*bank, &ada).await?;
    }
    Ok(())
}

async fn ensure_one_holder(bank: &dyn ItemBank, ada: &ClaimId) -> Verdict {
    let mut holders = vec![];
    let claims = (0..CALLERS).map(|number| ClaimId::new(format!("claim-{number}")));
    for claim in claims.chain([Ok(ada.clone())]) {
        let claim = claim?;
        if let ClaimState::Held(held) = bank.get(&claim).await? {
            ensure_eq!(
                bank.holder(&held.item).await?,
                ItemState::Held(claim.clone()),
                "the holder of the item of {claim:?}"
            );
            holders.push(claim);
        }
    }
    ensure!(holders.len() <= 1, "one item is held by {holders:?}");
    ensure_eq!(bank.counts().await?.held, holders.len() as u64, "items held");
    Ok(())
}

/// If a hold is always extended before it ends, no read shows that it has ended.
pub(super) async fn a_hold_that_is_extended_in_time_is_never_seen_ended(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let (ada, turns) = (ClaimId::new("ada")?, world.profile().rounds * 20);
    take_new(&bank, &ada, Hold::For(HOUR)).await?;
    let clock = world.clock()?;
    race(4, |number| {
        let (bank, ada, clock) = (Arc::clone(&bank), ada.clone(), clock.clone());
        async move {
            for _ in 0..turns {
                if number == 0 {
                    let _ = answered(|| bank.extend(&ada, Hold::For(HOUR))).await?;
                    clock.advance(HOUR / 2);
                } else {
                    let seen = answered(|| bank.get(&ada)).await?;
                    ensure_matches!(seen, ClaimState::Held(_), "a hold that is extended in time");
                }
            }
            Ok(())
        }
    })
    .await
    .map(drop)
}

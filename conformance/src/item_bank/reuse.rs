//! Items and claims that are used again after a hold has ended, which the store may have forgotten.

use storagebox_core::{ClaimId, ClaimState, Confirmed, End, Extended, Hold, ItemBank, ItemState, Released, Taken};

use super::take_new;
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::race::{answered, race};
use crate::world::World;

pub(super) async fn an_item_that_was_taken_again_stays_with_its_holder(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let (ada, bob) = (ClaimId::new("ada")?, ClaimId::new("bob")?);
    let item = take_new(&bank, &ada, Hold::For(world.short())).await?;
    world.pass(world.short()).await;
    ensure_eq!(take_new(&bank, &bob, Hold::Forever).await?, item, "the item after its hold");
    ensure_eq!(bank.release(&ada).await?, Released::Expired, "releasing the lapsed claim");
    ensure_eq!(bank.confirm(&ada).await?, Confirmed::Ended(End::Expired), "confirming the lapsed claim");
    ensure_eq!(bank.extend(&ada, Hold::Forever).await?, Extended::Ended(End::Expired), "extending the lapsed claim");
    ensure_held(&*bank, &bob).await?;
    world.outlast_memory().await?;
    ensure_matches!(bank.release(&ada).await?, Released::Expired | Released::Released, "releasing it long after");
    ensure_held(&*bank, &bob).await
}

pub(super) async fn a_claim_that_was_retired_and_taken_anew_outlives_upkeep(world: &World) -> Verdict {
    let bank = world.filled(2).await?;
    let (ada, bob) = (ClaimId::new("ada")?, ClaimId::new("bob")?);
    let _ = bank.release(&ada).await?;
    let _ = bank.retire(&ada).await?;
    take_new(&bank, &ada, Hold::Forever).await?;
    world.outlast_memory().await?;
    ensure_held(&*bank, &ada).await?;
    take_new(&bank, &bob, Hold::Forever).await?;
    ensure_eq!(bank.take(&ClaimId::new("eve")?, Hold::Forever).await?, Taken::Empty, "a take beside two holders");
    ensure_held(&*bank, &ada).await?;
    ensure_held(&*bank, &bob).await
}

/// A claim whose hold ended long ago holds at most one item after another take, even if the store has forgotten the
/// claim.
pub(super) async fn a_claim_whose_hold_is_long_over_holds_one_item(world: &World) -> Verdict {
    for upkeep in [false, true] {
        let bank = world.filled_bank(if upkeep { "with" } else { "without" }, 3).await?;
        let claim = ClaimId::new("ada")?;
        take_new(&bank, &claim, Hold::For(world.short())).await?;
        world.pass(world.short()).await;
        match upkeep {
            true => world.outlast_memory().await?,
            false => world.pass_memory().await,
        }
        let held = match bank.take(&claim, Hold::Forever).await? {
            Taken::New(_) => 1,
            Taken::Ended(End::Expired) => 0,
            other => return Err(Failure::new(format!("a claim whose hold is long over is answered {other:?}"))),
        };
        let counts = bank.counts().await?;
        ensure_eq!((counts.free, counts.held), (3 - held, held), "items free and held");
        if held == 1 {
            ensure_held(&*bank, &claim).await?;
        }
    }
    Ok(())
}

/// Upkeep frees the item of a lapsed hold. The answers about the claim are the same as without upkeep.
pub(super) async fn a_hold_that_upkeep_ended_is_expired(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let (ada, bob, short) = (ClaimId::new("ada")?, ClaimId::new("bob")?, world.short());
    let item = take_new(&bank, &ada, Hold::For(short)).await?;
    world.pass(short).await;
    world.upkeep().await?;
    ensure_eq!(bank.holder(&item).await?, ItemState::Free, "the item after upkeep");
    ensure_eq!(bank.get(&ada).await?, ClaimState::Ended(End::Expired), "the claim after upkeep");
    ensure_eq!(bank.confirm(&ada).await?, Confirmed::Ended(End::Expired), "confirming it");
    ensure_eq!(bank.extend(&ada, Hold::Forever).await?, Extended::Ended(End::Expired), "extending it");
    ensure_eq!(bank.take(&ada, Hold::Forever).await?, Taken::Ended(End::Expired), "a take by it");
    ensure_eq!(take_new(&bank, &bob, Hold::Forever).await?, item, "another's take");
    ensure_eq!(bank.release(&ada).await?, Released::Expired, "releasing it");
    ensure_held(&*bank, &bob).await
}

pub(super) async fn claims_taken_anew_beside_upkeep_hold(world: &World) -> Verdict {
    const CLAIMS: usize = 12;
    for round in 0..world.profile().rounds {
        let bank = world.filled_bank(&format!("bank-{round}"), CLAIMS).await?;
        let claims = (0..CLAIMS).map(|number| ClaimId::new(format!("claim-{number}")));
        let claims = claims.collect::<Result<Vec<_>, _>>()?;
        for claim in &claims {
            let _ = bank.release(claim).await?;
        }
        world.pass_memory().await;
        let taken = race(CLAIMS + 2, |number| {
            let (bank, store, claim) = (bank.clone(), world.store().clone(), claims.get(number).cloned());
            async move {
                match claim {
                    Some(claim) => Ok(Some(answered(|| bank.take(&claim, Hold::Forever)).await?)),
                    None => answered(|| store.maintain(5)).await.map(|_| None),
                }
            }
        })
        .await?;
        for (claim, taken) in claims.iter().zip(taken.into_iter().flatten()) {
            match taken {
                Taken::New(_) => ensure_held(&*bank, claim).await?,
                taken => ensure_eq!(taken, Taken::Ended(End::Released), "a take by {claim:?}"),
            }
        }
    }
    Ok(())
}

/// Checks that the claim and its item name each other.
async fn ensure_held(bank: &dyn ItemBank, claim: &ClaimId) -> Verdict {
    let held = ensure_matches!(bank.get(claim).await?, ClaimState::Held(held) => held, "{claim:?}");
    ensure_eq!(bank.holder(&held.item).await?, ItemState::Held(claim.clone()), "the holder of its item");
    let again = bank.take(claim, Hold::Forever).await?;
    ensure!(again.item() == Some(&held.item), "{claim:?} takes another item than it holds");
    Ok(())
}

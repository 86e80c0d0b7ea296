//! Lost replies, requests that land late or twice.

use std::collections::BTreeMap;
use std::sync::Arc;

use storagebox_core::{
    Added, ClaimId, Confirmed, End, ErrorKind, Hold, Item, ItemBank, ItemState, Released, Result, Taken,
};

use super::take_new;
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::race::answered;
use crate::world::{World, items};

fn linked(bank: &Arc<dyn ItemBank>, fate: Fate) -> (Arc<dyn ItemBank>, Arc<Link>) {
    let link = Link::script([fate]);
    (link.before(bank), link)
}

fn ensure_lost<T: std::fmt::Debug>(answer: Result<T>) -> Verdict {
    ensure_matches!(answer, Err(error) if error.kind() == ErrorKind::OutcomeUnknown, "a call whose reply is lost");
    Ok(())
}

/// The reply to a take is lost. The repeated take returns the same item.
pub(super) async fn a_lost_reply_is_found_again(world: &World) -> Verdict {
    let bank = world.filled(4).await?;
    let ada = ClaimId::new("ada")?;
    let (far, _) = linked(&bank, Fate::ReplyLost);
    ensure_lost(far.take(&ada, Hold::Forever).await)?;
    let again = far.take(&ada, Hold::Forever).await?;
    let item = ensure_matches!(again, Taken::Again(held) => held.item, "a take whose reply was lost, once more");

    let (far, _) = linked(&bank, Fate::ReplyLost);
    ensure_lost(far.confirm(&ada).await)?;
    ensure_eq!(far.confirm(&ada).await?, Confirmed::Confirmed(item), "a confirm whose reply was lost, once more");

    let bob = ClaimId::new("bob")?;
    take_new(&bank, &bob, Hold::Forever).await?;
    let (far, _) = linked(&bank, Fate::ReplyLost);
    ensure_lost(far.release(&bob).await)?;
    ensure_eq!(far.release(&bob).await?, Released::Released, "a release whose reply was lost, once more");
    ensure_eq!(bank.counts().await?.free, 3, "free items after all that");
    Ok(())
}

pub(super) async fn a_load_that_lands_twice_adds_once(world: &World) -> Verdict {
    let bank = world.filled(0).await?;
    let (far, link) = linked(&bank, Fate::Twice);
    ensure_eq!(far.add(&items(5)?).await?, Added { added: 5, already_present: 0 }, "the load");
    let (ada, bob) = (ClaimId::new("ada")?, ClaimId::new("bob")?);
    let held = take_new(&bank, &ada, Hold::Forever).await?;
    let spent = take_new(&bank, &bob, Hold::Forever).await?;
    let _ = bank.confirm(&bob).await?;
    link.land().await;
    ensure_eq!(bank.counts().await?.free, 3, "free items after the load landed again");
    ensure_eq!(bank.holder(&held).await?, ItemState::Held(ada), "the held item after that");
    ensure_eq!(bank.holder(&spent).await?, ItemState::Spent(Some(bob)), "the spent item after that");
    Ok(())
}

pub(super) async fn a_take_that_lands_after_its_release_gets_nothing(world: &World) -> Verdict {
    let bank = world.filled(3).await?;
    let (ada, bob) = (ClaimId::new("ada")?, ClaimId::new("bob")?);
    let (far, link) = linked(&bank, Fate::Late);
    ensure_lost(far.take(&ada, Hold::Forever).await)?;
    ensure_eq!(far.release(&ada).await?, Released::Released, "releasing a claim whose take is in flight");
    link.land().await;
    ensure_eq!(bank.counts().await?.free, 3, "free items after the late take");
    ensure_eq!(bank.take(&ada, Hold::Forever).await?, Taken::Ended(End::Released), "the claim after the late take");

    take_new(&bank, &bob, Hold::Forever).await?;
    let (far, link) = linked(&bank, Fate::Twice);
    let _ = far.release(&bob).await?;
    let eve = ClaimId::new("eve")?;
    for name in ["eve", "kim", "joe"] {
        take_new(&bank, &ClaimId::new(name)?, Hold::Forever).await?;
    }
    link.land().await;
    ensure_matches!(bank.take(&eve, Hold::Forever).await?, Taken::Again(_), "another's claim after a late release");
    ensure_eq!(bank.counts().await?.held, 3, "items held after a late release");
    Ok(())
}

/// Callers take, confirm and release items under faults, and repeat each call until it is answered. In the end every
/// answer is still true, and no item is lost.
pub(super) async fn random_faults_lose_and_double_nothing(world: &World) -> Verdict {
    let mut rng = world.rng();
    for round in 0..world.profile().rounds {
        let world = world.another().await?;
        let bank = world.filled(20).await?;
        let link = Link::random(rng.u64(..), 30);
        let far = link.before(&bank);
        let mut ends = BTreeMap::new();
        for number in 0..30 {
            let claim = ClaimId::new(format!("{round}/{number}"))?;
            let end = live(&*far, &claim, rng.u8(..4)).await?;
            ends.insert(claim, end);
            if rng.u8(..4) == 0 {
                link.land().await;
            }
        }
        link.heal();
        link.land().await;
        check_ends(&world, &*bank, &ends).await?;
    }
    Ok(())
}

#[derive(Debug)]
enum Last {
    Nothing,
    Holds(Item),
    Spent(Item),
    Released,
}

async fn live(bank: &dyn ItemBank, claim: &ClaimId, choice: u8) -> Result<Last, Failure> {
    let taken = answered(|| bank.take(claim, Hold::Forever)).await?;
    let item = match taken {
        Taken::New(held) | Taken::Again(held) => held.item,
        // An earlier attempt may still land. The fence makes the answer final.
        Taken::Empty => return released(bank, claim).await.map(|()| Last::Nothing),
        Taken::Ended(end) => return Err(Failure::new(format!("a claim ended by itself: {end:?}"))),
    };
    match choice {
        0 => released(bank, claim).await.map(|()| Last::Released),
        1 => {
            let confirmed = answered(|| bank.confirm(claim)).await?;
            ensure_eq!(confirmed, Confirmed::Confirmed(item.clone()), "confirming a held item");
            Ok(Last::Spent(item))
        }
        _ => Ok(Last::Holds(item)),
    }
}

async fn released(bank: &dyn ItemBank, claim: &ClaimId) -> Verdict {
    let released = answered(|| bank.release(claim)).await?;
    ensure_eq!(released, Released::Released, "releasing a claim that is not confirmed");
    Ok(())
}

async fn check_ends(world: &World, bank: &dyn ItemBank, ends: &BTreeMap<ClaimId, Last>) -> Verdict {
    let states: BTreeMap<_, _> = world.audit().await?.into_iter().map(|entry| (entry.item, entry.state)).collect();
    ensure_eq!(states.len(), 20, "items of the audit");
    let mut taken = 0;
    for (claim, last) in ends {
        let (item, expected) = match last {
            Last::Holds(item) => (item, ItemState::Held(claim.clone())),
            Last::Spent(item) => (item, ItemState::Spent(Some(claim.clone()))),
            Last::Nothing | Last::Released => {
                let late = bank.take(claim, Hold::Forever).await?;
                ensure_eq!(late, Taken::Ended(End::Released), "a claim that ended with {last:?}");
                continue;
            }
        };
        ensure_eq!(states.get(item), Some(&expected), "the item that {claim:?} was given");
        taken += 1;
    }
    let counts = bank.counts().await?;
    ensure!(counts.free == 20 - taken, "{taken} claims have an item of 20, and the bank counts {counts:?}");
    Ok(())
}

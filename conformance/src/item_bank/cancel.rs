//! Futures that are dropped: before they land, and after they landed and before their reply.

use std::sync::Arc;

use storagebox_core::{BankAdmin, ClaimId, Hold, Item, ItemBank, Result, StoreExt};

use super::take_new;
use crate::case::Verdict;
use crate::failure::{ensure, ensure_eq};
use crate::link::{Link, Linked, drop_after, polls};
use crate::world::{World, items};

/// A call, and what makes sure that it can do something.
#[derive(Clone, Copy, Debug)]
enum Call {
    Add,
    Take,
    Extend,
    Confirm,
    Release,
    Retire,
    Withdraw,
    Restore,
}

const CALLS: [Call; 8] = [
    Call::Add,
    Call::Take,
    Call::Extend,
    Call::Confirm,
    Call::Release,
    Call::Retire,
    Call::Withdraw,
    Call::Restore,
];

impl Call {
    async fn prepare(self, bank: &dyn BankAdmin, claim: &ClaimId) -> Verdict {
        match self {
            Self::Add | Self::Take | Self::Withdraw => {}
            Self::Extend | Self::Confirm | Self::Release => {
                take_new(bank, claim, Hold::Forever).await?;
            }
            Self::Retire => {
                bank.release(claim).await?;
            }
            Self::Restore => {
                bank.withdraw(&last()?).await?;
            }
        }
        Ok(())
    }

    /// Makes the call and tells what it did, so that two calls can be compared.
    async fn make(self, bank: &dyn BankAdmin, claim: &ClaimId) -> Result<String> {
        Ok(match self {
            Self::Add => format!("{:?}", bank.add(&items(6)?).await?),
            Self::Take => format!("{:?}", bank.take(claim, Hold::Forever).await?.item()),
            Self::Extend => format!("{:?}", bank.extend(claim, Hold::Forever).await?),
            Self::Confirm => format!("{:?}", bank.confirm(claim).await?),
            Self::Release => format!("{:?}", bank.release(claim).await?),
            Self::Retire => format!("{:?}", bank.retire(claim).await?),
            Self::Withdraw => format!("{:?}", bank.withdraw(&last()?).await?),
            Self::Restore => format!("{:?}", bank.restore(&last()?).await?),
        })
    }
}

fn last() -> Result<Vec<Item>> {
    Ok(vec![Item::new("item-4")?])
}

/// Every call, dropped at every point: the bank is whole, the call made again ends in the state that one
/// undisturbed call leaves, and a stranger's call through the old client works.
pub(super) async fn dropping_any_call_leaves_the_bank_whole(world: &World) -> Verdict {
    let mut points = 0;
    for call in CALLS {
        let (pends, expected) = undisturbed(world, call).await?;
        for point in 0..pends {
            let found = dropped_at(world, call, point)
                .await
                .map_err(|failure| failure.during(format!("{call:?}")))?;
            ensure_eq!(found, expected, "the counts after {call:?}, dropped at point {point} and made again");
        }
        points += pends;
    }
    ensure!(points >= 16, "only {points} points to drop a call at");
    Ok(())
}

async fn undisturbed(world: &World, call: Call) -> Result<(usize, String), crate::failure::Failure> {
    let world = world.another().await?;
    let bank = world.filled(5).await?;
    let ada = ClaimId::new("ada")?;
    call.prepare(&*bank, &ada).await?;
    let gated = Linked::new(Arc::clone(&bank), Link::gated());
    let (pends, answer) = polls(call.make(&*gated, &ada)).await;
    answer?;
    Ok((pends, format!("{:?}", bank.counts().await?)))
}

async fn dropped_at(world: &World, call: Call, point: usize) -> Result<String, crate::failure::Failure> {
    let world = world.another().await?;
    let old = world.filled(5).await?;
    let ada = ClaimId::new("ada")?;
    call.prepare(&*old, &ada).await?;
    let gated = Linked::new(Arc::clone(&old), Link::gated());
    ensure!(
        drop_after(call.make(&*gated, &ada), point).await.is_none(),
        "the call ended before point {point}"
    );

    let audited = world.audit().await?.len() as u64;
    let fresh = world.client().await?.bank("bank")?;
    ensure_eq!(fresh.counts().await?.total(), audited, "items counted and audited after the drop");
    ensure!(audited >= 5, "an item is gone: {audited} of 5 or more are left");
    let first = call.make(&*fresh, &ada).await?;
    if let Call::Take | Call::Confirm | Call::Release | Call::Extend = call {
        ensure_eq!(call.make(&*fresh, &ada).await?, first, "the same call again");
    }
    let left = format!("{:?}", fresh.counts().await?);
    take_new(&old, &ClaimId::new("stranger")?, Hold::Forever).await?;
    Ok(left)
}

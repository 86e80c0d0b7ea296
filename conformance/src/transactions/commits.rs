//! J-1: a call takes effect with the commit of its transaction, or not at all.

use storagebox_core::{Added, Backend, ClaimState, Hold, ItemBank, Taken};

use super::{begun, claim, within};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::part::Part;
use crate::store::steps::Step;
use crate::world::{World, items};

fn steps() -> impl Iterator<Item = Step> {
    Part::STORED.iter().flat_map(|part| Step::all_of(*part))
}

pub(super) async fn each_call_takes_effect_when_it_is_committed(world: &World) -> Verdict {
    for step in steps() {
        step.prepare(&**world.store()).await?;
        let mut transaction = begun(world).await?;
        within(world, &mut *transaction)?.run(async |store| step.make(&*store).await).await?;
        transaction.commit().await?;
        ensure!(step.is_made(&*world.client().await?).await?, "`{}` is not made after the commit", step.name());
    }
    Ok(())
}

pub(super) async fn each_call_that_is_rolled_back_never_was(world: &World) -> Verdict {
    for step in steps() {
        step.prepare(&**world.store()).await?;
        let mut transaction = begun(world).await?;
        within(world, &mut *transaction)?.run(async |store| step.make(&*store).await).await?;
        transaction.rollback().await?;
        if step.asks_only() {
            ensure!(!step.is_made(&**world.store()).await?, "`{}` is made after a rollback", step.name());
        }
        step.make(&**world.store()).await?;
        ensure!(step.is_made(&*world.client().await?).await?, "`{}` is not made after a rollback", step.name());
    }
    Ok(())
}

/// Calls of all parts in one transaction are committed together.
pub(super) async fn calls_of_all_parts_are_committed_together(world: &World) -> Verdict {
    let firsts: Vec<_> = Part::STORED.iter().filter_map(|part| Step::all_of(*part).next()).collect();
    for step in &firsts {
        step.prepare(&**world.store()).await?;
    }
    let mut transaction = begun(world).await?;
    let make = async |store: std::sync::Arc<dyn Backend>| {
        for step in &firsts {
            step.make(&*store).await?;
        }
        Ok::<_, Failure>(())
    };
    within(world, &mut *transaction)?.run(make).await?;
    transaction.commit().await?;
    for step in firsts {
        ensure!(step.is_made(&**world.store()).await?, "`{}` is not made", step.name());
    }
    Ok(())
}

/// A namespace whose first call was rolled back can be created again by a later transaction.
pub(super) async fn a_namespace_that_was_rolled_back_is_opened_again(world: &World) -> Verdict {
    for is_committed in [false, false, true] {
        let mut transaction = begun(world).await?;
        let added = within(world, &mut *transaction)?.item_bank(&"bank".parse()?)?.add(&items(1)?).await?;
        ensure_eq!(added, Added { added: 1, already_present: 0 }, "the first call of a bank");
        match is_committed {
            true => transaction.commit().await?,
            false => transaction.rollback().await?,
        }
    }
    ensure_matches!(world.bank()?.take(&claim(0)?, Hold::Forever).await?, Taken::New(_), "a take after the commit");
    Ok(())
}

pub(super) async fn a_transaction_sees_its_own_calls(world: &World) -> Verdict {
    let bank = world.filled(2).await?;
    let mut transaction = begun(world).await?;
    {
        let joined = within(world, &mut *transaction)?.item_bank(&"bank".parse()?)?;
        let first = ensure_matches!(joined.take(&claim(0)?, Hold::Forever).await?, Taken::New(held) => held, "a take");
        ensure_eq!(joined.take(&claim(0)?, Hold::Forever).await?, Taken::Again(first.clone()), "the same take");
        ensure_eq!(joined.get(&claim(0)?).await?, ClaimState::Held(first), "the claim");
        ensure_eq!(joined.counts().await?.free, 1, "free items in the transaction");
    }
    transaction.rollback().await?;
    ensure_eq!(bank.counts().await?.free, 2, "free items after the rollback");
    Ok(())
}

pub(super) async fn nobody_else_sees_it_before_the_commit(world: &World) -> Verdict {
    world.filled(1).await?;
    let other = world.client().await?.item_bank(&"bank".parse()?)?;
    ensure_eq!(other.get(&claim(0)?).await?, ClaimState::Unknown, "the claim before the transaction");
    let mut transaction = begun(world).await?;
    let taken = within(world, &mut *transaction)?.item_bank(&"bank".parse()?)?.take(&claim(0)?, Hold::Forever).await?;
    let held = ensure_matches!(taken, Taken::New(held) => held, "a take");
    ensure_eq!(other.get(&claim(0)?).await?, ClaimState::Unknown, "the claim before the commit");
    transaction.commit().await?;
    ensure_eq!(other.get(&claim(0)?).await?, ClaimState::Held(held), "the claim after the commit");
    Ok(())
}

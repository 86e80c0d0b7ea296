//! A process that takes items until it is killed, and the check of what it leaves.

use std::collections::BTreeSet;

use storagebox_core::{Backend, ClaimId, Hold, Item, ItemBank, ItemState, Taken};

use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::World;

/// Takes items endlessly, and prints each claim with its item.
pub(crate) async fn run(store: &dyn Backend, say: impl Fn(&str) -> Verdict) -> Verdict {
    let bank = store.item_bank(&"bank".parse()?)?;
    for number in 0.. {
        bank.add(&[Item::new(format!("item-{number}"))?]).await?;
        let claim = format!("claim-{number}");
        let taken = bank.take(&ClaimId::new(&*claim)?, Hold::Forever).await?;
        let item = taken.item().ok_or_else(|| Failure::new("an item was added, and cannot be taken"))?;
        say(&format!("{claim} {}", item.as_str()))?;
    }
    Ok(())
}

/// Checks that every printed claim holds its item, and that the bank lists and counts every item once.
pub(crate) async fn judge(world: &World, told: &[String]) -> Verdict {
    let bank = world.client().await?.item_bank(&"bank".parse()?)?;
    for (claim, item) in told.iter().filter_map(|line| line.split_once(' ')) {
        let (claim, item) = (ClaimId::new(claim)?, Item::new(item)?);
        let text = item.as_str();
        ensure_eq!(bank.holder(&item).await?, ItemState::Held(claim), "who holds {text}, which a killed process took");
    }
    let listed = world.audit().await?;
    let items: BTreeSet<_> = listed.iter().map(|listed| &listed.item).collect();
    let (counts, all) = (bank.counts().await?, listed.len() as u64);
    ensure_eq!(items.len(), listed.len(), "different items in the bank");
    ensure_eq!(counts.free + counts.held, all, "free and held items by count, of all that are listed");
    // One call was in progress: at most one more item is there, free or held by a claim that was not printed.
    let untold = all - told.len() as u64;
    ensure!(untold <= 1, "{untold} items that the process did not print");
    takes_the_next(&*bank).await
}

async fn takes_the_next(bank: &dyn ItemBank) -> Verdict {
    bank.add(&[Item::new("next")?]).await?;
    let taken = bank.take(&ClaimId::new("next")?, Hold::Forever).await?;
    ensure_matches!(taken, Taken::New(_), "a take after a process was killed");
    Ok(())
}

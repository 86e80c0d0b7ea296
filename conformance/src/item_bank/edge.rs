//! Batches of any length, and the last item of a bank.

use storagebox_core::{Added, ClaimId, Counts, Hold, Item, ItemBank, Taken};

use super::take_new;
use crate::failure::{Verdict, ensure_eq};
use crate::world::{World, items};

/// If a batch names an item twice, the item counts once. In the Python package the duplicate was an error.
pub(super) async fn duplicates_in_one_call_count_once(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let twice = [items(3)?, items(3)?, items(2)?].concat();
    ensure_eq!(bank.add(&twice).await?, Added { added: 2, already_present: 1 }, "3 items in 8 places, 1 known");
    ensure_eq!(bank.counts().await?.free, 3, "free items");
    Ok(())
}

/// A batch of any length is added as a whole. The Python package lost some items of batches of 25 items.
pub(super) async fn batches_of_any_length(world: &World) -> Verdict {
    let bank = world.bank()?;
    let mut expected = 0;
    for count in [0, 1, 24, 25, 26, 99, 100, 101, 1_001] {
        let batch: Vec<_> = (0..count).map(|index| Item::new(format!("{count}/{index}"))).collect::<Result<_, _>>()?;
        let report = bank.add(&batch).await?;
        ensure_eq!(report, Added { added: count, already_present: 0 }, "a batch of {count}");
        expected += count;
        ensure_eq!(bank.counts().await?.free, expected, "free items after a batch of {count}");
    }
    Ok(())
}

/// A take finds free items that are separated by more withdrawn items than a store may read in one step.
pub(super) async fn free_items_among_many_others_are_found(world: &World) -> Verdict {
    let (bank, others) = (world.bank()?, items(600)?);
    let free = [Item::new("a-first")?, Item::new("z-last")?];
    bank.add(&free[..1]).await?;
    bank.add(&others).await?;
    bank.add(&free[1..]).await?;
    ensure_eq!(bank.withdraw(&others).await?.withdrawn, 600, "items withdrawn");
    let mut taken = vec![];
    for name in ["ada", "bob"] {
        taken.push(take_new(&bank, &ClaimId::new(name)?, Hold::Forever).await?);
    }
    taken.sort();
    ensure_eq!(taken, free, "the items taken");
    ensure_eq!(bank.take(&ClaimId::new("eve")?, Hold::Forever).await?, Taken::Empty, "a take when none is free");
    Ok(())
}

pub(super) async fn a_bank_is_drained_to_the_last_item(world: &World) -> Verdict {
    let bank = world.filled(500).await?;
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..500 {
        let claim = ClaimId::new(format!("claim-{number}"))?;
        seen.insert(take_new(&bank, &claim, Hold::Forever).await?);
    }
    ensure_eq!(seen.len(), 500, "distinct items taken");
    ensure_eq!(bank.take(&ClaimId::new("late")?, Hold::Forever).await?, Taken::Empty, "a take after the last");
    ensure_eq!(bank.counts().await?, Counts { held: 500, ..Counts::default() }, "the counts when it is drained");
    Ok(())
}

//! Administrative calls, while claims are in each of their states.

use std::collections::BTreeMap;

use storagebox_core::{
    Added, ClaimId, ClaimState, Confirmed, Counts, End, Hold, Item, ItemBank, ItemState, Released, Taken,
};

use super::take_new;
use crate::failure::{Verdict, ensure_eq};
use crate::world::{World, items};

pub(super) async fn a_withdrawn_item_added_again_stays_withdrawn(world: &World) -> Verdict {
    let bank = world.filled(2).await?;
    bank.withdraw(&items(2)?).await?;
    let report = bank.add(&items(3)?).await?;
    ensure_eq!(report, Added { added: 1, already_present: 2 }, "two withdrawn items and a new one, added");
    let expected = Counts { free: 1, withdrawn: 2, ..Counts::default() };
    ensure_eq!(bank.counts().await?, expected, "the counts after that");
    let item = take_new(&bank, &ClaimId::new("ada")?, Hold::Forever).await?;
    ensure_eq!(item, Item::new("item-2")?, "the item that may be taken");
    ensure_eq!(bank.take(&ClaimId::new("bob")?, Hold::Forever).await?, Taken::Empty, "a second take");
    ensure_eq!(bank.restore(&items(2)?).await?.restored, 2, "what is restored after that");
    Ok(())
}

/// An add of an item whose hold has lapsed adds nothing, even before upkeep has processed the end of the hold.
pub(super) async fn an_item_whose_hold_has_lapsed_is_not_added_again(world: &World) -> Verdict {
    let (bank, short) = (world.filled(2).await?, world.short());
    take_new(&bank, &ClaimId::new("ada")?, Hold::For(short)).await?;
    world.pass(short).await;
    for when in ["before upkeep", "after it"] {
        let report = bank.add(&items(2)?).await?;
        ensure_eq!(report, Added { added: 0, already_present: 2 }, "a load of known items {when}");
        ensure_eq!(bank.counts().await?, Counts { free: 2, ..Counts::default() }, "the counts {when}");
        world.upkeep().await?;
    }
    Ok(())
}

pub(super) async fn a_lapsed_hold_whose_item_is_withdrawn_is_expired(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let (ada, short) = (ClaimId::new("ada")?, world.short());
    take_new(&bank, &ada, Hold::For(short)).await?;
    world.pass(short).await;
    ensure_eq!(bank.withdraw(&items(1)?).await?.withdrawn, 1, "withdrawing an item whose hold has lapsed");
    ensure_eq!(bank.get(&ada).await?, ClaimState::Ended(End::Expired), "the claim after that");
    ensure_eq!(bank.confirm(&ada).await?, Confirmed::Ended(End::Expired), "confirming it");
    ensure_eq!(bank.take(&ada, Hold::Forever).await?, Taken::Ended(End::Expired), "a take by it");
    ensure_eq!(bank.release(&ada).await?, Released::Expired, "releasing it");
    ensure_eq!(bank.holder(&items(1)?[0]).await?, ItemState::Withdrawn, "the item after its claim's calls");
    Ok(())
}

/// The counts, a listing, single reads and the audit agree on each item, even on an item whose hold has just lapsed.
pub(super) async fn a_listing_shows_each_state(world: &World) -> Verdict {
    let bank = world.filled(6).await?;
    let [held, spent, gone, lapsed] = ["held", "spent", "gone", "lapsed"].map(ClaimId::new);
    let (held, spent, gone, lapsed) = (held?, spent?, gone?, lapsed?);
    let mut expected = BTreeMap::new();
    expected.insert(take_new(&bank, &held, Hold::Forever).await?, ItemState::Held(held));
    for (claim, is_retired) in [(spent, false), (gone, true)] {
        let item = take_new(&bank, &claim, Hold::Forever).await?;
        let _ = bank.confirm(&claim).await?;
        if is_retired {
            let _ = bank.retire(&claim).await?;
        }
        expected.insert(item, ItemState::Spent(Some(claim).filter(|_| !is_retired)));
    }
    expected.insert(take_new(&bank, &lapsed, Hold::For(world.short())).await?, ItemState::Free);
    let mut others = items(6)?.into_iter().filter(|item| !expected.contains_key(item)).collect::<Vec<_>>();
    bank.withdraw(&others.split_off(1)).await?;
    world.pass(world.short()).await;
    for item in items(6)? {
        let state = expected.get(&item).cloned();
        let otherwise = if others.contains(&item) { ItemState::Free } else { ItemState::Withdrawn };
        expected.insert(item, state.unwrap_or(otherwise));
    }
    let counts = Counts { free: 2, held: 1, spent: 2, withdrawn: 1 };
    ensure_eq!(bank.counts().await?, counts, "the counts");
    let listed = |entries: Vec<storagebox_core::ListedItem>| -> BTreeMap<_, _> {
        entries.into_iter().map(|entry| (entry.item, entry.state)).collect()
    };
    let page = bank.list(None, 100).await?;
    ensure_eq!(page.entries.len(), 6, "entries listed");
    ensure_eq!(listed(page.entries), expected, "the listing");
    ensure_eq!(listed(world.audit().await?), expected, "the audit");
    for (item, state) in expected {
        ensure_eq!(bank.holder(&item).await?, state, "a look at {item:?}");
    }
    Ok(())
}

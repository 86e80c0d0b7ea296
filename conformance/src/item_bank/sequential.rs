//! One caller, one call after another.

use storagebox_core::{
    Added, Backend, ClaimId, ClaimState, Confirmed, Counts, End, Extended, Hold, HoldState, Item, ItemBank, ItemState,
    Released, Retention, Retired, Taken,
};

use super::take_new;
use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::pages::after;
use crate::world::{World, items};

pub(super) async fn same_claim_same_item(world: &World) -> Verdict {
    let bank = world.filled(5).await?;
    let claim = ClaimId::new("ada")?;
    let item = take_new(&bank, &claim, Hold::Forever).await?;
    for _ in 0..3 {
        let again = bank.take(&claim, Hold::Forever).await?;
        ensure_matches!(again, Taken::Again(held) if held.item == item, "the same claim takes again");
    }
    ensure_eq!(bank.counts().await?.held, 1, "items held after taking four times");
    Ok(())
}

/// A claim that takes again from an empty bank gets the item that it already holds. In the Python package a returning
/// user got nothing.
pub(super) async fn same_claim_same_item_from_an_empty_bank(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let claim = ClaimId::new("ada")?;
    let item = take_new(&bank, &claim, Hold::Forever).await?;
    ensure_eq!(bank.take(&ClaimId::new("bob")?, Hold::Forever).await?, Taken::Empty, "a take from an empty bank");
    let again = bank.take(&claim, Hold::Forever).await?;
    ensure_matches!(again, Taken::Again(held) if held.item == item, "the holder takes again from an empty bank");
    Ok(())
}

pub(super) async fn another_client_knows_the_claim(world: &World) -> Verdict {
    let bank = world.filled(3).await?;
    let claim = ClaimId::new("ada")?;
    let item = take_new(&bank, &claim, Hold::Forever).await?;
    let other = world.client().await?.item_bank(&"bank".parse()?)?;
    let again = other.take(&claim, Hold::Forever).await?;
    ensure_matches!(again, Taken::Again(held) if held.item == item, "the same claim through another client");
    ensure_eq!(other.counts().await?.held, 1, "items held, as another client counts them");
    Ok(())
}

pub(super) async fn taking_again_does_not_change_the_hold(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let (claim, short) = (ClaimId::new("ada")?, world.short());
    take_new(&bank, &claim, Hold::For(short)).await?;
    let again = bank.take(&claim, Hold::For(short * 10)).await?;
    let hold = ensure_matches!(again, Taken::Again(held) => held.hold, "the same claim takes again for longer");
    ensure_matches!(hold, HoldState::Remaining(left) if left <= short, "what is left of the first hold");
    let forever = bank.take(&claim, Hold::Forever).await?;
    ensure_matches!(forever, Taken::Again(held) if held.hold != HoldState::Forever, "the same claim, for ever");
    world.pass(short).await;
    ensure_matches!(bank.take(&claim, Hold::Forever).await?, Taken::Ended(End::Expired), "after the first hold");
    Ok(())
}

pub(super) async fn empty_is_true_and_ends(world: &World) -> Verdict {
    let bank = world.filled(0).await?;
    let (ada, bob) = (ClaimId::new("ada")?, ClaimId::new("bob")?);
    ensure_eq!(bank.take(&ada, Hold::Forever).await?, Taken::Empty, "a take from a bank that never had an item");
    ensure_eq!(bank.get(&ada).await?, ClaimState::Unknown, "what an empty take leaves");
    bank.add(&items(1)?).await?;
    take_new(&bank, &ada, Hold::Forever).await?;
    ensure_eq!(bank.take(&bob, Hold::Forever).await?, Taken::Empty, "a take after the last item");
    let _ = bank.release(&ada).await?;
    take_new(&bank, &bob, Hold::Forever).await?;
    Ok(())
}

pub(super) async fn a_lapsed_hold_is_not_empty(world: &World) -> Verdict {
    let bank = world.filled(3).await?;
    let short = world.short();
    for name in ["a", "b", "c"] {
        take_new(&bank, &ClaimId::new(name)?, Hold::For(short)).await?;
    }
    world.pass(short).await;
    for name in ["d", "e", "f"] {
        take_new(&bank, &ClaimId::new(name)?, Hold::Forever).await?;
    }
    ensure_eq!(bank.take(&ClaimId::new("g")?, Hold::Forever).await?, Taken::Empty, "a take after all are retaken");
    Ok(())
}

pub(super) async fn adding_again_changes_nothing(world: &World) -> Verdict {
    let bank = world.bank()?;
    let all = items(10)?;
    ensure_eq!(bank.add(&all[..6]).await?, Added { added: 6, already_present: 0 }, "the first load");
    ensure_eq!(bank.add(&all).await?, Added { added: 4, already_present: 6 }, "a load over the first");
    ensure_eq!(bank.counts().await?, Counts { free: 10, ..Counts::default() }, "the counts after both");
    Ok(())
}

/// A held or spent item that is added again is not given to another claim. In the Python package a second user got the
/// item.
pub(super) async fn a_taken_item_added_again_stays_taken(world: &World) -> Verdict {
    let bank = world.filled(2).await?;
    let (ada, bob) = (ClaimId::new("ada")?, ClaimId::new("bob")?);
    take_new(&bank, &ada, Hold::Forever).await?;
    take_new(&bank, &bob, Hold::Forever).await?;
    let _ = bank.confirm(&bob).await?;
    ensure_eq!(bank.add(&items(2)?).await?, Added { added: 0, already_present: 2 }, "held and spent, added again");
    ensure_eq!(bank.take(&ClaimId::new("eve")?, Hold::Forever).await?, Taken::Empty, "a third claim");
    Ok(())
}

pub(super) async fn a_hold_ends_by_itself(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let (ada, bob, short) = (ClaimId::new("ada")?, ClaimId::new("bob")?, world.short());
    let item = take_new(&bank, &ada, Hold::For(short)).await?;
    ensure_eq!(bank.take(&bob, Hold::Forever).await?, Taken::Empty, "another's take during the hold");
    world.pass(short).await;
    ensure_eq!(take_new(&bank, &bob, Hold::Forever).await?, item, "the item after the hold");
    ensure_eq!(bank.take(&ada, Hold::Forever).await?, Taken::Ended(End::Expired), "the first claim after its hold");
    Ok(())
}

pub(super) async fn confirm_after_the_end_is_expired(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let (ada, bob, short) = (ClaimId::new("ada")?, ClaimId::new("bob")?, world.short());
    take_new(&bank, &ada, Hold::For(short)).await?;
    world.pass(short).await;
    let item = take_new(&bank, &bob, Hold::Forever).await?;
    ensure_eq!(bank.confirm(&ada).await?, Confirmed::Ended(End::Expired), "confirming an item that is another's");
    ensure_eq!(bank.holder(&item).await?, ItemState::Held(bob), "the holder after a late confirm");
    Ok(())
}

pub(super) async fn expired_though_not_retaken(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let (ada, short) = (ClaimId::new("ada")?, world.short());
    let item = take_new(&bank, &ada, Hold::For(short)).await?;
    world.pass(short).await;
    ensure_eq!(bank.confirm(&ada).await?, Confirmed::Ended(End::Expired), "confirming a lapsed hold");
    ensure_eq!(bank.extend(&ada, Hold::Forever).await?, Extended::Ended(End::Expired), "extending a lapsed hold");
    ensure_eq!(bank.release(&ada).await?, Released::Expired, "releasing a lapsed hold");
    ensure_eq!(bank.get(&ada).await?, ClaimState::Ended(End::Expired), "the claim after its hold");
    ensure_eq!(bank.holder(&item).await?, ItemState::Free, "the item after the hold");
    ensure_eq!(bank.counts().await?, Counts { free: 1, ..Counts::default() }, "the counts after the hold");
    Ok(())
}

pub(super) async fn confirm_makes_it_permanent(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let (ada, short) = (ClaimId::new("ada")?, world.short());
    let item = take_new(&bank, &ada, Hold::For(short)).await?;
    for _ in 0..2 {
        ensure_eq!(bank.confirm(&ada).await?, Confirmed::Confirmed(item.clone()), "confirming in time, and again");
    }
    world.pass(short * 2).await;
    ensure_eq!(bank.confirm(&ada).await?, Confirmed::Confirmed(item.clone()), "confirming again after the hold");
    ensure_eq!(bank.take(&ClaimId::new("bob")?, Hold::Forever).await?, Taken::Empty, "another's take of a spent item");
    let again = bank.take(&ada, Hold::Forever).await?;
    ensure_matches!(again, Taken::Again(held) if held.hold == HoldState::Confirmed, "the confirmed claim takes again");
    ensure_eq!(bank.confirm(&ClaimId::new("eve")?).await?, Confirmed::Unknown, "confirming a claim that took nothing");
    Ok(())
}

pub(super) async fn extend_never_shortens(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let (ada, short) = (ClaimId::new("ada")?, world.short());
    take_new(&bank, &ada, Hold::For(short * 4)).await?;
    let shorter = bank.extend(&ada, Hold::For(short)).await?;
    ensure_matches!(shorter, Extended::Extended(_), "extending by less than is left");
    world.pass(short * 2).await;
    ensure_matches!(bank.get(&ada).await?, ClaimState::Held(_), "the hold after a shorter extension's time");
    ensure_matches!(bank.extend(&ada, Hold::For(short * 4)).await?, Extended::Extended(_), "extending by more");
    world.pass(short * 3).await;
    ensure_matches!(bank.get(&ada).await?, ClaimState::Held(_), "the hold after the first one's time");
    let _ = bank.extend(&ada, Hold::Forever).await?;
    world.pass(short * 2).await;
    ensure_matches!(bank.get(&ada).await?, ClaimState::Held(held) if held.hold == HoldState::Forever, "for ever");
    ensure_eq!(bank.extend(&ClaimId::new("eve")?, Hold::Forever).await?, Extended::Unknown, "an unknown claim");
    Ok(())
}

pub(super) async fn release_frees_and_ends(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let (ada, bob) = (ClaimId::new("ada")?, ClaimId::new("bob")?);
    let item = take_new(&bank, &ada, Hold::Forever).await?;
    for _ in 0..2 {
        ensure_eq!(bank.release(&ada).await?, Released::Released, "releasing, and again");
    }
    ensure_eq!(bank.take(&ada, Hold::Forever).await?, Taken::Ended(End::Released), "a released claim takes");
    ensure_eq!(bank.confirm(&ada).await?, Confirmed::Ended(End::Released), "a released claim confirms");
    ensure_eq!(take_new(&bank, &bob, Hold::Forever).await?, item, "the item after its release");
    ensure_eq!(bank.release(&ClaimId::new("eve")?).await?, Released::Released, "releasing an unknown claim");
    Ok(())
}

pub(super) async fn release_of_another_claim_frees_nothing(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let (ada, bob) = (ClaimId::new("ada")?, ClaimId::new("bob")?);
    take_new(&bank, &ada, Hold::Forever).await?;
    let _ = bank.release(&ada).await?;
    let item = take_new(&bank, &bob, Hold::Forever).await?;
    let _ = bank.release(&ada).await?;
    let _ = bank.release(&ClaimId::new("eve")?).await?;
    ensure_eq!(bank.holder(&item).await?, ItemState::Held(bob), "the holder after others' releases");
    Ok(())
}

pub(super) async fn release_after_confirm_changes_nothing(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let ada = ClaimId::new("ada")?;
    let item = take_new(&bank, &ada, Hold::Forever).await?;
    let _ = bank.confirm(&ada).await?;
    ensure_eq!(bank.release(&ada).await?, Released::Confirmed, "releasing a confirmed claim");
    ensure_eq!(bank.holder(&item).await?, ItemState::Spent(Some(ada)), "the item after that");
    Ok(())
}

pub(super) async fn retire_lets_the_id_be_used_anew(world: &World) -> Verdict {
    let bank = world.filled(3).await?;
    let (ada, bob) = (ClaimId::new("ada")?, ClaimId::new("bob")?);
    ensure_eq!(bank.retire(&ada).await?, Retired::Unknown, "retiring an unknown claim");
    take_new(&bank, &ada, Hold::Forever).await?;
    ensure_eq!(bank.retire(&ada).await?, Retired::Holding, "retiring a claim that holds an item");
    let _ = bank.release(&ada).await?;
    ensure_eq!(bank.retire(&ada).await?, Retired::Retired, "retiring a released claim");
    take_new(&bank, &ada, Hold::Forever).await?;

    let spent = take_new(&bank, &bob, Hold::Forever).await?;
    let _ = bank.confirm(&bob).await?;
    ensure_eq!(bank.retire(&bob).await?, Retired::Retired, "retiring a confirmed claim");
    ensure_eq!(bank.holder(&spent).await?, ItemState::Spent(None), "its item stays spent");
    ensure!(take_new(&bank, &bob, Hold::Forever).await? != spent, "a retired claim took its spent item again");
    Ok(())
}

/// A store remembers a released claim for at least the retention.
pub(super) async fn a_released_claim_is_remembered_for_the_retention(world: &World) -> Verdict {
    let bank = world.filled(1).await?;
    let ada = ClaimId::new("ada")?;
    let _ = bank.release(&ada).await?;
    if let (true, Retention::For(week)) = (world.can_travel(), Retention::DEFAULT) {
        world.pass(week - world.short()).await;
    }
    world.upkeep().await?;
    ensure_eq!(bank.take(&ada, Hold::Forever).await?, Taken::Ended(End::Released), "a fenced claim after upkeep");
    Ok(())
}

pub(super) async fn counts_are_exact_at_rest(world: &World) -> Verdict {
    let bank = world.filled(6).await?;
    let (ada, bob, eve) = (ClaimId::new("ada")?, ClaimId::new("bob")?, ClaimId::new("eve")?);
    take_new(&bank, &ada, Hold::Forever).await?;
    take_new(&bank, &bob, Hold::Forever).await?;
    take_new(&bank, &eve, Hold::Forever).await?;
    let _ = bank.confirm(&bob).await?;
    let _ = bank.release(&eve).await?;
    let free = free_item(&*bank).await?;
    bank.withdraw(&[free]).await?;
    let expected = Counts { free: 3, held: 1, spent: 1, withdrawn: 1 };
    ensure_eq!(bank.counts().await?, expected, "the counts");
    let audited = world.audit().await?;
    ensure_eq!(audited.len() as u64, expected.total(), "the items of the audit");
    Ok(())
}

async fn free_item(bank: &dyn ItemBank) -> Result<Item, crate::failure::Failure> {
    let page = bank.list(None, 1_000).await?;
    let free = page.entries.into_iter().find(|entry| entry.state == ItemState::Free);
    free.map(|entry| entry.item).ok_or_else(|| crate::failure::Failure::new("no free item is listed"))
}

pub(super) async fn list_shows_each_item_once(world: &World) -> Verdict {
    let bank = world.filled(250).await?;
    for limit in [1, 7, 1_000] {
        let mut seen = Vec::new();
        let mut cursor = None;
        loop {
            let page = bank.list(cursor.as_ref(), limit).await?;
            ensure!(page.entries.len() <= limit, "a page of {} entries for a limit of {limit}", page.entries.len());
            seen.extend(page.entries.into_iter().map(|entry| entry.item));
            cursor = after(cursor.as_ref(), page.next)?;
            // Entries that change during the listing may be shown or not. Unchanged entries are shown once.
            if seen.len() < 10 * limit {
                bank.add(&[Item::new(format!("later-{}-{limit}", seen.len()))?]).await?;
            }
            if cursor.is_none() {
                break;
            }
        }
        for item in items(250)? {
            let times = seen.iter().filter(|shown| **shown == item).count();
            ensure_eq!(times, 1, "how often an unchanged item is listed with a limit of {limit}");
        }
    }
    Ok(())
}

/// A restore frees no held or spent item, even if the claim that spent the item is retired.
pub(super) async fn restoring_frees_nothing_in_use(world: &World) -> Verdict {
    let bank = world.filled(3).await?;
    let (ada, bob, gone) = (ClaimId::new("ada")?, ClaimId::new("bob")?, ClaimId::new("gone")?);
    let held = take_new(&bank, &ada, Hold::Forever).await?;
    let mut spent = vec![];
    for claim in [&bob, &gone] {
        spent.push(take_new(&bank, claim, Hold::Forever).await?);
        let _ = bank.confirm(claim).await?;
    }
    let _ = bank.retire(&gone).await?;
    let report = bank.restore(&items(3)?).await?;
    ensure_eq!((report.restored, report.not_withdrawn), (0, 3), "what is restored of a held item and two spent ones");
    let report = bank.withdraw(&items(3)?).await?;
    ensure_eq!((report.withdrawn, report.in_use), (0, 3), "what is withdrawn of them");
    ensure_eq!(bank.add(&items(3)?).await?.added, 0, "what is added of them");
    ensure_eq!(bank.holder(&held).await?, ItemState::Held(ada), "the held item after that");
    ensure_eq!(bank.holder(&spent[0]).await?, ItemState::Spent(Some(bob)), "the spent item after that");
    ensure_eq!(bank.holder(&spent[1]).await?, ItemState::Spent(None), "the item that a retired claim spent");
    ensure_eq!(bank.take(&ClaimId::new("eve")?, Hold::Forever).await?, Taken::Empty, "another claim");
    Ok(())
}

pub(super) async fn withdrawn_items_are_not_taken(world: &World) -> Verdict {
    let bank = world.filled(3).await?;
    let ada = ClaimId::new("ada")?;
    take_new(&bank, &ada, Hold::Forever).await?;
    let report = bank.withdraw(&[items(3)?, vec![Item::new("stranger")?]].concat()).await?;
    ensure_eq!((report.withdrawn, report.in_use, report.unknown), (2, 1, 1), "what is withdrawn");
    ensure_eq!(bank.withdraw(&items(3)?).await?.already_withdrawn, 2, "what is withdrawn again");
    ensure_eq!(bank.take(&ClaimId::new("bob")?, Hold::Forever).await?, Taken::Empty, "a take when all is withdrawn");
    let report = bank.restore(&items(3)?).await?;
    ensure_eq!((report.restored, report.not_withdrawn), (2, 1), "what is restored");
    for name in ["bob", "eve"] {
        take_new(&bank, &ClaimId::new(name)?, Hold::Forever).await?;
    }
    ensure_eq!(bank.take(&ClaimId::new("kim")?, Hold::Forever).await?, Taken::Empty, "a take after all were taken");
    Ok(())
}

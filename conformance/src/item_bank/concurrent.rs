//! Many concurrent takers.

use std::collections::BTreeSet;
use std::sync::Arc;

use storagebox_core::{Added, Backend, ClaimId, Hold, Item, ItemBank, ItemState, Taken};

use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::race::{SIZES, answered, race};
use crate::world::{World, items};

async fn race_takers(bank: &Arc<dyn ItemBank>, claims: Vec<ClaimId>) -> Result<Vec<Taken>, Failure> {
    let claims = Arc::new(claims);
    race(claims.len(), |number| {
        let (bank, claims) = (Arc::clone(bank), Arc::clone(&claims));
        async move { answered(|| bank.take(&claims[number], Hold::Forever)).await }
    })
    .await
}

fn claims(round: usize, count: usize) -> Result<Vec<ClaimId>, Failure> {
    (0..count).map(|number| Ok(ClaimId::new(format!("{round}/{number}"))?)).collect()
}

fn new_items(taken: &[Taken]) -> Vec<&Item> {
    taken.iter().filter(|taken| matches!(taken, Taken::New(_))).filter_map(Taken::item).collect()
}

pub(super) async fn racing_takers_get_different_items(world: &World) -> Verdict {
    for round in 0..world.profile().rounds {
        for size in SIZES {
            let bank = world.store().item_bank(&format!("bank-{round}-{size}").parse()?)?;
            bank.add(&items(size / 2)?).await?;
            let taken = race_takers(&bank, claims(round, size)?).await?;
            let handed_out = new_items(&taken);
            let distinct: BTreeSet<_> = handed_out.iter().collect();
            ensure_eq!(distinct.len(), handed_out.len(), "distinct items of {size} takers");
            ensure_eq!(handed_out.len(), size / 2, "items handed out to {size} takers of {}", size / 2);
        }
    }
    Ok(())
}

pub(super) async fn one_item_left_has_one_winner(world: &World) -> Verdict {
    for round in 0..world.profile().rounds * 4 {
        let bank = world.store().item_bank(&format!("bank-{round}").parse()?)?;
        bank.add(&items(1)?).await?;
        let claims = claims(round, 16)?;
        let taken = race_takers(&bank, claims.clone()).await?;
        ensure_eq!(new_items(&taken).len(), 1, "winners of the last item in round {round}");
        let winner = taken.iter().position(|taken| matches!(taken, Taken::New(_))).map(|number| &claims[number]);
        let holder = bank.holder(&items(1)?[0]).await?;
        ensure_eq!(Some(holder), winner.map(|winner| ItemState::Held(winner.clone())), "its holder");
    }
    Ok(())
}

pub(super) async fn racing_calls_of_one_claim_share_one_item(world: &World) -> Verdict {
    for round in 0..world.profile().rounds {
        for size in SIZES {
            let bank = world.store().item_bank(&format!("bank-{round}-{size}").parse()?)?;
            bank.add(&items(size)?).await?;
            let taken = race_takers(&bank, vec![ClaimId::new("ada")?; size]).await?;
            let distinct: BTreeSet<_> = taken.iter().filter_map(Taken::item).collect();
            ensure_eq!(distinct.len(), 1, "distinct items of one claim in {size} calls");
            ensure_eq!(new_items(&taken).len(), 1, "calls that were answered New");
            ensure!(taken.iter().all(|taken| taken.item().is_some()), "a call of the claim got no item: {taken:?}");
            ensure_eq!(bank.counts().await?.held, 1, "items held by one claim");
        }
    }
    Ok(())
}

/// If the bank always has more items than the callers hold, no take returns `Empty`.
pub(super) async fn plenty_of_items_is_never_empty(world: &World) -> Verdict {
    for round in 0..world.profile().rounds {
        let bank = world.store().item_bank(&format!("bank-{round}").parse()?)?;
        bank.add(&items(24 + 3)?).await?;
        let churned = race(24, |number| {
            let bank = Arc::clone(&bank);
            async move { take_and_release(&*bank, number).await }
        })
        .await?;
        ensure_eq!(churned.len(), 24, "takers that were served");
    }
    Ok(())
}

async fn take_and_release(bank: &dyn ItemBank, number: usize) -> Verdict {
    for turn in 0..8 {
        let claim = ClaimId::new(format!("{number}/{turn}"))?;
        let taken = answered(|| bank.take(&claim, Hold::Forever)).await?;
        ensure_matches!(taken, Taken::New(_), "a take while items stay free");
        let _ = answered(|| bank.release(&claim)).await?;
    }
    Ok(())
}

pub(super) async fn racing_loads_add_each_item_once(world: &World) -> Verdict {
    for round in 0..world.profile().rounds {
        let bank = world.store().item_bank(&format!("bank-{round}").parse()?)?;
        let reports = race(8, |_| {
            let bank = Arc::clone(&bank);
            async move {
                let load = items(60)?;
                answered(|| bank.add(&load)).await
            }
        })
        .await?;
        let added: u64 = reports.iter().map(|report| report.added).sum();
        ensure_eq!(added, 60, "items that the loads report as added");
        let known = |report: &Added| report.added + report.already_present == 60;
        ensure!(reports.iter().all(known), "the reports of a load of 60 items have other numbers: {reports:?}");
        ensure_eq!(bank.counts().await?.free, 60, "free items after all loads");
    }
    Ok(())
}

pub(super) async fn all_takers_are_served_while_items_last(world: &World) -> Verdict {
    for size in SIZES {
        let bank = world.store().item_bank(&format!("bank-{size}").parse()?)?;
        bank.add(&items(size)?).await?;
        let taken = race_takers(&bank, claims(0, size)?).await?;
        ensure_eq!(new_items(&taken).len(), size, "takers that were served out of {size} items");
    }
    Ok(())
}

/// Callers take, confirm and release items. After each race, the audit and the counts show every item exactly once.
pub(super) async fn every_item_is_somewhere_at_every_moment(world: &World) -> Verdict {
    let bank = world.filled(30).await?;
    let mut rng = world.rng();
    for round in 0..world.profile().rounds {
        let chance: Vec<u8> = std::iter::repeat_with(|| rng.u8(..3)).take(24).collect();
        race(24, |number| {
            let (bank, choice) = (Arc::clone(&bank), chance[number]);
            async move { take_and_end(&*bank, &format!("{round}/{number}"), choice).await }
        })
        .await?;
        let audited = world.audit().await?;
        let distinct: BTreeSet<_> = audited.iter().map(|entry| &entry.item).collect();
        ensure_eq!((audited.len(), distinct.len()), (30, 30), "items of the audit, and distinct ones");
        ensure_eq!(bank.counts().await?.total(), 30, "items of the counts");
        bank.add(&items(30)?).await?;
    }
    Ok(())
}

async fn take_and_end(bank: &dyn ItemBank, claim: &str, choice: u8) -> Verdict {
    let claim = ClaimId::new(claim)?;
    if answered(|| bank.take(&claim, Hold::Forever)).await? == Taken::Empty {
        return Ok(());
    }
    match choice {
        0 => answered(|| bank.confirm(&claim)).await.map(|_| ()),
        1 => answered(|| bank.release(&claim)).await.map(|_| ()),
        _ => Ok(()),
    }
}

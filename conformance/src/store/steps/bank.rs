//! The item bank's calls, each in a separate bank with one item.

use std::sync::Arc;

use storagebox_core::{Backend, ClaimId, ClaimState, End, Hold, HoldState, Item, ItemBank, ItemState, Result};

use super::LONG;
use crate::failure::{Failure, Verdict};

pub(super) const CALLS: &[&str] = &["add", "take", "extend", "confirm", "release", "retire", "withdraw", "restore"];

fn bank_of(store: &dyn Backend, call: &str) -> Result<Arc<dyn ItemBank>> {
    store.item_bank(&format!("step-{call}").parse()?)
}

fn item() -> Result<[Item; 1]> {
    Ok([Item::new("item")?])
}

fn claim() -> Result<ClaimId> {
    ClaimId::new("claim")
}

pub(super) async fn prepare(store: &dyn Backend, call: &str) -> Verdict {
    let bank = bank_of(store, call)?;
    if call != "add" {
        bank.add(&item()?).await?;
    }
    if ["extend", "confirm", "release", "retire"].contains(&call) {
        let _ = bank.take(&claim()?, Hold::For(LONG)).await?;
    }
    match call {
        "retire" => drop(bank.release(&claim()?).await?),
        "restore" => drop(bank.withdraw(&item()?).await?),
        _ => {}
    }
    Ok(())
}

pub(super) async fn make(store: &dyn Backend, call: &str) -> Verdict {
    let (bank, claim, item) = (bank_of(store, call)?, claim()?, item()?);
    match call {
        "add" => drop(bank.add(&item).await?),
        "take" => drop(bank.take(&claim, Hold::Forever).await?),
        "extend" => drop(bank.extend(&claim, Hold::Forever).await?),
        "confirm" => drop(bank.confirm(&claim).await?),
        "release" => drop(bank.release(&claim).await?),
        "retire" => drop(bank.retire(&claim).await?),
        "withdraw" => drop(bank.withdraw(&item).await?),
        _ => drop(bank.restore(&item).await?),
    }
    Ok(())
}

pub(super) async fn is_made(store: &dyn Backend, call: &str) -> Result<bool, Failure> {
    let (bank, claim) = (bank_of(store, call)?, claim()?);
    let (item, state) = (bank.holder(&item()?[0]).await?, bank.get(&claim).await?);
    Ok(match call {
        "add" | "restore" => item == ItemState::Free,
        "take" => item == ItemState::Held(claim),
        "extend" => matches!(state, ClaimState::Held(held) if held.hold == HoldState::Forever),
        "confirm" => matches!(item, ItemState::Spent(_)),
        "release" => item == ItemState::Free && state == ClaimState::Ended(End::Released),
        "retire" => state == ClaimState::Unknown,
        _ => item == ItemState::Withdrawn,
    })
}

//! Banks.

use std::ops::Range;
use std::time::Duration;

use storagebox_core::{Backend, ClaimId, Hold, Item, ItemBank as _, Result};

use super::{Call, call};
use crate::checks::HOUR;

/// The ids of the claims, one claim per state.
const CLAIMS: [&str; 7] = ["HELD", "TIMED", "LAPSED", "CONFIRMED", "RELEASED", "RETIRED", "NEW"];

/// How long the claim `LAPSED` holds its item.
pub const LAPSES: Duration = Duration::from_secs(60);

fn items(range: Range<usize>) -> Result<Vec<Item>> {
    range.map(|number| Item::new(format!("ITEM-{number}"))).collect()
}

/// Creates claims and items in every state, except that the hold of `LAPSED` has not lapsed yet.
pub async fn fill(store: &dyn Backend, name: &str) -> Result<()> {
    let bank = store.item_bank(&name.parse()?)?;
    bank.add(&items(0..12)?).await?;
    // In a store that keeps free items in a queue, the first take removes these two items from the queue.
    bank.withdraw(&items(0..2)?).await?;
    let _ = bank.take(&ClaimId::new("HELD")?, Hold::Forever).await?;
    for claim in ["CONFIRMED", "RELEASED", "RETIRED", "TIMED"] {
        let _ = bank.take(&ClaimId::new(claim)?, Hold::For(HOUR)).await?;
    }
    let _ = bank.take(&ClaimId::new("LAPSED")?, Hold::For(LAPSES)).await?;
    for claim in ["CONFIRMED", "RETIRED"] {
        let _ = bank.confirm(&ClaimId::new(claim)?).await?;
    }
    let _ = bank.release(&ClaimId::new("RELEASED")?).await?;
    let _ = bank.retire(&ClaimId::new("RETIRED")?).await?;
    bank.withdraw(&items(11..12)?).await.map(drop)
}

/// Returns every call, for each claim and each item.
pub fn calls(store: &dyn Backend, name: &str) -> Result<Vec<Call>> {
    let bank = store.item_bank(&name.parse()?)?;
    let mut calls = vec![call!("counts", [bank], bank.counts()), call!("list", [bank], bank.list(None, 100))];
    for claim in CLAIMS {
        let id = ClaimId::new(claim)?;
        calls.extend([
            call!(format!("take {claim}"), [bank, id], bank.take(&id, Hold::Forever)),
            call!(format!("take {claim} for a while"), [bank, id], bank.take(&id, Hold::For(HOUR))),
            call!(format!("extend {claim}"), [bank, id], bank.extend(&id, Hold::For(2 * HOUR))),
            call!(format!("extend {claim} for ever"), [bank, id], bank.extend(&id, Hold::Forever)),
            call!(format!("confirm {claim}"), [bank, id], bank.confirm(&id)),
            call!(format!("release {claim}"), [bank, id], bank.release(&id)),
            call!(format!("get {claim}"), [bank, id], bank.get(&id)),
            call!(format!("retire {claim}"), [bank, id], bank.retire(&id)),
        ]);
    }
    for item in items(0..13)? {
        let items = vec![item.clone()];
        calls.extend([
            call!(format!("holder {item:?}"), [bank, item], bank.holder(&item)),
            call!(format!("withdraw {item:?}"), [bank, items], bank.withdraw(&items)),
            call!(format!("restore {item:?}"), [bank, items], bank.restore(&items)),
        ]);
    }
    let all = items(0..13)?;
    calls.extend([
        call!("add", [bank, all], bank.add(&all)),
        call!("withdraw", [bank, all], bank.withdraw(&all)),
        call!("restore", [bank, all], bank.restore(&all)),
    ]);
    Ok(calls)
}

//! Banks.

use std::time::Duration;

use storagebox_core::{Backend, ClaimId, Hold, Item, Result};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::checks::corruption::{Call, Filling, call};

use super::Part;
use crate::support::Place;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);

pub(super) const PART: Part = Part {
    rows: "bank",
    fill,
    calls,
    unnoticed: &[
        ("claims", "g", &["none"]),
        ("claims", "t", &["empty", "unknown"]),
        ("claims", "u", &["none"]),
        ("items", "t", &["a number", "empty", "none", "unknown"]),
    ],
};

/// Claims in every state, in the order of their takes.
const CLAIMS: [&str; 6] = ["HELD", "TIMED", "LAPSED", "CONFIRMED", "RELEASED", "RETIRED"];

fn items(range: std::ops::Range<usize>) -> Result<Vec<Item>> {
    range.map(|number| Item::new(format!("ITEM-{number}"))).collect()
}

fn fill<'a>(place: &'a Place, store: &'a DynamoStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        let bank = store.item_bank(&name.parse()?)?;
        for claim in CLAIMS {
            let (id, number) = (ClaimId::new(claim)?, CLAIMS.iter().position(|other| *other == claim).unwrap_or(0));
            let hold = match claim {
                "HELD" => Hold::Forever,
                "LAPSED" => Hold::For(MINUTE),
                _ => Hold::For(HOUR),
            };
            // One item at a time, so that each claim gets the item of its number.
            bank.add(&items(number..number + 1)?).await?;
            let _ = bank.take(&id, hold).await?;
            match claim {
                "CONFIRMED" => drop(bank.confirm(&id).await?),
                "RELEASED" => {
                    let _ = bank.release(&id).await?;
                    bank.withdraw(&items(number..number + 1)?).await?;
                }
                "RETIRED" => {
                    let _ = bank.confirm(&id).await?;
                    let _ = bank.retire(&id).await?;
                }
                _ => {}
            }
        }
        bank.add(&items(6..8)?).await?;
        place.clock.advance(2 * MINUTE);
        Ok(())
    })
}

fn calls(store: &dyn Backend, name: &str) -> Result<Vec<Call>> {
    let bank = store.item_bank(&name.parse()?)?;
    let mut calls = vec![call!("list", [bank], bank.list(None, 100))];
    for (number, claim) in CLAIMS.into_iter().enumerate() {
        let (id, about) = (ClaimId::new(claim)?, format!("by {claim} of ITEM-{number}"));
        calls.extend([
            call!(format!("take {about}"), [bank, id], bank.take(&id, Hold::For(HOUR))),
            call!(format!("extend {about}"), [bank, id], bank.extend(&id, Hold::For(2 * HOUR))),
            call!(format!("confirm {about}"), [bank, id], bank.confirm(&id)),
            call!(format!("release {about}"), [bank, id], bank.release(&id)),
            call!(format!("get {about}"), [bank, id], bank.get(&id)),
            call!(format!("retire {about}"), [bank, id], bank.retire(&id)),
        ]);
    }
    for (number, item) in items(0..8)?.into_iter().enumerate() {
        let about = format!("by {} of ITEM-{number}", CLAIMS.get(number).unwrap_or(&"nobody"));
        let items = vec![item.clone()];
        calls.extend([
            call!(format!("holder {about}"), [bank, item], bank.holder(&item)),
            call!(format!("withdraw {about}"), [bank, items], bank.withdraw(&items)),
            call!(format!("restore {about}"), [bank, items], bank.restore(&items)),
            call!(format!("add {about}"), [bank, items], bank.add(&items)),
        ]);
    }
    Ok(calls)
}

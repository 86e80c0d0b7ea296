//! Banks.

use std::time::Duration;

use storagebox_core::{Backend, BankAdmin as _, ClaimId, Hold, Item, ItemBank as _, Result};
use storagebox_redis::RedisStore;
use storagebox_testkit::checks::corruption::{Call, Filling, Unnoticed, call};

use super::{Part, stands_damage};
use crate::support::Place;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);

/// Claims in every state.
const CLAIMS: [&str; 7] = ["HELD", "TIMED", "LAPSED", "CONFIRMED", "RELEASED", "RETIRED", "NEW"];

/// Counts that begin at 0, claims that are forgotten later, and a hold that nobody is told of when it lapses.
const UNNOTICED: Unnoticed = &[
    ("", "keeps", &["an unknown mark", "empty", "half", "none"]),
    ("", "q", &["none"]),
    ("", "s", &["none"]),
    ("", "w", &["none"]),
    (":e", "first", &["half"]),
    (":t", "", &["no first member"]),
];

/// With free items.
pub(super) const PART: Part = Part { tag: "b.namespace.0", fill, calls, unnoticed: UNNOTICED };

/// Whose next item is that of a hold that has lapsed.
pub(super) const EMPTY: Part = Part { tag: "b.namespace.0", fill: fill_and_empty, calls, unnoticed: UNNOTICED };

#[tokio::test]
async fn a_damaged_bank_is_corrupt_at_once_and_left_as_it_is() -> Result<()> {
    stands_damage(&PART).await
}

#[tokio::test]
async fn a_damaged_bank_without_free_items_is_corrupt_at_once_and_left_as_it_is() -> Result<()> {
    stands_damage(&EMPTY).await
}

fn items(range: std::ops::Range<usize>) -> Result<Vec<Item>> {
    range.map(|number| Item::new(format!("ITEM-{number}"))).collect()
}

fn fill<'a>(place: &'a Place, store: &'a RedisStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        let bank = store.item_bank(&name.parse()?)?;
        bank.add(&items(0..12)?).await?;
        // The first take passes over these two, which leaves the queue then.
        bank.withdraw(&items(0..2)?).await?;
        let _ = bank.take(&ClaimId::new("HELD")?, Hold::Forever).await?;
        for claim in ["CONFIRMED", "RELEASED", "RETIRED", "TIMED"] {
            let _ = bank.take(&ClaimId::new(claim)?, Hold::For(HOUR)).await?;
        }
        let _ = bank.take(&ClaimId::new("LAPSED")?, Hold::For(MINUTE)).await?;
        for claim in ["CONFIRMED", "RETIRED"] {
            let _ = bank.confirm(&ClaimId::new(claim)?).await?;
        }
        let _ = bank.release(&ClaimId::new("RELEASED")?).await?;
        let _ = bank.retire(&ClaimId::new("RETIRED")?).await?;
        bank.withdraw(&items(11..12)?).await?;
        place.moved.advance(2 * MINUTE);
        Ok(())
    })
}

fn fill_and_empty<'a>(place: &'a Place, store: &'a RedisStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        fill(place, store, name).await?;
        let bank = store.item_bank(&name.parse()?)?;
        let free = bank.counts().await?.free;
        // All but the one of the lapsed hold.
        for number in 1..free {
            let _ = bank.take(&ClaimId::new(format!("OTHER-{number}"))?, Hold::Forever).await?;
        }
        Ok(())
    })
}

fn calls(store: &dyn Backend, name: &str) -> Result<Vec<Call>> {
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

//! Banks.

use storagebox_core::{Backend as _, ClaimId, Hold, ItemBank as _, Result};
use storagebox_redis::RedisStore;
use storagebox_testkit::checks::corruption::{Filling, Unnoticed, bank};

use super::{Part, stands_damage};
use crate::support::Place;

/// Damage to a bank that no call notices: missing counts, which count as 0, claims that are forgotten later, and a hold
/// that does not lapse.
const UNNOTICED: Unnoticed = &[
    ("", "keeps", &["an unknown mark", "empty", "half", "none"]),
    ("", "q", &["none"]),
    ("", "s", &["none"]),
    ("", "w", &["none"]),
    (":e", "first", &["half"]),
    (":t", "", &["no first member"]),
    ("", "sound", &["an unknown mark", "empty", "half", "none"]),
];

/// A bank with free items.
pub(super) const PART: Part = Part { tag: "b.namespace.0", fill, calls: bank::calls, unnoticed: UNNOTICED };

/// A bank without free items, in which the hold of one item has lapsed.
pub(super) const EMPTY: Part =
    Part { tag: "b.namespace.0", fill: fill_and_empty, calls: bank::calls, unnoticed: UNNOTICED };

#[tokio::test]
async fn a_damaged_bank_is_corrupt_and_unchanged() -> Result<()> {
    stands_damage(&PART).await
}

#[tokio::test]
async fn a_damaged_bank_without_free_items_is_corrupt_and_unchanged() -> Result<()> {
    stands_damage(&EMPTY).await
}

fn fill<'a>(place: &'a Place, store: &'a RedisStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        bank::fill(store, name).await?;
        place.moved.advance(2 * bank::LAPSES);
        Ok(())
    })
}

fn fill_and_empty<'a>(place: &'a Place, store: &'a RedisStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        fill(place, store, name).await?;
        let bank = store.item_bank(&name.parse()?)?;
        let free = bank.counts().await?.free;
        // Takes all items except the item of the lapsed hold.
        for number in 1..free {
            let _ = bank.take(&ClaimId::new(format!("OTHER-{number}"))?, Hold::Forever).await?;
        }
        Ok(())
    })
}

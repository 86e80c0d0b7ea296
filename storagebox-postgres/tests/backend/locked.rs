//! Rows that another transaction has locked: a take neither waits for them nor treats them as gone.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Backend, Certainty, ClaimId, ClaimState, End, ErrorKind, Hold, Item, ItemBank, Result, Taken};

use crate::scene::{session, tell, until, with_database, with_place};
use crate::support::Place;

/// A call timeout that is longer than the time for which a take is retried.
const PATIENCE: Duration = Duration::from_secs(60);

async fn bank(place: &Place, count: usize) -> Result<Arc<dyn ItemBank>> {
    let store = place.builder()?.call_timeout(PATIENCE).connect(&place.url_at(place.database.server()))?;
    let bank = store.item_bank(&"namespace".parse()?)?;
    let items = (0..count).map(|number| Item::new(format!("item-{number}"))).collect::<Result<Vec<_>>>()?;
    bank.add(&items).await?;
    Ok(bank)
}

/// Checks that a take returns `Contention` while another transaction locks the items, and an item afterwards.
async fn is_not_empty(place: &Place, bank: &dyn ItemBank, lock: &str) -> Result<()> {
    let mut other = session(place, &lock.replace("{schema}", &place.schema)).await?;
    let error = bank.take(&ClaimId::new("bob")?, Hold::Forever).await.expect_err("a take that cannot be");
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Contention, Certainty::NotApplied), "{error:?}");
    tell(&mut other, "ROLLBACK").await?;
    let taken = bank.take(&ClaimId::new("bob")?, Hold::Forever).await?;
    assert!(matches!(taken, Taken::New(_)), "{taken:?}");
    Ok(())
}

/// Another transaction locks all items except two. Takes find these two items, wherever the takes begin.
#[test]
fn take_skips_items_locked_by_another_transaction() -> Result<()> {
    with_place(async |place| {
        let bank = bank(place, 32).await?;
        let lock = "SELECT FROM {schema}.free_items WHERE item NOT IN ('item-0', 'item-1') FOR UPDATE";
        let _other = session(place, &lock.replace("{schema}", &place.schema)).await?;
        let mut items = vec![];
        for claim in ["ada", "bob"] {
            match bank.take(&ClaimId::new(claim)?, Hold::Forever).await? {
                Taken::New(held) => items.push(held.item.as_str().to_owned()),
                other => panic!("{claim}: {other:?}"),
            }
        }
        items.sort();
        assert_eq!(items, ["item-0", "item-1"]);
        Ok(())
    })
}

async fn a_free_item_is_not_empty(place: &Place) -> Result<()> {
    let bank = bank(place, 1).await?;
    is_not_empty(place, &*bank, "SELECT FROM {schema}.free_items FOR UPDATE").await
}

async fn a_lapsed_hold_is_not_empty(place: &Place) -> Result<()> {
    let (bank, ada) = (bank(place, 1).await?, ClaimId::new("ada")?);
    let _ = bank.take(&ada, Hold::For(Duration::from_millis(1))).await?;
    let is_over = async || Ok(bank.get(&ada).await? == ClaimState::Ended(End::Expired));
    until("the end of the hold", is_over).await?;
    is_not_empty(place, &*bank, "SELECT FROM {schema}.claims FOR UPDATE").await
}

/// The items are free in one case, and have lapsed holds in the other case. Both cases run concurrently.
#[test]
fn take_of_locked_items_is_contention_not_empty() -> Result<()> {
    with_database(async |database| {
        let (free, lapsed) = (database.place().await?, database.place().await?);
        tokio::try_join!(a_free_item_is_not_empty(&free), a_lapsed_hold_is_not_empty(&lapsed)).map(drop)
    })
}

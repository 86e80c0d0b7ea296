//! Calls that were polled and then not polled again, as when a `select!` borrows a call and runs another arm. Other
//! calls of the process do not wait for them.

use std::future::ready;
use std::pin::{Pin, pin};
use std::time::Duration;

use storagebox_core::{Backend, Change, ClaimId, Counter, Hold, Item, ItemBank, Key, OpId, Result, Strategy};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::dynamodb::faults::Faults;
use tokio::task::yield_now;

use crate::scene::{recorded, with_place};
use crate::support::{Place, failed};

/// The number of calls that are made while another call is not polled.
const OTHERS: usize = 10;

/// The time limit of the test for upkeep, because `maintain` has no timeout.
const PATIENCE: Duration = Duration::from_secs(60);

/// Polls a call until it waits for the answers to `many` requests of this DynamoDB operation, and then stops polling
/// the call.
async fn leave<T>(
    mut call: Pin<&mut impl Future<Output = Result<T>>>,
    faults: &Faults,
    operation: &str,
    many: u64,
) -> Result<()> {
    while faults.requests().get(operation).is_none_or(|sent| *sent < many) {
        tokio::select! {
            biased;
            answer = call.as_mut() => return answer.and(Err(failed("it did not rest"))),
            () = ready(()) => yield_now().await,
        }
    }
    Ok(())
}

/// Returns a store whose calls time out if they wait for the unpolled call.
async fn store(place: &Place) -> Result<(DynamoStore, Faults)> {
    recorded(&place.table, place.builder()).await
}

#[test]
fn an_unpolled_take_blocks_no_other_take() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = store(place).await?;
        let (bank, other) =
            (store.item_bank(&"namespace".parse()?)?, place.store().await?.item_bank(&"namespace".parse()?)?);
        other.add(&crate::support::items(2 * OTHERS)?).await?;
        let (ada, hold) = (ClaimId::new("ada")?, Hold::Forever);
        let mut left = pin!(bank.take(&ada, hold));
        leave(left.as_mut(), &faults, "Query", 1).await?;
        for number in 0..OTHERS {
            let _ = bank.take(&ClaimId::new(format!("{number}"))?, hold).await?;
        }
        left.await.map(drop)
    })
}

#[test]
fn an_unpolled_first_call_of_a_namespace_blocks_no_other_call() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = store(place).await?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        let items = [Item::new("one")?];
        let mut left = pin!(bank.add(&items));
        leave(left.as_mut(), &faults, "PutItem", 1).await?;
        for number in 0..OTHERS {
            bank.get(&ClaimId::new(format!("{number}"))?).await?;
        }
        left.await.map(drop)
    })
}

/// Callers that change the same key by compare-and-set wait for each other, to save requests.
#[test]
fn an_unpolled_change_of_a_counter_blocks_no_other_change() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = store(place).await?;
        let (counter, key) = (store.counter(&"namespace".parse()?, Strategy::Optimistic)?, Key::new("key")?);
        let _ = counter.apply(&key, &Change::new(OpId::new("first")?, 1)).await?;
        faults.reset();
        let change = Change::new(OpId::new("left")?, 1);
        let mut left = pin!(counter.apply(&key, &change));
        leave(left.as_mut(), &faults, "GetItem", 1).await?;
        for number in 0..OTHERS {
            let _ = counter.apply(&key, &Change::new(OpId::new(format!("{number}"))?, 1)).await?;
        }
        let _ = left.await?;
        assert_eq!(counter.value(&key).await?, OTHERS as i64 + 2);
        Ok(())
    })
}

#[test]
fn an_unpolled_upkeep_blocks_no_other_upkeep() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = store(place).await?;
        let _ = store.item_bank(&"namespace".parse()?)?.release(&ClaimId::new("ada")?).await?;
        let mut left = pin!(store.maintain(10));
        leave(left.as_mut(), &faults, "Scan", 1).await?;
        tokio::time::timeout(PATIENCE, store.maintain(10)).await.map_err(failed)??;
        left.await.map(drop)
    })
}

//! Calls that were polled once and then left, as a `select!` leaves a call that it borrows while one of its arms runs.
//! Nobody goes on with them; others of the process do not wait for that.

use std::future::ready;
use std::pin::{Pin, pin};

use storagebox_core::{Backend, ClaimId, ItemBank, Result};
use storagebox_redis::RedisStore;
use storagebox_testkit::redis::Settings;

use crate::scene::with_place;
use crate::support::{Server, failed};

/// How many calls are made while one is left.
const OTHERS: usize = 10;

/// Polls a call once: it has sent something then, and waits for the answer.
async fn leave<T>(call: Pin<&mut impl Future<Output = Result<T>>>) -> Result<()> {
    tokio::select! {
        biased;
        answer = call => answer.and(Err(failed("it did not rest"))),
        () = ready(()) => Ok(()),
    }
}

/// The others end with an error if they wait in vain.
async fn others_are_answered(store: &RedisStore) -> Result<()> {
    let bank = store.item_bank(&"namespace".parse()?)?;
    for number in 0..OTHERS {
        bank.get(&ClaimId::new(format!("{number}"))?).await?;
    }
    Ok(())
}

async fn holds_up_no_other_as_it_connects(store: &RedisStore) -> Result<()> {
    let mut left = pin!(store.ping());
    leave(left.as_mut()).await?;
    others_are_answered(store).await?;
    left.await
}

#[tokio::test]
async fn a_call_that_is_left_connecting_holds_up_no_other() -> Result<()> {
    with_place(async |place| holds_up_no_other_as_it_connects(&place.store()?).await).await
}

#[tokio::test]
async fn a_call_that_is_left_connecting_to_a_master_by_its_sentinels_holds_up_no_other() -> Result<()> {
    let place = Server::sentinels(Settings::quick()).await?.place().await?;
    holds_up_no_other_as_it_connects(&place.store()?).await
}

#[tokio::test]
async fn a_call_that_is_left_connecting_to_a_cluster_holds_up_no_other() -> Result<()> {
    let place = Server::cluster(Settings::quick()).await?.place().await?;
    holds_up_no_other_as_it_connects(&place.store()?).await
}

#[tokio::test]
async fn a_first_call_of_a_namespace_that_is_left_holds_up_no_other() -> Result<()> {
    with_place(async |place| {
        let store = place.store()?;
        store.ping().await?;
        let (bank, ada) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
        let mut left = pin!(bank.get(&ada));
        leave(left.as_mut()).await?;
        others_are_answered(&store).await?;
        left.await.map(drop)
    })
    .await
}

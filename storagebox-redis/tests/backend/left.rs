//! Calls that were polled once and then not polled again, as when a `select!` borrows a call and runs another arm.
//! Other calls of the process do not wait for them.

use std::future::ready;
use std::pin::{Pin, pin};

use storagebox_core::{Backend, ClaimId, ItemBank, Result};
use storagebox_redis::RedisStore;
use storagebox_testkit::redis::Settings;

use crate::scene::with_place;
use crate::support::{Server, failed};

const OTHERS: usize = 10;

/// Polls a call once. The call then waits for the server.
async fn leave<T>(call: Pin<&mut impl Future<Output = Result<T>>>) -> Result<()> {
    tokio::select! {
        biased;
        answer = call => answer.and(Err(failed("it did not rest"))),
        () = ready(()) => Ok(()),
    }
}

/// Makes calls while an unpolled call exists, and checks that they are answered before their timeout.
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

#[test]
fn an_unpolled_call_that_is_connecting_blocks_no_other_call() -> Result<()> {
    with_place(async |place| holds_up_no_other_as_it_connects(&place.store()?).await)
}

#[tokio::test]
async fn an_unpolled_call_connecting_by_sentinel_blocks_no_other_call() -> Result<()> {
    let place = Server::sentinels(Settings::quick()).await?.place().await?;
    holds_up_no_other_as_it_connects(&place.store()?).await
}

#[tokio::test]
async fn an_unpolled_call_connecting_to_a_cluster_blocks_no_other_call() -> Result<()> {
    let place = Server::cluster(Settings::quick()).await?.place().await?;
    holds_up_no_other_as_it_connects(&place.store()?).await
}

#[test]
fn an_unpolled_first_call_of_a_namespace_blocks_no_other_call() -> Result<()> {
    with_place(async |place| {
        let store = place.store()?;
        store.ping().await?;
        let (bank, ada) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
        let mut left = pin!(bank.get(&ada));
        leave(left.as_mut()).await?;
        others_are_answered(&store).await?;
        left.await.map(drop)
    })
}

//! A slot of a cluster that moves to another node.

use std::time::Duration;

use storagebox_core::{Backend, Certainty, Error, ErrorKind, Hold, Item, ItemBank, Result, Taken};
use storagebox_redis::RedisStore;
use storagebox_testkit::redis::Settings;

use crate::support::{Resharding, Server};

const ITEMS: u64 = 100;

/// A script that writes while its slot moves to another node could end half done.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_in_a_moving_slot_stops_before_its_first_write() -> Result<()> {
    let place = Server::cluster(Settings::quick()).await?.place().await?;
    // A long timeout, because a call that ran out of time on a busy machine would be unknown.
    let patient = place.builder()?.call_timeout(Duration::from_secs(60)).connect(&place.server.url())?;
    let bank = patient.item_bank(&"namespace".parse()?)?;
    let items = (0..ITEMS).map(|number| Item::new(format!("{number}"))).collect::<Result<Vec<_>>>()?;
    bank.add(&items).await?;
    let mut moving = Resharding::begin(&place, "b.namespace.0").await?;
    is_stopped(bank.withdraw(&items).await.map(drop));
    for number in 0..10 {
        moving.move_those(&place, |key| key.contains(":i:") && key.ends_with(&number.to_string())).await?;
        if number == 4 {
            // Each call is retried for some seconds, so they run at the same time.
            let ada = "ada".parse()?;
            let (withdrawn, assigned) = tokio::join!(bank.withdraw(&items), bank.take(&ada, Hold::Forever));
            is_stopped(withdrawn.map(drop));
            is_stopped(assigned.map(drop));
        }
    }
    moving.finish(&place).await?;
    assert_eq!(bank.withdraw(&items).await?.withdrawn, ITEMS);
    assert_eq!(bank.restore(&items).await?.restored, ITEMS);
    assert_eq!((bank.counts().await?.free, bank.counts().await?.total()), (ITEMS, ITEMS));
    drain(&*bank).await
}

fn is_stopped(outcome: Result<()>) {
    let error: Error = outcome.expect_err("the slot is being moved");
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Contention, Certainty::NotApplied), "{error}");
    assert!(error.to_string().contains("is being moved"), "{error}");
}

/// Takes all items, and checks that each item comes once.
async fn drain(bank: &dyn ItemBank) -> Result<()> {
    for number in 0..ITEMS {
        assert!(
            matches!(bank.take(&format!("claim-{number}").parse()?, Hold::Forever).await?, Taken::New(_)),
            "{number}"
        );
    }
    assert_eq!(bank.take(&"one more".parse()?, Hold::Forever).await?, Taken::Empty);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_of_one_cluster_node_is_unsupported() -> Result<()> {
    let server = Server::cluster(Settings::quick()).await?;
    let url = server.url_at(server.nodes()[0].address());
    let error = RedisStore::connect(&url)?.ping().await.unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unsupported, Certainty::NotApplied));
    assert!(error.to_string().contains("redis+cluster://"), "{error}");
    Ok(())
}

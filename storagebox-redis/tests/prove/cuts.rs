//! Replies that are lost after the server has made the change. The retry of the backend finds the change made.

use std::sync::Arc;

use storagebox_conformance::Proxy;
use storagebox_core::{
    Backend, Change, ClaimId, Counter, DedupRepo, Hold, ItemBank, OpId, OrderedOptions, OrderedStore, Result,
    Retention, Stamp, Strategy, TokenId, TokenStore,
};
use storagebox_testkit::checks::cuts::{CUTS, Far};
use storagebox_testkit::redis::Settings;

use crate::scene::with_place;
use crate::support::{Place, Server, failed};

async fn of_one(place: &Place) -> Result<Far> {
    let proxy = Proxy::start(place.server.address()).await.map_err(failed)?;
    let store = place.builder()?.connect(&place.server.url_at(proxy.addr()))?;
    Ok(Far::new(proxy, store))
}

async fn of_cluster(place: &Place) -> Result<Far> {
    let (mut proxies, mut builder) = (vec![], place.builder()?);
    for node in place.server.own_cluster().expect("a cluster").nodes() {
        let proxy = Proxy::start(node.address()).await.map_err(failed)?;
        let (said, reached) = (node.address().port(), proxy.addr().port());
        builder = builder.reached_at(("127.0.0.1", said), ("127.0.0.1", reached));
        proxies.push(proxy);
    }
    Ok(Far { proxies, store: Arc::new(builder.connect(&place.server.url())?) })
}

/// Makes the namespace's node learn the scripts.
async fn warm(store: &dyn Backend) -> Result<()> {
    // Otherwise the first answer would only say that the script is unknown.
    let (name, other) = ("cuts".parse()?, "other");
    let _ = store.item_bank(&name)?.take(&ClaimId::new(other)?, Hold::Forever).await?;
    let records = store.dedup_repo(&name)?;
    let _ = records.record(&other.parse()?, &other.try_into()?, &other.parse()?, Retention::Forever).await?;
    let _ = store.token_store(&name)?.consume(&TokenId::new(other)?, &OpId::new(other)?).await?;
    let counters = store.counter(&name, Strategy::default())?;
    let _ = counters.apply(&other.parse()?, &Change::new(other.parse()?, 1)).await?;
    let ordered = store.ordered_store(&name, OrderedOptions::sequence())?;
    ordered.put(&other.parse()?, &other.try_into()?, &Stamp::new(1, other.parse()?)).await.map(drop)
}

#[test]
#[ignore = "it takes minutes: cargo xtask prove redis"]
fn a_retry_after_a_lost_reply_finds_the_call_done() -> Result<()> {
    with_place(async |place| each_is_found_done(&of_one(place).await?, "one node").await)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn a_retry_on_a_cluster_after_a_lost_reply_finds_the_call_done() -> Result<()> {
    let place = Server::cluster(Settings::quick()).await?.place().await?;
    each_is_found_done(&of_cluster(&place).await?, "a cluster of six").await
}

async fn each_is_found_done(far: &Far, on: &str) -> Result<()> {
    far.fill().await?;
    warm(&*far.store).await?;
    for number in 0..CUTS {
        let before = far.cuts();
        assert!(far.call(number).await?, "call {number} was not found done");
        // The second attempt may be cut too, if the driver asks another node first.
        assert!(far.cuts() > before, "call {number} was not cut");
    }
    far.audit(1).await?;
    println!("cuts: {CUTS} replies lost on {on} after the call was done: each found it done, nothing was done twice");
    Ok(())
}

#[test]
#[ignore = "it takes minutes: cargo xtask prove redis"]
fn calls_whose_replies_are_lost_together_are_done_once() -> Result<()> {
    with_place(async |place| of_one(place).await?.lose_together().await)
}

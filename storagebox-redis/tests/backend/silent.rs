//! Nodes that are connected to and never answer, as when their machine has lost its power: they leave each call time for
//! the nodes that answer.

use std::net::TcpListener;
use std::time::Duration;

use storagebox_core::{Backend, Hold, Item, Result, Taken};
use storagebox_redis::RedisStore;
use storagebox_testkit::redis::Settings;

use crate::outside::sentinel_that_names;
use crate::support::{Place, Server, failed};

const CALL_TIMEOUT: Duration = Duration::from_secs(12);

/// A server that never answers: the system accepts its connections, and the program does not read them.
fn silent() -> Result<TcpListener> {
    TcpListener::bind("127.0.0.1:0").map_err(failed)
}

/// Opens the place's store at nodes of which one is silent.
fn opened(place: &Place, url: &str) -> Result<RedisStore> {
    place.builder()?.call_timeout(CALL_TIMEOUT).connect(url)
}

/// Makes calls of a new store. The first call opens both connections of the store.
async fn calls_are_answered(store: &RedisStore) -> Result<()> {
    let bank = store.item_bank(&"namespace".parse()?)?;
    bank.add(&[Item::new("one")?]).await?;
    store.ping().await?;
    let taken = bank.take(&"ada".parse()?, Hold::Forever).await?;
    assert!(matches!(taken, Taken::New(_)), "{taken:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_node_in_a_cluster_url_fails_no_call() -> Result<()> {
    let place = Server::cluster(Settings::quick()).await?.place().await?;
    let silent = silent()?;
    let at = silent.local_addr().map_err(failed)?;
    let store = opened(&place, &place.server.url().replacen('@', &format!("@{at},"), 1))?;
    store.ping().await?;
    calls_are_answered(&store).await
}

/// The node is in the URL, and the cluster names it too.
#[tokio::test(flavor = "multi_thread")]
async fn a_silent_replica_of_a_cluster_fails_no_call() -> Result<()> {
    let server = Server::cluster(Settings::quick()).await?;
    let place = server.place().await?;
    let replica = server.nodes().last().ok_or_else(|| failed("a cluster without nodes"))?;
    let _paused = replica.pause().map_err(failed)?;
    calls_are_answered(&opened(&place, &server.url())?).await
}

/// The first sentinel is cut off from the others and names the old master, whose machine is off.
#[tokio::test]
async fn a_sentinel_that_names_a_silent_master_fails_no_call() -> Result<()> {
    let server = Server::sentinels(Settings::quick()).await?;
    let place = server.place().await?;
    let silent = silent()?;
    let stale = sentinel_that_names(silent.local_addr().map_err(failed)?).await?;
    let url = server.url().replacen('@', &format!("@{},", stale.address()), 1);
    calls_are_answered(&opened(&place, &url)?).await
}

//! The losses of Redis that `promises()` describes.

use std::time::Duration;

use redis::cmd;
use storagebox_core::{Backend, ClaimId, ClaimState, ErrorKind, Hold, Item, ItemBank, Result, Taken};
use storagebox_redis::RedisStore;
use storagebox_testkit::redis::Settings;

use crate::support::{Place, Server, failed};

/// Starts a replica of the test's server, and waits until the replica has all of the data.
async fn replica_of(place: &Place) -> Result<std::sync::Arc<Server>> {
    let address = place.server.address();
    let follow = format!("{} {}", address.ip(), address.port());
    let replica = Server::alone(Settings::quick().with("replicaof", follow).with("repl-diskless-sync-delay", "0"));
    let replica = replica.await?;
    crate::scene::until("a replica that follows", async || {
        let info: String = replica.ask(cmd("INFO").arg("replication")).await?;
        Ok(info.contains("master_link_status:up"))
    })
    .await?;
    Ok(replica)
}

fn on(server: &Server, place: &Place, wait: u32) -> Result<RedisStore> {
    on_for(server, place, wait, Duration::from_secs(60))
}

fn on_for(server: &Server, place: &Place, wait: u32, patience: Duration) -> Result<RedisStore> {
    RedisStore::builder().prefix(&place.prefix)?.wait(wait, patience).connect(server.url_as_administrator())
}

/// `wait` asks for two replicas, and the master has one.
#[tokio::test]
async fn a_change_on_one_of_two_required_replicas_is_unknown() -> Result<()> {
    let master = Server::alone(Settings::quick().with("repl-diskless-sync-delay", "0")).await?;
    let place = master.place().await?;
    let _follows = replica_of(&place).await?;
    let content = on(&master, &place, 1)?.item_bank(&"namespace".parse()?)?;
    content.add(&[Item::new("one")?]).await?;
    let demanding = on_for(&master, &place, 2, Duration::from_secs(1))?.item_bank(&"namespace".parse()?)?;
    let error = demanding.add(&[Item::new("two")?]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
    assert!(error.to_string().contains("of 2 replicas"), "{error}");
    let free = content.counts().await?.free;
    assert!((1..=2).contains(&free), "{free} items, whatever became of the second one");
    Ok(())
}

/// `wait` sets how many replicas must have a change, but not which replicas.
#[tokio::test]
async fn a_change_on_one_replica_is_lost_if_another_is_promoted() -> Result<()> {
    let master = Server::alone(Settings::quick().with("repl-diskless-sync-delay", "0")).await?;
    let place = master.place().await?;
    let store = on(&master, &place, 1)?;
    let bank = store.item_bank(&"namespace".parse()?)?;
    let (_follows, stays_behind) = (replica_of(&place).await?, replica_of(&place).await?);
    bank.add(&[Item::new("one")?]).await?;
    let ada = ClaimId::new("ada")?;
    crate::scene::until("the item on both", async || {
        let size: i64 = stays_behind.ask(&cmd("DBSIZE")).await?;
        Ok(size == master.ask::<i64>(&cmd("DBSIZE")).await?)
    })
    .await?;
    stays_behind.ask::<()>(cmd("REPLICAOF").arg("NO").arg("ONE")).await?;
    let taken = bank.take(&ada, Hold::Forever).await?;
    assert!(matches!(taken, Taken::New(_)), "{taken:?}");
    let promoted = on(&stays_behind, &place, 0)?.item_bank(&"namespace".parse()?)?;
    assert_eq!(promoted.get(&ada).await?, ClaimState::Unknown);
    assert_eq!(promoted.take(&"bob".parse()?, Hold::Forever).await?.item(), taken.item());
    let promises = store.promises();
    let failover = promises.entries.iter().find(|promise| promise.about == "failover");
    let failover = failover.ok_or_else(|| failed("nothing is promised about a failover"))?;
    assert!(failover.statement.contains("if another replica is promoted, they are lost"), "{failover:?}");
    Ok(())
}

/// The replaced master is cut off from its replica and its sentinels.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_a_replaced_master_finds_the_new_master() -> Result<()> {
    let settings = Settings::quick().with_failover_after(Duration::from_secs(1));
    let place = Server::sentinels(settings).await?.place().await?;
    let replicated = place.builder()?.wait(1, Duration::from_secs(60)).connect(&place.server.url())?;
    replicated.item_bank(&"namespace".parse()?)?.add(&[Item::new("one")?]).await?;
    let bank = place.store()?.item_bank(&"namespace".parse()?)?;
    bank.counts().await?;
    let mut master = place.server.node(0).await?;
    let mut cut = redis::pipe();
    cut.cmd("CONFIG").arg(&["SET", "min-replicas-to-write", "9"]);
    cut.cmd("ACL").arg(&["SETUSER", "default", "-ping", "-replicaof", "-slaveof"]);
    cut.exec_async(&mut master).await.map_err(failed)?;
    crate::scene::until("a successor, to those that begin now", async || {
        Ok(place.store()?.item_bank(&"namespace".parse()?)?.counts().await.is_ok())
    })
    .await?;
    // The first call discovers that the master has no replicas.
    let refused = bank.take(&"ada".parse().unwrap(), Hold::Forever).await.unwrap_err();
    assert!(format!("{refused:?}").contains("NOREPLICAS"), "{refused:?}");
    let taken = bank.take(&"ada".parse()?, Hold::Forever).await?;
    assert!(matches!(taken, Taken::New(_)), "{taken:?}");
    Ok(())
}

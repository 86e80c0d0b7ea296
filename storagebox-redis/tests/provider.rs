//! The store changes no global state of the process. This is a program of its own, because each process has one default
//! TLS provider.
#![allow(clippy::disallowed_methods, reason = "a test may fail and wait where a library must not")]

use std::fs;

use redis::{Client, TlsCertificates};
use rustls::crypto::{CryptoProvider, ring};
use storagebox_core::{Backend, Certainty, ErrorKind, Result};
use storagebox_redis::RedisStore;
use storagebox_testkit::checks::failed;
use storagebox_testkit::redis::{Redis, Settings};

/// A program can call `install_default().expect()` after it has used a store, with TLS and without.
#[tokio::test]
async fn a_store_does_not_choose_the_ciphers_of_the_process() -> Result<()> {
    let plain = Redis::start(&Settings::quick()).map_err(failed)?;
    let store = RedisStore::connect(&plain.url())?;
    store.setup().await?;
    store.ping().await?;
    let secure = Redis::start(&Settings::quick().with_tls()).map_err(failed)?;
    let store = RedisStore::builder().authority(&authorities(&[&secure])?)?.connect(&secure.url())?;
    store.setup().await?;
    by_a_sentinel(&secure).await?;
    let cluster = Redis::start(&as_a_cluster()).map_err(failed)?;
    let url = cluster.url().replace("rediss://", "rediss+cluster://");
    let of_cluster = RedisStore::builder().authority(&authorities(&[&cluster])?)?.connect(&url)?;
    refuses(&of_cluster).await;
    let with_its_own = || Client::build_with_tls(cluster.url(), certificates(&cluster)?).map_err(failed);
    refuses(&RedisStore::from_client(&with_its_own()?)?).await;
    assert!(CryptoProvider::get_default().is_none(), "the store has chosen for the process");

    ring::default_provider().install_default().expect("the process has its choice");
    store.ping().await?;
    let mut node = with_its_own()?.get_multiplexed_async_connection().await.map_err(failed)?;
    let slots = redis::cmd("CLUSTER").arg("ADDSLOTSRANGE").arg(0).arg(16_383).to_owned();
    slots.exec_async(&mut node).await.map_err(failed)?;
    while redis::cmd("CLUSTER").arg("INFO").query_async::<String>(&mut node).await.map_err(failed)?.contains(DOWN) {}
    of_cluster.setup().await?;
    of_cluster.ping().await
}

/// The state that a cluster node reports while slots are missing.
const DOWN: &str = "cluster_state:fail";

/// Starts a sentinel with TLS that watches a master with TLS.
async fn by_a_sentinel(master: &Redis) -> Result<()> {
    let (address, authority) = (master.address(), master.authority().expect("it has TLS"));
    let watch = Settings::sentinel()
        .with_tls()
        .with("tls-replication", "yes")
        .with("tls-ca-cert-file", format!("\"{}\"", authority.display()))
        .with("sentinel monitor", format!("main {} {} 1", address.ip(), address.port()));
    let sentinel = Redis::start(&watch).map_err(failed)?;
    let url = sentinel.url().replace("rediss://", "rediss+sentinel://");
    let builder = RedisStore::builder().authority(&authorities(&[master, &sentinel])?)?;
    builder.connect(&format!("{url}/main"))?.ping().await
}

/// Returns the settings of a cluster's only node.
fn as_a_cluster() -> Settings {
    let settings = Settings::quick().with_tls();
    settings.with("cluster-enabled", "yes").with("tls-cluster", "yes").with("cluster-announce-ip", "127.0.0.1")
}

async fn refuses(store: &RedisStore) {
    let error = store.ping().await.unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Misconfigured, Certainty::NotApplied), "{error:?}");
    assert!(error.to_string().contains("install_default()"), "{error}");
}

/// Returns the CAs of the servers' certificates, in PEM.
fn authorities(servers: &[&Redis]) -> Result<Vec<u8>> {
    let files = servers.iter().map(|server| fs::read(server.authority().expect("it has TLS")).map_err(failed));
    Ok(files.collect::<Result<Vec<_>>>()?.concat())
}

fn certificates(server: &Redis) -> Result<TlsCertificates> {
    Ok(TlsCertificates { client_tls: None, root_cert: Some(authorities(&[server])?) })
}

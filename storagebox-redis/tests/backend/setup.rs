//! The data that `setup` creates, and its demands on a server.

use std::time::Duration;

use redis::cmd;
use storagebox_core::{Backend, ErrorKind, ItemBank, Result, Retention};
use storagebox_redis::{Eviction, RedisStore};
use storagebox_testkit::checks::{calls, memory};
use storagebox_testkit::redis::Settings;

use crate::scene::{with_place, with_server};
use crate::support::Place;

fn elsewhere(place: &Place) -> Result<RedisStore> {
    let url = place.server.url_at(place.server.address());
    RedisStore::builder().prefix(&format!("{}:elsewhere", place.prefix))?.connect(&url)
}

#[test]
fn a_call_before_setup_fails_and_creates_nothing() -> Result<()> {
    with_place(async |place| {
        let store = elsewhere(place)?;
        assert_eq!(store.ping().await.unwrap_err().kind(), ErrorKind::NotSetUp);
        assert_eq!(store.item_bank(&"namespace".parse()?)?.counts().await.unwrap_err().kind(), ErrorKind::NotSetUp);
        let keys: Vec<String> = place.server.ask(cmd("KEYS").arg(format!("{}:elsewhere*", place.prefix))).await?;
        assert_eq!(keys, [""; 0]);
        store.setup().await?;
        assert_eq!(store.item_bank(&"namespace".parse()?)?.counts().await?.total(), 0);
        Ok(())
    })
}

/// Regression: the write that precedes `WAIT` created the store.
#[test]
fn a_call_with_wait_before_setup_creates_nothing() -> Result<()> {
    with_place(async |place| {
        let (prefix, url) = (format!("{}:elsewhere", place.prefix), place.server.url());
        let waits = RedisStore::builder().prefix(&prefix)?.wait(1, Duration::from_millis(1)).connect(&url)?;
        // No replica has the write; only the keys matter.
        let _ = waits.item_bank(&"namespace".parse()?)?.counts().await.unwrap_err();
        let keys: Vec<String> = place.server.ask(cmd("KEYS").arg(format!("{prefix}*"))).await?;
        assert_eq!(keys, [""; 0]);
        Ok(())
    })
}

#[test]
fn a_store_of_a_newer_library_is_refused_and_unchanged() -> Result<()> {
    with_place(async |place| {
        let key = format!("{}:{{store}}", place.prefix);
        place.server.ask::<()>(cmd("HSET").arg(&key).arg("version").arg(2)).await?;
        let store = place.store()?;
        calls::setup_is_refused(&store, ErrorKind::Unsupported, "a newer storagebox").await;
        assert_eq!(store.item_bank(&"namespace".parse()?)?.counts().await.unwrap_err().kind(), ErrorKind::Unsupported);
        assert_eq!(place.server.ask::<i64>(cmd("HGET").arg(&key).arg("version")).await?, 2);
        Ok(())
    })
}

#[test]
fn a_server_that_evicts_keys_is_refused_without_the_warn_option() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let store = place.store()?;
        store.ping().await?;
        set_policy(place, "allkeys-lru").await?;
        calls::setup_is_refused(&store, ErrorKind::Unsupported, "allkeys-lru").await;
        let url = place.server.url_at(place.server.address());
        let warns = place.builder()?.eviction(Eviction::Warn).connect(&url)?;
        warns.setup().await?;
        warns.ping().await
    })
}

async fn set_policy(place: &Place, policy: &str) -> Result<()> {
    place.server.ask(cmd("CONFIG").arg("SET").arg("maxmemory-policy").arg(policy)).await
}

/// A `volatile-*` policy evicts only keys that expire, and no key of a store expires.
#[test]
fn a_server_that_evicts_only_expiring_keys_is_accepted() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let store = place.store()?;
        for policy in ["volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl", "noeviction"] {
            set_policy(place, policy).await?;
            store.setup().await?;
            store.ping().await?;
        }
        Ok(())
    })
}

/// Regression: upkeep by a client that did not know the store's memory removed fences that the store keeps for ever.
#[test]
fn upkeep_uses_the_stored_memory() -> Result<()> {
    with_place(async |place| {
        let (prefix, url) = (format!("{}:elsewhere", place.prefix), place.server.url());
        let for_ever = place.builder()?.prefix(&prefix)?.remember(Retention::Forever).connect(&url)?;
        for_ever.setup().await?;
        memory::fence_each_kind(&for_ever).await?;
        place.moved.advance(memory::LONG_AGO);
        memory::assert_fenced(&place.builder()?.prefix(&prefix)?.connect(&url)?).await
    })
}

#[test]
fn opening_a_store_with_another_memory_is_refused() -> Result<()> {
    with_place(async |place| {
        let url = place.server.url();
        memory::another_is_refused(|| place.builder()?.remember(Retention::Forever).connect(&url)).await?;
        place.builder()?.remember(Retention::DEFAULT).connect(&url)?.ping().await
    })
}

#[test]
fn a_server_without_a_required_append_only_file_is_refused() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let url = place.server.url_at(place.server.address());
        let store = place.builder()?.require_aof(true).connect(&url)?;
        calls::setup_is_refused(&store, ErrorKind::Unsupported, "appendonly yes").await;
        place.server.ask::<()>(cmd("CONFIG").arg("SET").arg("appendonly").arg("yes")).await?;
        store.setup().await?;
        store.ping().await
    })
}

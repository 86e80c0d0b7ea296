//! What `setup` makes, and what it asks of a server.

use redis::cmd;
use storagebox_core::{ErrorKind, ItemBank, Result, Store, StoreExt};
use storagebox_redis::{Eviction, RedisStore};
use storagebox_testkit::redis::Settings;

use crate::scene::{with_place, with_server};
use crate::support::Place;

fn elsewhere(place: &Place) -> Result<RedisStore> {
    let url = place.server.url_at(place.server.address());
    RedisStore::builder().prefix(&format!("{}:elsewhere", place.prefix))?.connect(&url)
}

#[tokio::test]
async fn a_store_that_was_not_set_up_says_so_and_is_not_begun() -> Result<()> {
    with_place(async |place| {
        let store = elsewhere(place)?;
        assert_eq!(store.ping().await.unwrap_err().kind(), ErrorKind::NotSetUp);
        assert_eq!(store.bank("box")?.counts().await.unwrap_err().kind(), ErrorKind::NotSetUp);
        let keys: Vec<String> =
            place.server.ask(cmd("KEYS").arg(format!("{}:elsewhere*", place.prefix))).await?;
        assert_eq!(keys, [""; 0]);
        store.setup().await?;
        assert_eq!(store.bank("box")?.counts().await?.total(), 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_newer_store_is_refused_and_left_alone() -> Result<()> {
    with_place(async |place| {
        let key = format!("{}:{{store}}", place.prefix);
        place.server.ask::<()>(cmd("HSET").arg(&key).arg("version").arg(2)).await?;
        let store = place.store()?;
        for error in [
            store.setup().await.unwrap_err(),
            store.ping().await.unwrap_err(),
            store.bank("box")?.counts().await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            assert!(error.to_string().contains("a newer storagebox"), "{error}");
        }
        assert_eq!(place.server.ask::<i64>(cmd("HGET").arg(&key).arg("version")).await?, 2);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_server_that_evicts_is_refused_unless_told_to_warn() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        place.server.ask::<()>(cmd("CONFIG").arg("SET").arg("maxmemory-policy").arg("allkeys-lru")).await?;
        let error = place.store()?.setup().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.to_string().contains("allkeys-lru"), "{error}");
        let url = place.server.url_at(place.server.address());
        place.builder()?.eviction(Eviction::Warn).connect(&url)?.setup().await
    })
    .await
}

#[tokio::test]
async fn an_append_only_file_can_be_required() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let url = place.server.url_at(place.server.address());
        let store = place.builder()?.require_aof(true).connect(&url)?;
        for error in [store.setup().await.unwrap_err(), store.ping().await.unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            assert!(error.to_string().contains("appendonly yes"), "{error}");
        }
        place.server.ask::<()>(cmd("CONFIG").arg("SET").arg("appendonly").arg("yes")).await?;
        store.setup().await?;
        store.ping().await
    })
    .await
}

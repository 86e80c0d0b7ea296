//! What `setup` makes, and what it asks of a server.

use std::time::Duration;

use redis::cmd;
use storagebox_core::{
    Backend, Begun, ClaimId, DedupId, End, ErrorKind, Hold, ItemBank, LeaseRepo, OpId, Result, Retention, Taken,
    TokenId, TokenStore,
};
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
        assert_eq!(store.item_bank(&"namespace".parse()?)?.counts().await.unwrap_err().kind(), ErrorKind::NotSetUp);
        let keys: Vec<String> = place.server.ask(cmd("KEYS").arg(format!("{}:elsewhere*", place.prefix))).await?;
        assert_eq!(keys, [""; 0]);
        store.setup().await?;
        assert_eq!(store.item_bank(&"namespace".parse()?)?.counts().await?.total(), 0);
        Ok(())
    })
    .await
}

/// What was written for `WAIT` to look at began it.
#[tokio::test]
async fn a_store_that_was_not_set_up_is_not_begun_by_waiting_for_replicas() -> Result<()> {
    with_place(async |place| {
        let (prefix, url) = (format!("{}:elsewhere", place.prefix), place.server.url());
        let waits = RedisStore::builder().prefix(&prefix)?.wait(1, Duration::from_millis(1)).connect(&url)?;
        // No replica has what was written; it is the keys that count.
        let _ = waits.item_bank(&"namespace".parse()?)?.counts().await.unwrap_err();
        let keys: Vec<String> = place.server.ask(cmd("KEYS").arg(format!("{prefix}*"))).await?;
        assert_eq!(keys, [""; 0]);
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
            store.item_bank(&"namespace".parse()?)?.counts().await.unwrap_err(),
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
        let store = place.store()?;
        store.ping().await?;
        set_policy(place, "allkeys-lru").await?;
        for error in [store.setup().await.unwrap_err(), store.ping().await.unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            assert!(error.to_string().contains("allkeys-lru"), "{error}");
        }
        let url = place.server.url_at(place.server.address());
        let warns = place.builder()?.eviction(Eviction::Warn).connect(&url)?;
        warns.setup().await?;
        warns.ping().await
    })
    .await
}

async fn set_policy(place: &Place, policy: &str) -> Result<()> {
    place.server.ask(cmd("CONFIG").arg("SET").arg("maxmemory-policy").arg(policy)).await
}

/// They evict what expires, which nothing of ours does.
#[tokio::test]
async fn a_server_that_evicts_nothing_of_ours_is_taken() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let store = place.store()?;
        for policy in ["volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl", "noeviction"] {
            set_policy(place, policy).await?;
            store.setup().await?;
            store.ping().await?;
        }
        Ok(())
    })
    .await
}

/// Upkeep by somebody who knows nothing of it removed fences that were to last for ever.
#[tokio::test]
async fn upkeep_goes_by_the_memory_of_the_store() -> Result<()> {
    with_place(async |place| {
        let (prefix, url) = (format!("{}:elsewhere", place.prefix), place.server.url());
        let for_ever = place.builder()?.prefix(&prefix)?.remember(Retention::Forever).connect(&url)?;
        for_ever.setup().await?;
        let (claim, id, op) = (ClaimId::new("ada")?, DedupId::new("id")?, OpId::new("op")?);
        let _ = for_ever.item_bank(&"namespace".parse()?)?.release(&claim).await?;
        for_ever.token_store(&"namespace".parse()?)?.discard(&[TokenId::new("token")?]).await?;
        let begun = for_ever.lease_repo(&"namespace".parse()?)?.begin(&id, &op, Duration::from_secs(1), None).await?;
        let Begun::Started(lease) = begun else { panic!("{begun:?}") };
        let _ = for_ever.lease_repo(&"namespace".parse()?)?.abort(&lease).await?;
        place.moved.advance(Duration::from_secs(400 * 24 * 3_600));
        let says_nothing = place.builder()?.prefix(&prefix)?.connect(&url)?;
        assert_eq!(says_nothing.maintain(1_000).await?.deleted, 0);
        let taken = says_nothing.item_bank(&"namespace".parse()?)?.take(&claim, Hold::Forever).await?;
        assert!(matches!(taken, Taken::Ended(End::Released)), "{taken:?}");
        assert_eq!(
            says_nothing.token_store(&"namespace".parse()?)?.create_tokens(&[TokenId::new("token")?]).await?.gone,
            1
        );
        let again =
            says_nothing.lease_repo(&"namespace".parse()?)?.begin(&id, &op, Duration::from_secs(1), None).await?;
        assert!(matches!(again, Begun::Fenced), "{again:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_store_of_another_memory_is_refused() -> Result<()> {
    with_place(async |place| {
        let url = place.server.url();
        let builder = || place.builder().map(|builder| builder.remember(Retention::Forever));
        for error in [
            builder()?.connect(&url)?.ping().await.unwrap_err(),
            builder()?.connect(&url)?.setup().await.unwrap_err(),
            builder()?.connect(&url)?.maintain(1).await.map(drop).unwrap_err(),
            builder()?.connect(&url)?.item_bank(&"namespace".parse()?)?.counts().await.map(drop).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
        }
        place.builder()?.remember(Retention::DEFAULT).connect(&url)?.ping().await
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

//! The store's own keys, and namespaces that are opened.

use redis::cmd;
use storagebox_conformance::Proxy;
use storagebox_core::{Backend as _, Certainty, Counter as _, Error, ErrorKind, Item, ItemBank as _, Key, Result};
use storagebox_core::{
    DedupId, DedupRepo as _, EntityLedger as _, Joins, MessageId, OrderedOptions, OrderedStore as _, Strategy,
};
use storagebox_core::{TokenId, TokenStore as _};
use storagebox_redis::RedisStore;
use storagebox_testkit::redis::Settings;

use crate::scene::with_server;
use crate::support::{Place, failed};

/// Returns a store that has opened no namespace, on a server that knows all scripts of the test.
async fn fresh(place: &Place, proxy: &Proxy) -> Result<RedisStore> {
    let store = place.builder()?.connect(&place.server.url_at(proxy.addr()))?;
    // Opens the connection; the result does not matter.
    let _ = store.ping().await;
    Ok(store)
}

async fn damage(place: &Place, key: &str) -> Result<()> {
    let mut acts = redis::pipe();
    acts.del(key).rpush(key, "garbage");
    acts.exec_async(&mut place.server.node(0).await?).await.map_err(failed)
}

fn is_corrupt(what: &str, outcome: Result<()>) {
    let error: Error = outcome.expect_err(what);
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Corrupt, Certainty::NotApplied), "{what}: {error}");
}

async fn open(store: &RedisStore, kind: &str, name: &str) -> Result<()> {
    match kind {
        "b" => store.item_bank(&name.parse()?)?.add(&[Item::new("one")?]).await.map(drop),
        "r" => store.dedup_repo(&name.parse()?)?.get(&DedupId::new("id")?).await.map(drop),
        "t" => store.token_store(&name.parse()?)?.exists(&TokenId::new("token")?).await.map(drop),
        "e" => {
            let entities = store.entity_ledger(&name.parse()?, &Joins::default())?;
            entities.open(&Key::new("key")?, &MessageId::new("message")?, None).await.map(drop)
        }
        "c" => store.counter(&name.parse()?, Strategy::default())?.value(&Key::new("key")?).await.map(drop),
        _ => store.ordered_store(&name.parse()?, OrderedOptions::time())?.get(&Key::new("key")?).await.map(drop),
    }
}

const KINDS: [&str; 6] = ["b", "r", "t", "e", "c", "o"];

#[test]
fn opening_a_namespace_with_a_key_of_another_type_is_corrupt() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let proxy = Proxy::start(place.server.address()).await.map_err(failed)?;
        for kind in KINDS {
            open(&fresh(place, &proxy).await?, kind, "namespace").await?;
            damage(place, &place.key(&format!("{kind}.namespace.0"))).await?;
            let store = fresh(place, &proxy).await?;
            let before = proxy.round_trips();
            is_corrupt(kind, open(&store, kind, "namespace").await);
            assert_eq!(proxy.round_trips() - before, 2, "{kind}: it registers the namespace, and opens it, once");
            open(&store, kind, "neighbour").await?;
        }
        Ok(())
    })
}

#[test]
fn a_store_with_keys_of_another_type_is_corrupt() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let proxy = Proxy::start(place.server.address()).await.map_err(failed)?;
        let (key, url) = (place.key("store"), place.server.url_at(place.server.address()));
        open(&fresh(place, &proxy).await?, "b", "namespace").await?;
        for list in ["made", "namespaces"] {
            damage(place, &format!("{key}:{list}")).await?;
            is_corrupt(list, fresh(place, &proxy).await?.maintain(10).await.map(drop));
            is_corrupt(list, open(&fresh(place, &proxy).await?, "b", "another").await);
        }
        damage(place, &key).await?;
        let store = fresh(place, &proxy).await?;
        let before = proxy.round_trips();
        is_corrupt("ping", store.ping().await);
        is_corrupt("opening", open(&store, "b", "namespace").await);
        assert_eq!(proxy.round_trips() - before, 2);
        is_corrupt("setup", store.setup().await);
        let elsewhere = RedisStore::builder().prefix(&format!("{}.elsewhere", place.prefix))?.connect(&url)?;
        elsewhere.setup().await?;
        open(&elsewhere, "b", "namespace").await
    })
}

#[test]
fn a_store_version_that_is_no_number_is_corrupt() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let set = cmd("HSET").arg(place.key("store")).arg("version").arg("garbage").clone();
        place.server.ask::<()>(&set).await?;
        let store = place.store()?;
        is_corrupt("ping", store.ping().await);
        is_corrupt("setup", store.setup().await);
        is_corrupt("opening", open(&store, "b", "namespace").await);
        Ok(())
    })
}

#[test]
fn upkeep_continues_after_a_corrupt_namespace() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let store = place.store()?;
        let names = ["a", "b", "c", "d"];
        for name in names {
            store.token_store(&name.parse()?)?.discard(&[TokenId::new("token")?]).await?;
        }
        for name in ["a", "c"] {
            let buckets = format!("{}:k:*", place.key(&format!("t.{name}.0")));
            let buckets: Vec<String> = place.server.ask(cmd("KEYS").arg(buckets)).await?;
            damage(place, &buckets[0]).await?;
        }
        place.moved.advance(std::time::Duration::from_secs(8 * 24 * 3_600));
        assert_eq!(store.maintain(10).await.unwrap_err().kind(), ErrorKind::Corrupt);
        for (name, left) in names.into_iter().zip([1, 0, 1, 0]) {
            let gone = format!("{}:g:0", place.key(&format!("t.{name}.0")));
            assert_eq!(place.server.ask::<i64>(cmd("LLEN").arg(gone)).await?, left, "{name}");
        }
        Ok(())
    })
}

//! A store that was lost as a whole, and a store that was restored from a copy.

use std::future::ready;
use std::pin::pin;

use redis::aio::MultiplexedConnection as Admin;
use redis::cmd;
use storagebox_core::{Backend as _, Certainty, ErrorKind, Hold, Item, ItemBank as _, Result};
use storagebox_redis::RedisStore;
use storagebox_testkit::checks::corruption::Call;
use storagebox_testkit::redis::Settings;

use super::state::State;
use super::{NAMESPACE, Part, UPKEEP, bank, counters, entities, ordered, records, tokens};
use crate::scene::{kill, until, with_server};
use crate::support::{Place, Server, failed};

pub(super) const PARTS: [&Part; 6] =
    [&bank::PART, &records::PART, &tokens::PART, &entities::PART, &counters::PART, &ordered::PART];

/// Fills a namespace of each part, and returns every call of all these namespaces.
async fn filled(place: &Place, store: &RedisStore) -> Result<Vec<Call>> {
    let mut calls = vec![];
    for part in PARTS {
        (part.fill)(place, store, NAMESPACE).await?;
        calls.extend(part.every_call(store, NAMESPACE)?);
    }
    Ok(calls)
}

/// Checks that no call writes, that upkeep returns `kind_of_upkeep` and that other calls return `Corrupt`.
async fn all_are_refused(calls: &[Call], kind_of_upkeep: ErrorKind, admin: &mut Admin) -> Result<()> {
    let before = State::of(admin, "").await?;
    for call in calls {
        let error = call.make().await.expect_err(&call.name);
        let kind = if call.name == UPKEEP { kind_of_upkeep } else { ErrorKind::Corrupt };
        assert_eq!((error.kind(), error.certainty()), (kind, Certainty::NotApplied), "{}: {error}", call.name);
    }
    assert_eq!(State::of(admin, "").await?.differences(&before), [""; 0]);
    Ok(())
}

/// Gives the store and its namespaces a new epoch, as the README tells an operator who restores a copy.
async fn give_a_new_epoch(place: &Place, admin: &mut Admin) -> Result<()> {
    let namespaces = cmd("SMEMBERS").arg(format!("{}:namespaces", place.key("store"))).query_async(admin).await;
    let namespaces: Vec<String> = namespaces.map_err(failed)?;
    for tag in namespaces.iter().map(String::as_str).chain(["store"]) {
        let set = cmd("HSET").arg(place.key(tag)).arg("epoch").arg("new").exec_async(admin).await;
        set.map_err(failed)?;
    }
    Ok(())
}

#[test]
fn calls_on_an_emptied_store_are_refused() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let (store, mut admin) = (place.store()?, place.server.node(0).await?);
        let calls = filled(place, &store).await?;
        cmd("FLUSHALL").exec_async(&mut admin).await.map_err(failed)?;
        all_are_refused(&calls, ErrorKind::NotSetUp, &mut admin).await?;
        assert_eq!(store.ping().await.unwrap_err().kind(), ErrorKind::NotSetUp);
        assert_eq!(store.item_bank(&"another".parse()?)?.counts().await.unwrap_err().kind(), ErrorKind::NotSetUp);
        // A store that is created again has another epoch.
        place.store()?.setup().await?;
        filled(place, &place.store()?).await?;
        all_are_refused(&calls, ErrorKind::Corrupt, &mut admin).await?;
        assert_eq!(store.item_bank(&"another".parse()?)?.counts().await.unwrap_err().kind(), ErrorKind::Corrupt);
        place.store()?.item_bank(&NAMESPACE.parse()?)?.counts().await.map(drop)
    })
}

/// The store is lost and created again while a client is creating a namespace in the old epoch.
#[test]
fn a_namespace_of_an_old_epoch_is_not_created_in_a_new_one() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let (store, mut admin) = (place.store()?, place.server.node(0).await?);
        // From here on, the server knows the scripts.
        store.item_bank(&"another".parse()?)?.counts().await?;
        let bank = store.item_bank(&NAMESPACE.parse()?)?;
        let mut late = pin!(bank.counts());
        tokio::select! {
            biased;
            _ = late.as_mut() => return Err(failed("it did not rest")),
            () = ready(()) => {}
        }
        until("the namespace's name", async || {
            let namespaces = format!("{}:namespaces", place.key("store"));
            place.server.ask::<bool>(cmd("SISMEMBER").arg(namespaces).arg(bank::PART.tag)).await
        })
        .await?;
        cmd("FLUSHALL").exec_async(&mut admin).await.map_err(failed)?;
        let anew = place.store()?;
        anew.setup().await?;
        let error = late.await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Corrupt, Certainty::NotApplied), "{error}");
        assert_eq!(anew.item_bank(&NAMESPACE.parse()?)?.counts().await?.total(), 0);
        Ok(())
    })
}

#[test]
fn calls_on_a_server_that_restarted_empty_are_corrupt() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let bank = place.store()?.item_bank(&NAMESPACE.parse()?)?;
        bank.counts().await?;
        kill(&place.server).await?;
        // The first call discovers that the connection is gone.
        assert_eq!(bank.counts().await.unwrap_err().kind(), ErrorKind::Corrupt);
        let error = bank.counts().await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Corrupt, Certainty::NotApplied), "{error}");
        Ok(())
    })
}

/// The store is restored from a copy of the same epoch that lacks the namespace.
#[test]
fn a_namespace_missing_in_a_copy_is_corrupt_until_created_again() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let (store, mut admin) = (place.store()?, place.server.node(0).await?);
        store.item_bank(&"another".parse()?)?.counts().await?;
        let copy = State::of(&mut admin, &place.prefix).await?;
        let bank = store.item_bank(&NAMESPACE.parse()?)?;
        bank.add(&[Item::new("SAVE-10")?]).await?;
        cmd("FLUSHALL").exec_async(&mut admin).await.map_err(failed)?;
        copy.restore(&mut admin, &place.prefix).await?;
        assert_eq!(bank.counts().await.unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(place.store()?.item_bank(&NAMESPACE.parse()?)?.counts().await?.total(), 0);
        // The old client accepts the new namespace, because the copy has the same epoch, as the README says.
        assert_eq!(bank.counts().await?.total(), 0);
        store.item_bank(&"another".parse()?)?.counts().await.map(drop)
    })
}

/// An operator restores a copy and gives it a new epoch.
#[test]
fn a_restored_copy_with_a_new_epoch_refuses_earlier_clients() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let (store, mut admin) = (place.store()?, place.server.node(0).await?);
        let calls = filled(place, &store).await?;
        let copy = State::of(&mut admin, &place.prefix).await?;
        cmd("FLUSHALL").exec_async(&mut admin).await.map_err(failed)?;
        copy.restore(&mut admin, &place.prefix).await?;
        store.item_bank(&NAMESPACE.parse()?)?.counts().await?;
        give_a_new_epoch(place, &mut admin).await?;
        all_are_refused(&calls, ErrorKind::Corrupt, &mut admin).await?;
        place.store()?.item_bank(&NAMESPACE.parse()?)?.counts().await.map(drop)
    })
}

/// The emptied node does not have the key of the store.
#[tokio::test(flavor = "multi_thread")]
async fn calls_on_an_emptied_cluster_node_are_refused() -> Result<()> {
    let place = Server::cluster(Settings::quick()).await?.place().await?;
    // The slot of this namespace is on another node than the store's.
    let bank = place.store()?.item_bank(&"v".parse()?)?;
    bank.add(&[Item::new("one")?]).await?;
    let _ = bank.take(&"ada".parse()?, Hold::Forever).await?;
    let node = place.master_of("b.v.0").await?.ok_or_else(|| failed("no master"))?;
    cmd("FLUSHALL").exec_async(&mut place.server.node(node).await?).await.map_err(failed)?;
    assert_eq!(bank.take(&"bob".parse().unwrap(), Hold::Forever).await.unwrap_err().kind(), ErrorKind::Corrupt);
    let taken = place.store()?.item_bank(&"v".parse()?)?.take(&"bob".parse()?, Hold::Forever).await;
    assert!(taken.is_err(), "a process that begins now: {taken:?}");
    let taken = bank.take(&"bob".parse()?, Hold::Forever).await;
    assert!(taken.is_err(), "the old one after that: {taken:?}");
    Ok(())
}

/// The namespace first loses the key with its epoch, and then all other keys.
#[test]
fn a_lost_namespace_is_created_again_only_in_a_new_epoch() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let (store, mut admin) = (place.store()?, place.server.node(0).await?);
        (bank::PART.fill)(place, &store, NAMESPACE).await?;
        let calls = bank::PART.every_call(&store, NAMESPACE)?;
        let head = place.key(bank::PART.tag);
        let keys = cmd("KEYS").arg(format!("{head}:*")).query_async(&mut admin).await;
        let others: Vec<String> = keys.map_err(failed)?;
        for lost in [vec![head], others] {
            cmd("DEL").arg(lost).exec_async(&mut admin).await.map_err(failed)?;
            all_are_refused(&calls, ErrorKind::Corrupt, &mut admin).await?;
            let later = place.store()?;
            all_are_refused(&bank::PART.every_call(&later, NAMESPACE)?, ErrorKind::Corrupt, &mut admin).await?;
        }
        give_a_new_epoch(place, &mut admin).await?;
        all_are_refused(&calls, ErrorKind::Corrupt, &mut admin).await?;
        let anew = place.store()?;
        assert_eq!(anew.item_bank(&NAMESPACE.parse()?)?.counts().await?.total(), 0);
        assert_eq!(anew.maintain(10).await?.deleted, 0);
        Ok(())
    })
}

async fn keys_of(place: &Place) -> Result<Vec<String>> {
    place.server.ask(cmd("KEYS").arg(format!("{}:*", place.prefix))).await
}

/// Regression: `setup` created a new store in place of the lost store, which hid the loss from later processes.
#[test]
fn setup_by_a_client_of_a_lost_store_creates_nothing() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let (store, mut admin) = (place.store()?, place.server.node(0).await?);
        store.item_bank(&NAMESPACE.parse()?)?.counts().await?;
        store.setup().await?;
        cmd("FLUSHALL").exec_async(&mut admin).await.map_err(failed)?;
        let error = store.setup().await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::NotSetUp, Certainty::NotApplied), "{error}");
        assert_eq!(keys_of(place).await?, [""; 0]);
        place.store()?.setup().await?;
        assert_eq!(store.setup().await.unwrap_err().kind(), ErrorKind::Corrupt);
        Ok(())
    })
}

/// Regression: a client of a lost store entered a namespace in the store that replaced the lost store.
#[test]
fn a_client_of_an_old_epoch_enters_no_namespace_in_a_new_one() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let (store, mut admin) = (place.store()?, place.server.node(0).await?);
        store.item_bank(&NAMESPACE.parse()?)?.counts().await?;
        cmd("FLUSHALL").exec_async(&mut admin).await.map_err(failed)?;
        place.store()?.setup().await?;
        let error = store.item_bank(&"another".parse()?)?.counts().await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Corrupt, Certainty::NotApplied), "{error}");
        assert_eq!(keys_of(place).await?, [place.key("store")]);
        Ok(())
    })
}

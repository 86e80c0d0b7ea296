//! The cost of a call: one round trip, counted by a proxy, once its connection and its namespace are open.

use std::sync::Arc;
use std::time::Duration;

use storagebox_conformance::Proxy;
use storagebox_core::{
    Backend, Commit, Counter, DedupId, DedupRepo, EntityChange, EntityLedger, EntryId, Joins, Key, LeaseRepo,
    MessageId, OpId, OrderedOptions, OrderedStore, Result, Strategy, TokenId, TokenStore,
};
use storagebox_postgres::Statements;
use storagebox_testkit::checks::round_trips::{Metered, remember_at_once};

use crate::scene::with_place;
use crate::support::{Place, failed};

const HOUR: Duration = Duration::from_secs(3_600);

/// Returns a store on one connection, with these settings at the end of its URL.
pub(crate) async fn metered(place: &Place, statements: Statements, settings: &str) -> Result<Metered> {
    let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
    let builder = place.builder()?.statements(statements).max_connections(1);
    let store = builder.connect(&format!("{}{settings}", place.url_at(proxy.addr())))?;
    Ok(Metered::new(proxy, store))
}

/// Makes every call of every part and of the store, with ids of this name.
pub(crate) async fn every_call(metered: &mut Metered, name: &str) -> Result<()> {
    metered.every_call(name).await?;
    entities(metered, name).await?;
    metered.ping_and_setup().await
}

/// Returns entities that join the tokens of the same name.
fn ledger(store: &dyn Backend) -> Result<Arc<dyn EntityLedger>> {
    let tokens = Some("namespace".parse()?);
    store.entity_ledger(&"namespace".parse()?, &Joins { incoming: tokens.clone(), outgoing: tokens })
}

async fn entities(metered: &mut Metered, name: &str) -> Result<()> {
    let store = Arc::clone(&metered.store);
    let entities = ledger(&*store)?;
    let (given, out) = (TokenId::new(format!("{name}-in"))?, TokenId::new(format!("{name}-out"))?);
    store.token_store(&"namespace".parse()?)?.create_tokens(std::slice::from_ref(&given)).await?;
    let entry = EntryId { key: Key::new(name)?, message: MessageId::new(name)?, commit: OpId::new(name)? };
    let opened = metered.note("open", entities.open(&entry.key, &entry.message, Some(&given))).await?;
    assert_eq!(opened.token_is_live, Some(true));
    let commit = Commit {
        key: entry.key.clone(),
        message: entry.message.clone(),
        opened: opened.version,
        change: EntityChange::Put(name.try_into()?),
        attempt: entry.commit.clone(),
        entry: Some(name.try_into()?),
        consume: Some(given),
        create: vec![out],
    };
    let _ = metered.note("commit", entities.commit(&commit)).await?;
    let _ = metered.note("register", entities.register(&entry, &OpId::new("other")?)).await?;
    let _ = metered.note("choose", entities.choose(&entry, &entry.commit)).await?;
    metered.note("pending", entities.pending(None, 10)).await?;
    metered.note("remove", entities.remove(&entry)).await.map(drop)
}

/// Registers the namespaces, and does nothing else.
async fn open_namespaces(store: &dyn Backend) -> Result<()> {
    let (name, nobody) = ("namespace".parse()?, DedupId::new("nobody")?);
    store.item_bank(&name)?.counts().await?;
    store.dedup_repo(&name)?.get(&nobody).await?;
    let _ = store.lease_repo(&name)?.begin(&nobody, &OpId::new("nobody")?, HOUR, None).await?;
    store.token_store(&name)?.exists(&TokenId::new("nobody")?).await?;
    ledger(store)?.pending(None, 1).await?;
    store.counter(&name, Strategy::default())?.value(&Key::new("nobody")?).await?;
    let ordered = store.ordered_store(&name, OrderedOptions::sequence())?;
    ordered.get(&Key::new("nobody")?).await.map(drop)
}

async fn assert_one_each(mut metered: Metered) -> Result<()> {
    every_call(&mut metered, "then").await?;
    metered.assert_one_each();
    Ok(())
}

#[tokio::test]
async fn each_call_is_one_round_trip_on_a_warm_connection() -> Result<()> {
    with_place(async |place| {
        let mut metered = metered(place, Statements::Prepared, "").await?;
        every_call(&mut metered, "first").await?;
        metered.noted.clear();
        assert_one_each(metered).await
    })
    .await
}

/// Simple statements prepare nothing, so the first call of a kind costs no more than the next.
#[tokio::test]
async fn with_simple_statements_the_first_call_is_one_round_trip_too() -> Result<()> {
    with_place(async |place| {
        let metered = metered(place, Statements::Simple, "").await?;
        open_namespaces(&*metered.store).await?;
        assert_one_each(metered).await
    })
    .await
}

#[tokio::test]
async fn items_go_five_thousand_to_a_round_trip() -> Result<()> {
    with_place(async |place| {
        assert_eq!(metered(place, Statements::Prepared, "").await?.trips_to_add(20_000).await?, 4);
        Ok(())
    })
    .await
}

/// All calls wait before the first is answered: one goes alone, the others together.
#[tokio::test]
async fn calls_that_come_while_one_is_under_way_are_one_round_trip_together() -> Result<()> {
    with_place(async |place| {
        let mut metered = metered(place, Statements::Simple, "").await?;
        open_namespaces(&*metered.store).await?;
        let records = metered.store.dedup_repo(&"namespace".parse()?)?;
        metered.note("records", remember_at_once(&records, 0..32)).await?;
        assert_eq!(metered.noted, [("records", 2)]);
        assert_eq!(records.list(None, 100).await?.entries.len(), 32);
        Ok(())
    })
    .await
}

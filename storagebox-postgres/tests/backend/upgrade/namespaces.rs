//! Namespaces of every kind, with data in every table, and checks that the data is still there.

use storagebox_core::{
    Backend, Begun, Bounds, Change, Chosen, ClaimId, ClaimState, Commit, Committed, Consumed, Counted, Counter,
    DedupId, DedupRepo, End, EntityChange, EntityLedger, EntryId, Forgotten, Hold, HoldState, Item, ItemBank,
    ItemState, Joins, Key, LeaseRepo, MAX_DURATION, OpId, OrderedOptions, OrderedStore, Payload, Recorded, Result,
    Retention, Stamp, Strategy, TokenId, TokenStore, WriterId, Written,
};
use storagebox_postgres::{PostgresBuilder, PostgresStore};
use storagebox_testkit::checks::entities::commit_at;
use storagebox_testkit::checks::id;

const WINDOW: Strategy = Strategy::Window { lifetime: MAX_DURATION, capacity: 10 };

/// Returns a builder with unlimited memory, so that the data of an old dump is not forgotten.
pub(crate) fn builder() -> PostgresBuilder {
    PostgresStore::builder().remember(Retention::Forever)
}

fn sharded() -> Strategy {
    Strategy::Sharded { shards: 4, bounds: Bounds::at_least(0), retention: Retention::Forever }
}

fn marker() -> Strategy {
    Strategy::Marker { retention: Retention::Forever }
}

fn change(op: &str, delta: i64) -> Result<Change> {
    Ok(Change::new(OpId::new(op)?, delta))
}

fn stamp(at: i64) -> Result<Stamp> {
    Ok(Stamp::new(at, WriterId::new("ada")?))
}

pub(crate) async fn fill(store: &PostgresStore) -> Result<()> {
    fill_bank(store).await?;
    fill_records(store).await?;
    let tokens = store.token_store(&"namespace".parse()?)?;
    tokens.create_tokens(&[TokenId::new("live")?, TokenId::new("gone")?]).await?;
    let _ = tokens.consume(&TokenId::new("gone")?, &OpId::new("ada")?).await?;
    fill_entities(store).await?;
    for strategy in [marker(), WINDOW, sharded()] {
        let counters = store.counter(&name(strategy).parse()?, strategy)?;
        let _ = counters.apply(&Key::new("stock")?, &change("ada", 5)?).await?;
    }
    let ordered = store.ordered_store(&"namespace".parse()?, OrderedOptions::sequence())?;
    let _ = ordered.put(&Key::new("there")?, &Payload::try_from("value")?, &stamp(5)?).await?;
    ordered.delete(&Key::new("deleted")?, &stamp(5)?).await.map(drop)
}

fn commit_to(key: &str, change: EntityChange) -> Commit {
    Commit { key: id(key), message: id("message"), change, ..commit_at(None, "ada") }
}

fn entry_of(commit: &Commit) -> EntryId {
    EntryId { key: commit.key.clone(), message: commit.message.clone(), commit: commit.attempt.clone() }
}

/// Creates an entity whose entry has two attempts. Creates and deletes another entity.
async fn fill_entities(store: &PostgresStore) -> Result<()> {
    let entities = store.entity_ledger(&"namespace".parse()?, &Joins::default())?;
    let stored = commit_to("stored", EntityChange::Put("state".try_into()?));
    let deleted = commit_to("deleted", EntityChange::Delete);
    for commit in [&stored, &deleted] {
        let _ = entities.commit(commit).await?;
    }
    let _ = entities.register(&entry_of(&stored), &OpId::new("bob")?).await?;
    let _ = entities.choose(&entry_of(&stored), &OpId::new("bob")?).await?;
    entities.remove(&entry_of(&deleted)).await.map(drop)
}

/// Adds each item just before its take, so that each claim has a known item.
async fn fill_bank(store: &PostgresStore) -> Result<()> {
    let bank = store.item_bank(&"namespace".parse()?)?;
    for claim in ["holder", "spender", "releaser"] {
        bank.add(&[item(claim)?]).await?;
        let _ = bank.take(&ClaimId::new(claim)?, Hold::Forever).await?;
    }
    let _ = bank.confirm(&ClaimId::new("spender")?).await?;
    bank.add(&[item("borrower")?]).await?;
    let _ = bank.take(&ClaimId::new("borrower")?, Hold::For(MAX_DURATION)).await?;
    let _ = bank.release(&ClaimId::new("releaser")?).await?;
    bank.add(&[item("withdrawn")?]).await?;
    bank.withdraw(&[item("withdrawn")?]).await.map(drop)
}

fn item(of: &str) -> Result<Item> {
    Item::new(format!("item of {of}"))
}

async fn fill_records(store: &PostgresStore) -> Result<()> {
    let (records, op) = (store.dedup_repo(&"namespace".parse()?)?, OpId::new("ada")?);
    for id in ["done", "forgotten"] {
        let (id, value) = (DedupId::new(id)?, Payload::try_from("value")?);
        let recorded = records.record(&id, &value, &op, Retention::Forever).await?;
        if let (Recorded::New(version), "forgotten") = (recorded, id.as_str()) {
            assert_eq!(records.forget(&id, version).await?, Forgotten::Forgotten);
        }
    }
    store.lease_repo(&"namespace".parse()?)?.begin(&DedupId::new("leased")?, &op, MAX_DURATION, None).await.map(drop)
}

fn name(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Window { .. } => "window",
        Strategy::Sharded { .. } => "sharded",
        _ => "marker",
    }
}

/// Checks that the data is as `fill` left it, and that calls of every part recognise it.
pub(crate) async fn check(store: &PostgresStore) -> Result<()> {
    check_bank(store).await?;
    check_records(store).await?;
    check_tokens(store).await?;
    check_entities(store).await?;
    check_counters(store).await?;
    check_ordered(store).await
}

async fn check_bank(store: &PostgresStore) -> Result<()> {
    let bank = store.item_bank(&"namespace".parse()?)?;
    for (claim, hold) in [("holder", HoldState::Forever), ("spender", HoldState::Confirmed)] {
        let ClaimState::Held(held) = bank.get(&ClaimId::new(claim)?).await? else { panic!("{claim}") };
        assert_eq!((held.item, held.hold), (item(claim)?, hold));
    }
    let ClaimState::Held(borrowed) = bank.get(&ClaimId::new("borrower")?).await? else { panic!("borrower") };
    assert!(matches!(borrowed.hold, HoldState::Remaining(_)), "{borrowed:?}");
    assert_eq!(bank.get(&ClaimId::new("releaser")?).await?, ClaimState::Ended(End::Released));
    assert_eq!(bank.holder(&item("releaser")?).await?, ItemState::Free);
    assert_eq!(bank.holder(&item("withdrawn")?).await?, ItemState::Withdrawn);
    assert_eq!(bank.add(&[item("holder")?, item("spender")?, item("withdrawn")?]).await?.added, 0);
    Ok(())
}

async fn check_records(store: &PostgresStore) -> Result<()> {
    let (records, op, value) =
        (store.dedup_repo(&"namespace".parse()?)?, OpId::new("ada")?, Payload::try_from("value")?);
    let again = |id: &'static str| {
        let (records, op, value) = (&records, &op, &value);
        async move { records.record(&DedupId::new(id)?, value, op, Retention::Forever).await }
    };
    assert!(matches!(again("done").await?, Recorded::Again(entry) if entry.value == value));
    assert_eq!(again("forgotten").await?, Recorded::Fenced);
    assert!(matches!(again("leased").await?, Recorded::InFlight { .. }));
    let leases = store.lease_repo(&"namespace".parse()?)?;
    let begun = leases.begin(&DedupId::new("leased")?, &op, MAX_DURATION, None).await?;
    assert!(matches!(begun, Begun::Started(_)), "{begun:?}");
    Ok(())
}

async fn check_tokens(store: &PostgresStore) -> Result<()> {
    let (tokens, op) = (store.token_store(&"namespace".parse()?)?, OpId::new("ada")?);
    assert!(tokens.exists(&TokenId::new("live")?).await?);
    assert_eq!(tokens.consume(&TokenId::new("gone")?, &op).await?, Consumed::Again);
    assert_eq!(tokens.create_tokens(&[TokenId::new("gone")?]).await?.gone, 1);
    Ok(())
}

async fn check_entities(store: &PostgresStore) -> Result<()> {
    let entities = store.entity_ledger(&"namespace".parse()?, &Joins::default())?;
    let stored = commit_to("stored", EntityChange::Keep);
    assert_eq!(entities.open(&stored.key, &stored.message, None).await?.state, Some("state".try_into()?));
    let chosen = entities.choose(&entry_of(&stored), &stored.attempt).await?;
    assert!(matches!(&chosen, Chosen::Chosen(entry) if entry.chosen == entry.attempts.get(1).cloned()), "{chosen:?}");
    assert_eq!(entities.pending(None, 10).await?.entries, [entry_of(&stored)]);
    let deleted = commit_to("deleted", EntityChange::Delete);
    assert_eq!(entities.commit(&deleted).await?, Committed::Conflict, "its version is kept");
    Ok(())
}

async fn check_counters(store: &PostgresStore) -> Result<()> {
    let key = Key::new("stock")?;
    for strategy in [marker(), WINDOW, sharded()] {
        let counters = store.counter(&name(strategy).parse()?, strategy)?;
        let again = counters.apply(&key, &change("ada", 5)?).await?;
        assert!(matches!(again, Counted::AlreadyApplied { .. }), "{strategy:?}: {again:?}");
        assert_eq!(counters.apply(&key, &change("ada", 6)?).await?, Counted::Mismatch, "{strategy:?}");
        assert_eq!(counters.value(&key).await?, 5, "{strategy:?}");
    }
    Ok(())
}

async fn check_ordered(store: &PostgresStore) -> Result<()> {
    let (ordered, value) =
        (store.ordered_store(&"namespace".parse()?, OrderedOptions::sequence())?, Payload::try_from("value")?);
    let found = ordered.get(&Key::new("there")?).await?;
    assert_eq!(found.map(|versioned| versioned.value), Some(value.clone()));
    assert_eq!(ordered.get(&Key::new("deleted")?).await?, None);
    let late = ordered.put(&Key::new("deleted")?, &value, &stamp(4)?).await?;
    assert_eq!(late, Written::Stale { current: stamp(5)? });
    Ok(())
}

//! One call of each kind on open namespaces, and the error of each.

use std::time::Duration;

use storagebox_core::{
    Backend, Begun, Change, ClaimId, Commit, Counter, DedupId, DedupRepo, EntityChange, EntityLedger, EntryId, Error,
    Hold, Item, ItemBank, Joins, Key, Lease, LeaseRepo, MessageId, OpId, OrderedOptions, OrderedStore, Payload,
    Recorded, Result, Retention, Stamp, Strategy, TokenId, TokenStore, Version, WriterId,
};
use storagebox_postgres::PostgresStore;

const HOUR: Duration = Duration::from_secs(3_600);

/// A call and its error.
pub(crate) type Refused = (&'static str, Option<Error>);

/// The version of a record, and a lease.
pub(crate) struct Open {
    version: Version,
    lease: Lease,
}

/// Opens a namespace of each kind, as a process does long before an upgrade.
pub(crate) async fn open(store: &PostgresStore) -> Result<Open> {
    refused_by_bank(store).await?;
    refused_by_tokens(store).await?;
    refused_by_entities(store).await?;
    refused_by_counters(store).await?;
    refused_by_ordered(store).await?;
    let (value, op) = (Payload::try_from("value")?, OpId::new("op")?);
    let recorded =
        store.dedup_repo(&"old".parse()?)?.record(&DedupId::new("id")?, &value, &op, Retention::Forever).await?;
    let begun = store.lease_repo(&"old".parse()?)?.begin(&DedupId::new("leased")?, &op, HOUR, None).await?;
    match (recorded, begun) {
        (Recorded::New(version), Begun::Started(lease)) => Ok(Open { version, lease }),
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn all(store: &PostgresStore, open: &Open) -> Result<Vec<Refused>> {
    let mut refused = refused_by_bank(store).await?;
    refused.extend(refused_by_records(store, open).await?);
    refused.extend(refused_by_leases(store, open).await?);
    refused.extend(refused_by_tokens(store).await?);
    refused.extend(refused_by_entities(store).await?);
    refused.extend(refused_by_counters(store).await?);
    refused.extend(refused_by_ordered(store).await?);
    refused.push(("maintain", store.maintain(10).await.err()));
    refused.push(("ping", store.ping().await.err()));
    refused.push(("setup", store.setup().await.err()));
    Ok(refused)
}

async fn refused_by_bank(store: &PostgresStore) -> Result<Vec<Refused>> {
    let (bank, claim) = (store.item_bank(&"old".parse()?)?, ClaimId::new("late")?);
    let items = [Item::new("one")?];
    Ok(vec![
        ("add", bank.add(&items).await.err()),
        ("withdraw", bank.withdraw(&items).await.err()),
        ("restore", bank.restore(&items).await.err()),
        ("take", bank.take(&claim, Hold::For(HOUR)).await.err()),
        ("extend", bank.extend(&claim, Hold::For(HOUR)).await.err()),
        ("confirm", bank.confirm(&claim).await.err()),
        ("release", bank.release(&claim).await.err()),
        ("get", bank.get(&claim).await.err()),
        ("counts", bank.counts().await.err()),
        ("retire", bank.retire(&claim).await.err()),
        ("holder", bank.holder(&items[0]).await.err()),
        ("list", bank.list(None, 10).await.err()),
    ])
}

async fn refused_by_records(store: &PostgresStore, open: &Open) -> Result<Vec<Refused>> {
    let (records, id, op) = (store.dedup_repo(&"old".parse()?)?, DedupId::new("id")?, OpId::new("late")?);
    let value = Payload::try_from("late")?;
    Ok(vec![
        ("record", records.record(&DedupId::new("new")?, &value, &op, Retention::Forever).await.err()),
        ("get of a record", records.get(&id).await.err()),
        ("replace", records.replace(&id, open.version, &value, &op).await.err()),
        ("forget", records.forget(&id, open.version).await.err()),
        ("list of records", records.list(None, 10).await.err()),
    ])
}

async fn refused_by_leases(store: &PostgresStore, open: &Open) -> Result<Vec<Refused>> {
    let (leases, id, op) = (store.lease_repo(&"old".parse()?)?, DedupId::new("new")?, OpId::new("late")?);
    let (lease, result) = (&open.lease, Payload::try_from("late")?);
    Ok(vec![
        ("begin", leases.begin(&id, &op, HOUR, None).await.err()),
        ("extend of a lease", leases.extend(lease, HOUR).await.err()),
        ("complete", leases.complete(lease, &result, Retention::Forever).await.err()),
        ("abort", leases.abort(lease).await.err()),
    ])
}

async fn refused_by_tokens(store: &PostgresStore) -> Result<Vec<Refused>> {
    let (tokens, op, ids) = (store.token_store(&"old".parse()?)?, OpId::new("op")?, [TokenId::new("token")?]);
    Ok(vec![
        ("create_tokens", tokens.create_tokens(&ids).await.err()),
        ("exists", tokens.exists(&ids[0]).await.err()),
        ("consume", tokens.consume(&ids[0], &op).await.err()),
        ("discard", tokens.discard(&ids).await.err()),
    ])
}

async fn refused_by_entities(store: &PostgresStore) -> Result<Vec<Refused>> {
    let tokens = Some("old".parse()?);
    let entities = store.entity_ledger(&"old".parse()?, &Joins { incoming: tokens.clone(), outgoing: tokens })?;
    let (message, commit, token) = (MessageId::new("message")?, OpId::new("op")?, TokenId::new("late")?);
    let entry = EntryId { key: Key::new("key")?, message: message.clone(), commit: commit.clone() };
    let commit = Commit {
        key: entry.key.clone(),
        message: message.clone(),
        opened: None,
        change: EntityChange::Put("state".try_into()?),
        attempt: commit,
        entry: Some("content".try_into()?),
        consume: Some(token.clone()),
        create: vec![TokenId::new("new")?],
    };
    Ok(vec![
        ("open of an entity", entities.open(&entry.key, &message, Some(&token)).await.err()),
        ("commit", entities.commit(&commit).await.err()),
        ("register", entities.register(&entry, &OpId::new("late")?).await.err()),
        ("choose", entities.choose(&entry, &OpId::new("late")?).await.err()),
        ("remove", entities.remove(&entry).await.err()),
        ("pending", entities.pending(None, 10).await.err()),
    ])
}

async fn refused_by_counters(store: &PostgresStore) -> Result<Vec<Refused>> {
    let (counters, key) = (store.counter(&"old".parse()?, Strategy::default())?, Key::new("key")?);
    let op = OpId::new("op")?;
    Ok(vec![
        ("apply", counters.apply(&key, &Change::new(op.clone(), 1)).await.err()),
        ("cancel", counters.cancel(&key, &op).await.err()),
        ("value", counters.value(&key).await.err()),
    ])
}

async fn refused_by_ordered(store: &PostgresStore) -> Result<Vec<Refused>> {
    let (ordered, key) = (store.ordered_store(&"old".parse()?, OrderedOptions::sequence())?, Key::new("key")?);
    let (value, writer) = (Payload::try_from("value")?, WriterId::new("ada")?);
    let stamp = |at| Stamp::new(at, writer.clone());
    Ok(vec![
        ("put", ordered.put(&key, &value, &stamp(1)).await.err()),
        ("delete", ordered.delete(&key, &stamp(2)).await.err()),
        ("get of a value", ordered.get(&key).await.err()),
        ("list of values", ordered.list(None, None, 10).await.err()),
        ("reset", ordered.reset(&key, &stamp(2)).await.err()),
        ("purge", ordered.purge(Duration::ZERO, 10).await.err()),
    ])
}

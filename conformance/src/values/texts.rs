//! V-2: texts that differ in one byte are different, in every trait.

use std::collections::BTreeSet;
use std::time::Duration;

use storagebox_core::{
    Added, Backend, Begun, Change, ClaimId, Commit, Committed, Consumed, Counted, Counter, Created, DedupId, DedupRepo,
    EntityChange, EntityLedger, EntryId, Fingerprint, Hold, Item, ItemBank, ItemState, Joins, Key, MessageId, OpId,
    OrderedOptions, OrderedStore, Payload, Recorded, Retention, Stamp, Strategy, Taken, TokenId, WriterId, Written,
};

use super::pool::{nasty_items, nasty_texts};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::World;

const LONG: Duration = Duration::from_secs(3_600);

/// Converts the texts into one kind of value.
pub(super) fn as_values<T>(texts: Vec<String>) -> Result<Vec<T>, Failure>
where
    T: TryFrom<String, Error = storagebox_core::Error>,
{
    texts.into_iter().map(|text| Ok(T::try_from(text)?)).collect()
}

pub(super) async fn nasty_items_stay_different_and_whole(world: &World) -> Verdict {
    let (bank, items) = (world.bank()?, as_values::<Item>(nasty_items())?);
    let (half, count) = (items.len() / 2, items.len() as u64);
    bank.add(&items[..half]).await?;
    ensure_eq!(bank.add(&items).await?.added, count - half as u64, "items that are new in the second load");
    let again = Added { added: 0, already_present: count };
    ensure_eq!(bank.add(&items).await?, again, "all of them once more");
    let shown: BTreeSet<_> =
        bank.list(None, items.len() * 2).await?.entries.into_iter().map(|entry| entry.item).collect();
    ensure_eq!(shown, items.iter().cloned().collect(), "the items listed");
    let mut taken = BTreeSet::new();
    for number in 0..items.len() {
        let answer = bank.take(&format!("claim-{number}").parse()?, Hold::Forever).await?;
        taken.extend(answer.item().cloned());
    }
    ensure_eq!(taken, shown, "the items handed out");
    for item in &items {
        ensure_matches!(bank.holder(item).await?, ItemState::Held(_), "the holder of {:?}", item.as_str());
    }
    Ok(())
}

pub(super) async fn nasty_claims_stay_different(world: &World) -> Verdict {
    let claims = as_values::<ClaimId>(nasty_texts())?;
    let bank = world.filled(claims.len()).await?;
    let mut held = Vec::new();
    for claim in &claims {
        let taken = bank.take(claim, Hold::Forever).await?;
        held.push(ensure_matches!(taken, Taken::New(held) => held.item, "the take of {claim:?}"));
    }
    for (claim, item) in claims.iter().zip(&held) {
        let again = bank.take(claim, Hold::Forever).await?;
        ensure_eq!(again.item(), Some(item), "the item of {claim:?}");
        ensure_eq!(bank.holder(item).await?, ItemState::Held(claim.clone()), "the holder, byte for byte");
    }
    let _ = bank.release(&claims[0]).await?;
    ensure_eq!(bank.counts().await?.held, claims.len() as u64 - 1, "items held after one release");
    Ok(())
}

pub(super) async fn nasty_record_ids_stay_different(world: &World) -> Verdict {
    let (records, ids) = (world.dedup()?, as_values::<DedupId>(nasty_texts())?);
    for id in &ids {
        let recorded = records.record(id, &id.as_str().try_into()?, &"op".parse()?, Retention::Forever).await?;
        ensure_matches!(recorded, Recorded::New(_), "recording {id:?}");
    }
    for id in &ids {
        let entry = records.get(id).await?;
        ensure_matches!(entry, Some(entry) if entry.value.as_bytes() == id.as_str().as_bytes(), "reading {id:?}");
    }
    let listed = records.list(None, ids.len() * 2).await?.entries;
    let shown: BTreeSet<_> = listed.into_iter().map(|entry| entry.id).collect();
    ensure_eq!(shown, ids.into_iter().collect(), "the ids listed");
    Ok(())
}

pub(super) async fn nasty_operations_of_records_stay_different(world: &World) -> Verdict {
    let (records, ops) = (world.dedup()?, as_values::<OpId>(nasty_texts())?);
    for (number, op) in ops.iter().enumerate() {
        let id = format!("id-{number}");
        let _ = records.record(&id.as_str().parse()?, &"first".try_into()?, op, Retention::Forever).await?;
        let again = records.record(&id.as_str().parse()?, &"second".try_into()?, op, Retention::Forever).await?;
        ensure_matches!(again, Recorded::Again(_), "the retry of {op:?}");
        let next = &ops[(number + 1) % ops.len()];
        let other = records.record(&id.as_str().parse()?, &"second".try_into()?, next, Retention::Forever).await?;
        ensure_matches!(other, Recorded::Existing(_), "{next:?} after {op:?}");
    }
    let _ = records.record(&"one".parse()?, &"first".try_into()?, &ops[0], Retention::Forever).await?;
    for op in &ops[1..] {
        let other = records.record(&"one".parse()?, &"second".try_into()?, op, Retention::Forever).await?;
        ensure_matches!(other, Recorded::Existing(_), "{op:?} after {:?}", ops[0]);
    }
    Ok(())
}

pub(super) async fn nasty_leases_stay_different(world: &World) -> Verdict {
    let (leases, texts) = (world.leases()?, nasty_texts());
    let mut fences = BTreeSet::new();
    for text in &texts {
        let (id, op) = (DedupId::new(text.as_str())?, OpId::new(text.as_str())?);
        let begun = leases.begin(&id, &op, LONG, None).await?;
        let lease = ensure_matches!(begun, Begun::Started(lease) => lease, "beginning {text:?}");
        ensure_eq!((&lease.id, &lease.op), (&id, &op), "the lease of {text:?}");
        fences.insert((lease.fence, id));
    }
    ensure_eq!(fences.len(), texts.len(), "leases");
    let id = DedupId::new(texts[0].as_str())?;
    for text in &texts[1..] {
        let begun = leases.begin(&id, &OpId::new(text.as_str())?, LONG, None).await?;
        ensure_matches!(begun, Begun::InFlight { .. }, "{text:?} during the lease of {:?}", texts[0]);
    }
    Ok(())
}

pub(super) async fn nasty_fingerprints_stay_different(world: &World) -> Verdict {
    let (leases, op) = (world.leases()?, OpId::new("op")?);
    let prints = as_values::<Fingerprint>(nasty_texts())?;
    for (number, print) in prints.iter().enumerate() {
        let id = DedupId::new(format!("id-{number}"))?;
        let _ = leases.begin(&id, &op, LONG, Some(print)).await?;
        let again = leases.begin(&id, &op, LONG, Some(print)).await?;
        ensure_matches!(again, Begun::Started(_), "the same fingerprint {print:?}");
        let next = &prints[(number + 1) % prints.len()];
        let other = leases.begin(&id, &op, LONG, Some(next)).await?;
        ensure_eq!(other, Begun::Mismatch, "{next:?} after {print:?}");
    }
    let id = DedupId::new("id-0")?;
    for other in &prints[1..] {
        let begun = leases.begin(&id, &op, LONG, Some(other)).await?;
        ensure_eq!(begun, Begun::Mismatch, "{other:?} after {:?}", prints[0]);
    }
    Ok(())
}

pub(super) async fn nasty_tokens_stay_different(world: &World) -> Verdict {
    let (store, tokens) = (world.tokens()?, as_values::<TokenId>(nasty_texts())?);
    let (first, rest) = tokens.split_at(tokens.len() / 2);
    store.create_tokens(first).await?;
    for token in rest {
        ensure!(!store.exists(token).await?, "{token:?} exists, and only others were created");
    }
    let expected = Created { created: rest.len() as u64, already_live: first.len() as u64, gone: 0 };
    ensure_eq!(store.create_tokens(&tokens).await?, expected, "all of them");
    for (number, token) in tokens.iter().enumerate() {
        let op = OpId::new(token.as_str())?;
        ensure_eq!(store.consume(token, &op).await?, Consumed::Now, "consuming {token:?}");
        ensure_eq!(store.consume(token, &op).await?, Consumed::Again, "its retry");
        let other = OpId::new(tokens[(number + 1) % tokens.len()].as_str())?;
        ensure_eq!(store.consume(token, &other).await?, Consumed::AlreadyGone, "{other:?} after {op:?}");
        if let Some(next) = tokens.get(number + 1) {
            ensure!(store.exists(next).await?, "{next:?} is gone, and only {token:?} was consumed");
        }
    }
    Ok(())
}

pub(super) async fn nasty_counter_keys_stay_different(world: &World) -> Verdict {
    let counter = world.counter(Strategy::default())?;
    let keys = as_values::<Key>(nasty_texts())?;
    for (number, key) in keys.iter().enumerate() {
        let counted = counter.apply(key, &Change::new("op".parse()?, number as i64 + 1)).await?;
        ensure_matches!(counted, Counted::Applied { .. }, "adding to {key:?}");
    }
    for (number, key) in keys.iter().enumerate() {
        ensure_eq!(counter.value(key).await?, number as i64 + 1, "the value of {key:?}");
    }
    Ok(())
}

pub(super) async fn nasty_operations_of_counters_stay_different(world: &World) -> Verdict {
    let counter = world.counter(Strategy::default())?;
    let ops = as_values::<OpId>(nasty_texts())?;
    for op in &ops {
        ensure_matches!(
            counter.apply(&"key".parse()?, &Change::new(op.clone(), 1)).await?,
            Counted::Applied { .. },
            "{op:?}"
        );
    }
    for op in &ops {
        ensure_matches!(
            counter.apply(&"key".parse()?, &Change::new(op.clone(), 1)).await?,
            Counted::AlreadyApplied { .. },
            "the retry of {op:?}"
        );
        ensure_eq!(
            counter.apply(&"key".parse()?, &Change::new(op.clone(), 2)).await?,
            Counted::Mismatch,
            "{op:?} with another delta"
        );
    }
    ensure_eq!(counter.value(&Key::new("key")?).await?, ops.len() as i64, "the value");
    Ok(())
}

/// Each text is used as a key, a message and an attempt. The store confuses no two texts, even if the store
/// concatenates them.
pub(super) async fn nasty_entities_and_messages_stay_different(world: &World) -> Verdict {
    let (entities, texts) = (world.entities(&Joins::default())?, nasty_texts());
    let mut expected = BTreeSet::new();
    for (number, text) in texts.iter().enumerate() {
        let other = &texts[(number + 1) % texts.len()];
        for (key, message, attempt) in [(text, text, other), (text, other, text)] {
            let commit = Commit {
                key: Key::new(key.as_str())?,
                message: MessageId::new(message.as_str())?,
                opened: entities.open(&Key::new(key.as_str())?, &"look".parse()?, None).await?.version,
                change: EntityChange::Put(key.as_str().try_into()?),
                attempt: OpId::new(attempt.as_str())?,
                entry: Some(message.as_str().try_into()?),
                consume: None,
                create: vec![],
            };
            ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "a commit to {key:?} of {message:?}");
            expected.insert(EntryId { key: commit.key, message: commit.message, commit: commit.attempt });
        }
    }
    for EntryId { key, message, commit } in &expected {
        let opened = entities.open(key, message, None).await?;
        ensure_eq!(opened.state.as_ref().map(Payload::as_bytes), Some(key.as_str().as_bytes()), "the state of {key:?}");
        let entry = opened.entry.map(|entry| (entry.content, entry.attempts));
        ensure_eq!(entry, Some((message.as_str().try_into()?, vec![commit.clone()])), "the entry of {message:?}");
    }
    let listed = entities.pending(None, expected.len() * 2).await?.entries;
    ensure_eq!(listed.len(), expected.len(), "entries listed");
    ensure_eq!(listed.into_iter().collect::<BTreeSet<_>>(), expected, "the entries listed");
    Ok(())
}

pub(super) async fn nasty_ordered_keys_stay_different(world: &World) -> Verdict {
    let ordered = world.ordered(OrderedOptions::sequence())?;
    let keys = as_values::<Key>(nasty_texts())?;
    for key in &keys {
        let put = ordered.put(key, &key.as_str().try_into()?, &Stamp::new(1, "writer".parse()?)).await?;
        ensure_eq!(put, Written::Applied, "putting {key:?}");
    }
    for key in &keys {
        let found = ordered.get(key).await?;
        let value = ensure_matches!(found, Some(found) => found.value, "reading {key:?}");
        ensure_eq!(value.as_bytes(), key.as_str().as_bytes(), "the value of {key:?}");
    }
    let listed = ordered.list(None, None, keys.len() * 2).await?.entries;
    let shown: BTreeSet<_> = listed.into_iter().map(|entry| entry.key).collect();
    ensure_eq!(shown, keys.iter().cloned().collect(), "the keys listed");
    let _ = ordered.delete(&keys[0], &Stamp::new(2, "writer".parse()?)).await?;
    for key in &keys[1..] {
        ensure!(ordered.get(key).await?.is_some(), "{key:?} is gone, and only {:?} was deleted", keys[0]);
    }
    Ok(())
}

/// Of all writes with the same time, the write of the greatest writer in byte order wins.
pub(super) async fn nasty_writers_stay_different(world: &World) -> Verdict {
    let ordered = world.ordered(OrderedOptions::sequence())?;
    let mut writers = as_values::<WriterId>(nasty_texts())?;
    writers.sort();
    let key = Key::new("key")?;
    for pair in writers.windows(2) {
        let [lesser, greater] = pair else { continue };
        let first = ordered.put(&key, &lesser.as_str().try_into()?, &Stamp::new(1, lesser.clone())).await?;
        ensure!(matches!(first, Written::Applied | Written::Duplicate), "putting as {lesser:?}: {first:?}");
        let second = ordered.put(&key, &greater.as_str().try_into()?, &Stamp::new(1, greater.clone())).await?;
        ensure_eq!(second, Written::Applied, "{greater:?} over {lesser:?}");
        let current = Stamp::new(1, greater.clone());
        let late = ordered.put(&key, &lesser.as_str().try_into()?, &Stamp::new(1, lesser.clone())).await?;
        ensure_eq!(late, Written::Stale { current: current.clone() }, "{lesser:?} after {greater:?}");
        ensure_matches!(ordered.get(&key).await?, Some(found) if found.stamp == current, "the stamp read");
    }
    Ok(())
}

pub(super) async fn nasty_namespace_names_stay_different(world: &World) -> Verdict {
    let (store, item, names) = (world.store(), Item::new("item")?, nasty_texts());
    for name in &names {
        let bank = store.item_bank(&name.as_str().parse()?)?;
        ensure_eq!(bank.add(std::slice::from_ref(&item)).await?.added, 1, "an item in the bank {name:?}");
        let recorded = store
            .dedup_repo(&name.as_str().parse()?)?
            .record(&"id".parse()?, &name.as_str().try_into()?, &"op".parse()?, Retention::Forever)
            .await?;
        ensure_matches!(recorded, Recorded::New(_), "a record in {name:?}");
        let created = store.token_store(&name.as_str().parse()?)?.create_tokens(&[TokenId::new("token")?]).await?;
        ensure_eq!(created.created, 1, "a token in {name:?}");
        let _ = store
            .counter(&name.as_str().parse()?, Strategy::default())?
            .apply(&"key".parse()?, &Change::new("op".parse()?, 1))
            .await?;
        let ordered = store.ordered_store(&name.as_str().parse()?, OrderedOptions::sequence())?;
        ensure_eq!(
            ordered.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(1, "w".parse()?)).await?,
            Written::Applied,
            "a value in {name:?}"
        );
    }
    let client = world.client().await?;
    for name in &names {
        ensure_eq!(client.item_bank(&name.as_str().parse()?)?.counts().await?.total(), 1, "items in the bank {name:?}");
        let value = client.counter(&name.as_str().parse()?, Strategy::default())?.value(&Key::new("key")?).await?;
        ensure_eq!(value, 1, "the counter in {name:?}");
    }
    Ok(())
}

//! S-3: which namespaces are the same, and which share nothing.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, Begun, Change, ClaimId, Commit, Committed, Completed, Counter, DedupId, DedupRepo, EntityChange,
    EntityLedger, EntryId, Hold, Item, Joins, Key, MessageId, OpId, Opened, OrderedOptions, OrderedStore, Payload,
    Recorded, Retention, Stamp, Strategy, TokenId, TokenStore, Written,
};

use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::race::{answered, race};
use crate::values::nasty_texts;
use crate::world::{World, items};

/// Counts what the namespaces with this name hold: items, records, tokens, the counter's value at `key`, and ordered
/// values.
async fn holdings(store: &dyn Backend, name: &str) -> Result<[i64; 5], Failure> {
    let items = store.item_bank(&name.parse()?)?.counts().await?.total();
    let records = store.dedup_repo(&name.parse()?)?.list(None, 1_000).await?.entries.len();
    let token = store.token_store(&name.parse()?)?.exists(&TokenId::new("key")?).await?;
    let counter = store.counter(&name.parse()?, Strategy::default())?.value(&Key::new("key")?).await?;
    let ordered =
        store.ordered_store(&name.parse()?, OrderedOptions::sequence())?.list(None, None, 1_000).await?.entries.len();
    Ok([items as i64, records as i64, i64::from(token), counter, ordered as i64])
}

/// Puts one entry into the namespace of one kind.
async fn fill(store: &dyn Backend, name: &str, kind: usize) -> Verdict {
    match kind {
        0 => store.item_bank(&name.parse()?)?.add(&[Item::new("key")?]).await.map(drop)?,
        1 => store
            .dedup_repo(&name.parse()?)?
            .record(&"key".parse()?, &"value".try_into()?, &"op".parse()?, Retention::Forever)
            .await
            .map(drop)?,
        2 => store.token_store(&name.parse()?)?.create_tokens(&["key".parse()?]).await.map(drop)?,
        3 => store
            .counter(&name.parse()?, Strategy::default())?
            .apply(&"key".parse()?, &Change::new("op".parse()?, 1))
            .await
            .map(drop)?,
        _ => {
            let ordered = store.ordered_store(&name.parse()?, OrderedOptions::sequence())?;
            ordered.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(1, "op".parse()?)).await.map(drop)?;
        }
    }
    Ok(())
}

pub(super) async fn namespaces_of_different_kinds_share_nothing(world: &World) -> Verdict {
    for name in ["same", "key", "bank", "records", "tokens", "counters", "ordered"] {
        let mut expected = [0; 5];
        for kind in 0..5 {
            fill(&**world.store(), name, kind).await?;
            expected[kind] = 1;
            ensure_eq!(holdings(&**world.store(), name).await?, expected, "what the namespaces {name:?} hold");
        }
    }
    Ok(())
}

pub(super) async fn namespaces_of_different_names_share_nothing(world: &World) -> Verdict {
    let store = &**world.store();
    for kind in 0..5 {
        fill(store, "one", kind).await?;
    }
    ensure_eq!(holdings(store, "one").await?, [1; 5], "what the namespaces of one name hold");
    for other in ["two", "on", "one1", "One", "one "] {
        ensure_eq!(holdings(store, other).await?, [0; 5], "what the namespaces {other:?} hold");
    }
    store.item_bank(&"two".parse()?)?.add(&items(3)?).await?;
    let _ = store.item_bank(&"two".parse()?)?.take(&ClaimId::new("ada")?, Hold::Forever).await?;
    store.token_store(&"two".parse()?)?.discard(&[TokenId::new("key")?]).await?;
    let _ = store
        .ordered_store(&"two".parse()?, OrderedOptions::sequence())?
        .delete(&"key".parse()?, &Stamp::new(9, "op".parse()?))
        .await?;
    ensure_eq!(holdings(store, "one").await?, [1; 5], "what the namespaces of one name hold after the other's changes");
    Ok(())
}

pub(super) async fn handles_of_one_name_share_one_namespace(world: &World) -> Verdict {
    let other = world.client().await?;
    for kind in 0..5 {
        fill(&**world.store(), "shared", kind).await?;
    }
    for store in [&**world.store(), &*other] {
        ensure_eq!(holdings(store, "shared").await?, [1; 5], "what another handle sees");
    }
    let (here, there) = (world.store().item_bank(&"shared".parse()?)?, other.item_bank(&"shared".parse()?)?);
    let claim = ClaimId::new("ada")?;
    let taken = here.take(&claim, Hold::Forever).await?;
    let again = there.take(&claim, Hold::Forever).await?;
    ensure_eq!(again.item(), taken.item(), "the item by another client");
    let _ = there.release(&claim).await?;
    ensure_eq!(here.counts().await?.free, 1, "free items after the other client's release");
    Ok(())
}

pub(super) async fn records_and_leases_of_one_name_are_one(world: &World) -> Verdict {
    let (records, leases) = (world.dedup()?, world.leases()?);
    let (id, op, hour) = (DedupId::new("id")?, OpId::new("op")?, Duration::from_secs(3_600));
    let begun = leases.begin(&id, &op, hour, None).await?;
    let lease = ensure_matches!(begun, Begun::Started(lease) => lease, "beginning");
    let during = records.record(&"id".parse()?, &"value".try_into()?, &"other".parse()?, Retention::Forever).await?;
    ensure_matches!(during, Recorded::InFlight { .. }, "a record during the lease");
    ensure_eq!(records.get(&id).await?, None, "a lease that has no result is no record");
    let completed = leases.complete(&lease, &Payload::try_from("result")?, Retention::Forever).await?;
    let entry = ensure_matches!(completed, Completed::Completed(entry) => entry, "completing");
    ensure_eq!(records.get(&id).await?, Some(entry), "the result as a record");
    let _ = records.record(&"recorded".parse()?, &"value".try_into()?, &"op".parse()?, Retention::Forever).await?;
    let done = leases.begin(&DedupId::new("recorded")?, &op, hour, None).await?;
    ensure_matches!(done, Begun::Done(entry) if entry.value.as_bytes() == b"value", "a record as a result");
    let elsewhere = world.store().lease_repo(&"others".parse()?)?.begin(&id, &op, hour, None).await?;
    ensure_matches!(elsewhere, Begun::Started(_), "the same id in the leases of another name");
    Ok(())
}

pub(super) async fn names_alike_are_different_namespaces(world: &World) -> Verdict {
    let (store, names) = (world.store(), nasty_texts());
    for (number, name) in names.iter().enumerate() {
        fill(&**store, name, number % 5).await?;
    }
    for (number, name) in names.iter().enumerate() {
        let mut expected = [0; 5];
        expected[number % 5] = 1;
        ensure_eq!(holdings(&**store, name).await?, expected, "what the namespaces {name:?} hold");
    }
    Ok(())
}

/// A listing shows only its own namespace, among namespaces whose names are prefixes of others or contain characters of
/// patterns.
pub(super) async fn a_listing_shows_its_own_namespace_alone(world: &World) -> Verdict {
    let store = world.store();
    let names = ["a", "a%", "a_", "a*", "ab", "a:", "a:b", "A", "a\\", "?", "[ab]", "%", "*"];
    for (count, name) in (1..).zip(names) {
        for number in 0..count {
            store.item_bank(&name.parse()?)?.add(&[Item::new(format!("{number}"))?]).await?;
            let _ = store
                .dedup_repo(&name.parse()?)?
                .record(&format!("{number}").parse()?, &"value".try_into()?, &"op".parse()?, Retention::Forever)
                .await?;
            let ordered = store.ordered_store(&name.parse()?, OrderedOptions::sequence())?;
            let _ =
                ordered.put(&format!("{number}").parse()?, &"value".try_into()?, &Stamp::new(1, "w".parse()?)).await?;
        }
    }
    for (count, name) in (1..).zip(names) {
        let (bank, records) = (store.item_bank(&name.parse()?)?, store.dedup_repo(&name.parse()?)?);
        let ordered = store.ordered_store(&name.parse()?, OrderedOptions::sequence())?;
        let listed = [
            bank.list(None, 100).await?.entries.len(),
            records.list(None, 100).await?.entries.len(),
            ordered.list(None, None, 100).await?.entries.len(),
        ];
        ensure_eq!(listed, [count; 3], "items, records and values listed of {name:?}");
        ensure_eq!(bank.counts().await?.total(), count as u64, "items counted of {name:?}");
    }
    Ok(())
}

/// Concurrent first calls, each through its own client, create one namespace that all clients share.
pub(super) async fn racing_first_calls_share_one_namespace(world: &World) -> Verdict {
    let mut clients = Vec::new();
    for _ in 0..8 {
        clients.push(world.client().await?);
    }
    for round in 0..world.profile().rounds {
        let name = format!("new-{round}");
        race(8, |number| {
            let (client, name) = (Arc::clone(&clients[number]), name.clone());
            async move { first_calls(&*client, &name, number).await }
        })
        .await?;
        let found = holdings(&**world.store(), &name).await?;
        ensure_eq!(found, [8, 8, 1, 8, 8], "what eight first callers put into the namespaces of {name}");
    }
    Ok(())
}

async fn first_calls(store: &dyn Backend, name: &str, number: usize) -> Verdict {
    let (name, text) = (name.parse()?, format!("caller-{number}"));
    let (items, id, op, value) = ([Item::new(&*text)?], text.parse()?, "op".parse()?, "value".try_into()?);
    let (bank, records, tokens) = (store.item_bank(&name)?, store.dedup_repo(&name)?, store.token_store(&name)?);
    ensure_eq!(answered(|| bank.add(&items)).await?.added, 1, "an item added");
    let recorded = answered(|| records.record(&id, &value, &op, Retention::Forever)).await?;
    ensure_matches!(recorded, Recorded::New(_), "a record");
    let (key, token) = ("key".parse()?, ["key".parse()?]);
    answered(|| tokens.create_tokens(&token)).await?;
    let (counter, change) = (store.counter(&name, Strategy::default())?, Change::new(text.parse()?, 1));
    let _ = answered(|| counter.apply(&key, &change)).await?;
    let (ordered, stamp) = (store.ordered_store(&name, OrderedOptions::sequence())?, Stamp::new(1, "w".parse()?));
    let key = text.parse()?;
    ensure_eq!(answered(|| ordered.put(&key, &value, &stamp)).await?, Written::Applied, "a put of a value");
    Ok(())
}

pub(super) async fn entities_of_different_names_share_nothing(world: &World) -> Verdict {
    let open = |name: &str| world.store().entity_ledger(&name.parse()?, &Joins::default());
    let (key, message, one) = (Key::new("entity")?, MessageId::new("message")?, open("one")?);
    let commit = Commit {
        key: key.clone(),
        message: message.clone(),
        opened: None,
        change: EntityChange::Put("state".try_into()?),
        attempt: OpId::new("op")?,
        entry: Some(Payload::default()),
        consume: None,
        create: vec![],
    };
    ensure_eq!(one.commit(&commit).await?, Committed::Committed, "a commit");
    let entry = EntryId { key: key.clone(), message: message.clone(), commit: commit.attempt };
    for other in ["two", "on", "one1", "One", "one "] {
        let other = open(other)?;
        ensure_eq!(other.open(&key, &message, None).await?, Opened::default(), "the entity of another name");
        ensure_eq!(other.pending(None, 9).await?.entries, vec![], "the entries of another name");
        ensure!(!other.remove(&entry).await?, "the entry is removed under another name");
    }
    let there = world.client().await?.entity_ledger(&"one".parse()?, &Joins::default())?;
    ensure_eq!(there.pending(None, 9).await?.entries, vec![entry], "what another client lists");
    Ok(())
}

//! Every call of every part, with ids of one name.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use storagebox_core::{
    Backend, Begun, Change, ClaimId, Commit, Counter, DedupId, DedupRepo, EntityChange, EntityLedger, EntryId, Error,
    ErrorKind, Fence, Hold, Item, ItemBank, Joins, Key, Lease, LeaseRepo, OpId, OrderedOptions, OrderedStore, Payload,
    Recorded, Replaced, Result, Retention, Stamp, Strategy, TokenId, TokenStore, Version, WriterId,
};

use super::HOUR;
use super::corruption::{Call, call};

/// The names of the calls that change nothing.
pub const LOOKS: [&str; 8] = ["counts", "exists", "get", "holder", "list", "open", "pending", "value"];

/// Returns every call of every part, in an order in which each call has an effect. The name of a call is the name that
/// its errors show.
pub fn all(store: &dyn Backend, namespace: &str, id: &str) -> Result<Vec<Call>> {
    let parts = [of_bank, of_records, of_leases, of_tokens, of_entities, of_counters, of_ordered_values];
    parts
        .iter()
        .map(|of_part| of_part(store, namespace, id))
        .collect::<Result<Vec<_>>>()
        .map(|parts| parts.into_iter().flatten().collect())
}

/// Makes every call once. All calls succeed.
pub async fn make_all(store: &dyn Backend, namespace: &str) -> Result<()> {
    for call in all(store, namespace, "first")? {
        call.make().await?;
    }
    Ok(())
}

/// Makes every call of every part, `maintain` and `ping`, and returns the error of each.
async fn errors_without_setup(store: &dyn Backend, namespace: &str) -> Result<Vec<(String, Option<Error>)>> {
    // New ids each time, so that each call has an effect.
    static TIMES: AtomicU64 = AtomicU64::new(0);
    let (id, mut errors) = (format!("id-{}", TIMES.fetch_add(1, SeqCst)), vec![]);
    for call in all(store, namespace, &id)? {
        let made = call.make().await;
        errors.push((call.name, made.err()));
    }
    errors.push(("maintain".to_owned(), store.maintain(10).await.err()));
    errors.push(("ping".to_owned(), store.ping().await.err()));
    Ok(errors)
}

/// Makes every call of every part and of the store, and returns the error of each.
pub async fn errors(store: &dyn Backend, namespace: &str) -> Result<Vec<(String, Option<Error>)>> {
    let mut errors = errors_without_setup(store, namespace).await?;
    errors.push(("setup".to_owned(), store.setup().await.err()));
    Ok(errors)
}

/// Checks that every call of every part, `maintain` and `ping` fail with an error of this kind, and that each error
/// names its call.
pub async fn are_refused(store: &dyn Backend, kind: ErrorKind) -> Result<()> {
    for (call, error) in errors_without_setup(store, "namespace").await? {
        let error = error.unwrap_or_else(|| panic!("{call} succeeded"));
        let found = (error.kind(), error.operation(), error.backend().is_some());
        assert_eq!(found, (kind, Some(&*call), true), "{error}");
    }
    Ok(())
}

/// Checks that `setup` and `ping` fail with an error of this kind, and that the error contains the text `because`.
pub async fn setup_is_refused(store: &dyn Backend, kind: ErrorKind, because: &str) {
    for error in [store.setup().await.expect_err(because), store.ping().await.expect_err(because)] {
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(because), "{error}");
    }
}

fn of_bank(store: &dyn Backend, namespace: &str, id: &str) -> Result<Vec<Call>> {
    let (bank, ada, bob) =
        (store.item_bank(&namespace.parse()?)?, ClaimId::new(id)?, ClaimId::new(format!("{id}-bob"))?);
    let items = (0..3).map(|number| Item::new(format!("{id}-{number}"))).collect::<Result<Vec<_>>>()?;
    Ok(vec![
        call!("add", [bank, items], bank.add(&items)),
        call!("take", [bank, ada], bank.take(&ada, Hold::For(HOUR))),
        call!("take", [bank, ada], bank.take(&ada, Hold::For(HOUR))),
        call!("extend", [bank, ada], bank.extend(&ada, Hold::For(2 * HOUR))),
        call!("confirm", [bank, ada], bank.confirm(&ada)),
        call!("get", [bank, ada], bank.get(&ada)),
        call!("release", [bank, bob], bank.release(&bob)),
        call!("counts", [bank], bank.counts()),
        call!("holder", [bank, items], bank.holder(&items[0])),
        call!("list", [bank], bank.list(None, 10)),
        call!("withdraw", [bank, items], bank.withdraw(&items)),
        call!("restore", [bank, items], bank.restore(&items)),
        call!("retire", [bank, bob], bank.retire(&bob)),
    ])
}

fn of_records(store: &dyn Backend, namespace: &str, id: &str) -> Result<Vec<Call>> {
    let (records, id, op, value) =
        (store.dedup_repo(&namespace.parse()?)?, DedupId::new(id)?, OpId::new(id)?, Payload::try_from(id)?);
    // The version of the record, as far as it is known.
    let known = Arc::new(AtomicU64::new(1));
    Ok(vec![
        call!("record", [records, id, op, value, known], async {
            match records.record(&id, &value, &op, Retention::Forever).await? {
                Recorded::New(version) => known.store(version.number(), SeqCst),
                Recorded::Again(entry) => known.store(entry.version.number(), SeqCst),
                _ => {}
            }
            Ok::<_, Error>(())
        }),
        call!("get", [records, id], records.get(&id)),
        call!("replace", [records, id, op, value, known], async {
            let replaced = records.replace(&id, Version::new(known.load(SeqCst)), &value, &op).await?;
            if let Replaced::Replaced(version) = replaced {
                known.store(version.number(), SeqCst);
            }
            Ok::<_, Error>(())
        }),
        call!("list", [records], records.list(None, 10)),
        call!("forget", [records, id, known], records.forget(&id, Version::new(known.load(SeqCst)))),
    ])
}

fn of_leases(store: &dyn Backend, namespace: &str, id: &str) -> Result<Vec<Call>> {
    let (leases, op, mut calls) = (store.lease_repo(&namespace.parse()?)?, OpId::new(id)?, vec![]);
    for end in ["complete", "abort"] {
        let (id, result) = (DedupId::new(format!("{id}-{end}"))?, Payload::try_from("result")?);
        // The number of the lease, as far as it is known.
        let known = Arc::new(AtomicU64::new(1));
        let lease = |known: &AtomicU64, id: &DedupId, op: &OpId| Lease {
            id: id.clone(),
            op: op.clone(),
            fence: Fence::new(known.load(SeqCst)),
        };
        calls.push(call!("begin", [leases, id, op, known], async {
            if let Begun::Started(lease) = leases.begin(&id, &op, HOUR, None).await? {
                known.store(lease.fence.number(), SeqCst);
            }
            Ok::<_, Error>(())
        }));
        calls.push(call!("extend", [leases, id, op, known], leases.extend(&lease(&known, &id, &op), 2 * HOUR)));
        calls.push(match end {
            "abort" => call!("abort", [leases, id, op, known], leases.abort(&lease(&known, &id, &op))),
            _ => call!(
                "complete",
                [leases, id, op, known, result],
                leases.complete(&lease(&known, &id, &op), &result, Retention::Forever)
            ),
        });
    }
    Ok(calls)
}

fn of_tokens(store: &dyn Backend, namespace: &str, id: &str) -> Result<Vec<Call>> {
    let (tokens, op, mut all) = (store.token_store(&namespace.parse()?)?, OpId::new(id)?, vec![]);
    // The commit in `of_entities` consumes the token `in`.
    for name in ["one", "other", "in"] {
        all.push(TokenId::new(format!("{id}-{name}"))?);
    }
    Ok(vec![
        call!("create", [tokens, all], tokens.create_tokens(&all)),
        call!("exists", [tokens, all], tokens.exists(&all[0])),
        call!("consume", [tokens, all, op], tokens.consume(&all[0], &op)),
        call!("discard", [tokens, all], tokens.discard(&all[..2])),
    ])
}

fn of_entities(store: &dyn Backend, namespace: &str, id: &str) -> Result<Vec<Call>> {
    let joins = Joins { incoming: Some(namespace.parse()?), outgoing: Some(namespace.parse()?) };
    let (entities, token) = (store.entity_ledger(&namespace.parse()?, &joins)?, TokenId::new(format!("{id}-in"))?);
    let (entry, other) = (EntryId { key: id.parse()?, message: id.parse()?, commit: id.parse()? }, OpId::new("other")?);
    let commit = Commit {
        key: entry.key.clone(),
        message: entry.message.clone(),
        opened: None,
        change: EntityChange::Put("state".try_into()?),
        attempt: entry.commit.clone(),
        entry: Some("content".try_into()?),
        consume: Some(token.clone()),
        create: vec![TokenId::new(format!("{id}-out"))?],
    };
    Ok(vec![
        call!("commit", [entities, commit], entities.commit(&commit)),
        call!("open", [entities, entry, token], entities.open(&entry.key, &entry.message, Some(&token))),
        call!("register", [entities, entry, other], entities.register(&entry, &other)),
        call!("choose", [entities, entry], entities.choose(&entry, &entry.commit)),
        call!("pending", [entities], entities.pending(None, 10)),
        call!("remove", [entities, entry], entities.remove(&entry)),
    ])
}

fn of_counters(store: &dyn Backend, namespace: &str, id: &str) -> Result<Vec<Call>> {
    let (counters, key) = (store.counter(&namespace.parse()?, Strategy::default())?, Key::new(id)?);
    let (change, fenced) = (Change::new(OpId::new(id)?, 1), OpId::new(format!("{id}-fenced"))?);
    Ok(vec![
        call!("apply", [counters, key, change], counters.apply(&key, &change)),
        call!("value", [counters, key], counters.value(&key)),
        call!("cancel", [counters, key, fenced], counters.cancel(&key, &fenced)),
    ])
}

fn of_ordered_values(store: &dyn Backend, namespace: &str, id: &str) -> Result<Vec<Call>> {
    let values = store.ordered_store(&namespace.parse()?, OrderedOptions::sequence())?;
    let (key, value, writer) = (Key::new(id)?, Payload::try_from(id)?, WriterId::new("ada")?);
    let (put, deleted) = (Stamp::new(1, writer.clone()), Stamp::new(2, writer));
    Ok(vec![
        call!("put", [values, key, value, put], values.put(&key, &value, &put)),
        call!("get", [values, key], values.get(&key)),
        call!("delete", [values, key, deleted], values.delete(&key, &deleted)),
        call!("list", [values], values.list(None, None, 10)),
        call!("reset", [values, key, deleted], values.reset(&key, &deleted)),
        call!("purge", [values], values.purge(Duration::ZERO, 10)),
    ])
}

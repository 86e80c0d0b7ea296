//! V-2: every text of every argument except the name of a new row.

use std::slice;
use std::time::Duration;

use storagebox_core::{
    Aborted, Begun, Cancelled, Change, Chosen, ClaimId, ClaimState, Commit, Committed, Completed, Confirmed, Counted,
    Counter, DedupId, DedupRepo, End, EntityChange, EntityLedger, EntryId, Extended, Fingerprint, Forgotten, Hold,
    Item, ItemBank, ItemState, Joins, Key, Lease, LeaseExtended, LeaseRepo, MessageId, OpId, OrderedOptions,
    OrderedStore, Payload, Recorded, Registered, Released, Replaced, Reset, Retention, Retired, Stamp, Strategy,
    TokenId, TokenStore, Version, WriterId, Written,
};

use super::pool::{nasty_items, nasty_texts, pairs};
use super::texts::as_values;
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::pages::Listing;
use crate::world::World;

const LONG: Duration = Duration::from_secs(3_600);
const FOREVER: Retention = Retention::Forever;

fn value() -> storagebox_core::Result<Payload> {
    Payload::try_from("value")
}

pub(super) async fn every_call_of_a_nasty_claim_is_its_own(world: &World) -> Verdict {
    let claims = as_values::<ClaimId>(nasty_texts())?;
    let (bank, mut items) = (world.filled(claims.len()).await?, vec![]);
    for claim in &claims {
        items.extend(bank.take(claim, Hold::Forever).await?.item().cloned());
    }
    ensure_eq!(items.len(), claims.len(), "items taken");
    for (claim, item) in claims.iter().zip(&items) {
        let extended = bank.extend(claim, Hold::Forever).await?;
        ensure_matches!(extended, Extended::Extended(held) if held.item == *item, "extending {claim:?}");
    }
    for (number, (claim, item)) in claims.iter().zip(&items).enumerate() {
        if number % 2 == 0 {
            ensure_eq!(bank.release(claim).await?, Released::Released, "releasing {claim:?}");
            ensure_eq!(bank.holder(item).await?, ItemState::Free, "the item of {claim:?}");
            let late = bank.confirm(claim).await?;
            ensure_eq!(late, Confirmed::Ended(End::Released), "confirming {claim:?}, which is released");
        } else {
            ensure_eq!(bank.confirm(claim).await?, Confirmed::Confirmed(item.clone()), "confirming {claim:?}");
            ensure_eq!(bank.release(claim).await?, Released::Confirmed, "releasing {claim:?}, which is confirmed");
        }
    }
    for (number, (claim, item)) in claims.iter().zip(&items).enumerate() {
        let state = bank.get(claim).await?;
        if number % 2 == 0 {
            ensure_eq!(state, ClaimState::Ended(End::Released), "{claim:?}");
        } else {
            ensure_matches!(state, ClaimState::Held(held) if held.item == *item, "{claim:?}");
        }
    }
    for (number, claim, next) in pairs(&claims) {
        ensure_eq!(bank.retire(claim).await?, Retired::Retired, "retiring {claim:?}");
        ensure_eq!(bank.get(claim).await?, ClaimState::Unknown, "{claim:?} after that");
        if number + 1 < claims.len() {
            ensure!(
                bank.get(next).await? != ClaimState::Unknown,
                "{next:?} is forgotten, and only {claim:?} was retired"
            );
        }
    }
    Ok(())
}

pub(super) async fn every_call_of_a_nasty_item_is_its_own(world: &World) -> Verdict {
    let (bank, items) = (world.bank()?, as_values::<Item>(nasty_items())?);
    bank.add(&items).await?;
    for (number, item, next) in pairs(&items) {
        ensure_eq!(bank.withdraw(slice::from_ref(item)).await?.withdrawn, 1, "items withdrawn");
        ensure_eq!(bank.holder(item).await?, ItemState::Withdrawn, "the state of {:?}", item.as_str());
        if number + 1 < items.len() {
            ensure_eq!(bank.holder(next).await?, ItemState::Free, "the state of {:?}", next.as_str());
        }
    }
    for (number, item, next) in pairs(&items) {
        ensure_eq!(bank.restore(slice::from_ref(item)).await?.restored, 1, "items restored");
        ensure_eq!(bank.holder(item).await?, ItemState::Free, "the state of {:?}", item.as_str());
        if number + 1 < items.len() {
            ensure_eq!(bank.holder(next).await?, ItemState::Withdrawn, "the state of {:?}", next.as_str());
        }
    }
    Ok(())
}

async fn recorded(records: &dyn DedupRepo, id: &DedupId, op: &OpId) -> Result<Version, Failure> {
    let recorded = records.record(id, &value()?, op, FOREVER).await?;
    Ok(ensure_matches!(recorded, Recorded::New(version) => version, "recording {id:?}"))
}

pub(super) async fn nasty_operations_of_replacements_stay_different(world: &World) -> Verdict {
    let (records, ops) = (world.dedup()?, as_values::<OpId>(nasty_texts())?);
    for (number, op, next) in pairs(&ops) {
        let id = DedupId::new(format!("id-{number}"))?;
        let version = recorded(&*records, &id, &"first".parse()?).await?;
        let replaced = records.replace(&id, version, &value()?, op).await?;
        ensure_matches!(replaced, Replaced::Replaced(_), "replacing as {op:?}");
        let other = records.replace(&id, version, &value()?, next).await?;
        ensure_matches!(other, Replaced::Stale(_), "replacing as {next:?} after {op:?}");
        let again = records.replace(&id, version, &value()?, op).await?;
        ensure_matches!(again, Replaced::Again(_), "replacing as {op:?} again");
    }
    Ok(())
}

pub(super) async fn nasty_ids_are_forgotten_alone(world: &World) -> Verdict {
    let (records, ids, op) = (world.dedup()?, as_values::<DedupId>(nasty_texts())?, OpId::new("op")?);
    let mut versions = vec![];
    for id in &ids {
        versions.push(recorded(&*records, id, &op).await?);
    }
    for (number, id, _) in pairs(&ids) {
        let replaced = records.replace(id, versions[number], &value()?, &"another".parse()?).await?;
        versions[number] = ensure_matches!(replaced, Replaced::Replaced(version) => version, "replacing {id:?}");
    }
    for (number, id, next) in pairs(&ids) {
        ensure_eq!(records.forget(id, versions[number]).await?, Forgotten::Forgotten, "forgetting {id:?}");
        ensure_eq!(records.record(id, &value()?, &op, FOREVER).await?, Recorded::Fenced, "a late copy of {id:?}");
        if number + 1 < ids.len() {
            ensure!(records.get(next).await?.is_some(), "{next:?} is gone, and only {id:?} was forgotten");
        }
    }
    Ok(())
}

async fn begun(leases: &dyn LeaseRepo, id: &DedupId, op: &OpId, of: Option<&Fingerprint>) -> Result<Lease, Failure> {
    let begun = leases.begin(id, op, LONG, of).await?;
    Ok(ensure_matches!(begun, Begun::Started(lease) => lease, "beginning {id:?} as {op:?}"))
}

pub(super) async fn every_call_of_a_nasty_lease_is_its_own(world: &World) -> Verdict {
    let (leases, texts) = (world.leases()?, nasty_texts());
    let mut begun_ones = vec![];
    for text in &texts {
        let (id, op) = (DedupId::new(text.as_str())?, OpId::new(text.as_str())?);
        begun_ones.push(begun(&*leases, &id, &op, None).await?);
    }
    for (number, lease, next) in pairs(&begun_ones) {
        ensure_eq!(leases.extend(lease, LONG).await?, LeaseExtended::Extended, "extending {:?}", lease.id);
        let stranger = Lease { op: next.op.clone(), ..lease.clone() };
        let completed = leases.complete(&stranger, &value()?, FOREVER).await?;
        ensure_eq!(completed, Completed::Fenced, "completing {:?} as {:?}", lease.id, next.op);
        ensure_eq!(leases.abort(&stranger).await?, Aborted::Fenced, "aborting {:?} as {:?}", lease.id, next.op);
        if number % 2 == 0 {
            ensure_eq!(leases.abort(lease).await?, Aborted::Aborted, "aborting {:?}", lease.id);
            let late = leases.begin(&lease.id, &lease.op, LONG, None).await?;
            ensure_eq!(late, Begun::Fenced, "beginning {:?} again", lease.id);
            begun(&*leases, &lease.id, &next.op, None).await?;
        } else {
            let completed = leases.complete(lease, &value()?, FOREVER).await?;
            ensure_matches!(completed, Completed::Completed(_), "completing {:?}", lease.id);
        }
    }
    Ok(())
}

/// An id keeps the fingerprint of its lease after the result is recorded, and after the lease has lapsed.
pub(super) async fn nasty_fingerprints_are_kept_by_what_follows(world: &World) -> Verdict {
    let (leases, op) = (world.leases()?, OpId::new("op")?);
    let prints = as_values::<Fingerprint>(nasty_texts())?;
    for (number, print, _) in pairs(&prints) {
        let lease = begun(&*leases, &DedupId::new(format!("done-{number}"))?, &op, Some(print)).await?;
        let _ = leases.complete(&lease, &value()?, FOREVER).await?;
        let lapsing = DedupId::new(format!("lapsed-{number}"))?;
        let _ = leases.begin(&lapsing, &op, world.short(), Some(print)).await?;
    }
    world.pass(world.short()).await;
    for (number, print, next) in pairs(&prints) {
        for name in ["done", "lapsed"] {
            let id = DedupId::new(format!("{name}-{number}"))?;
            let other = leases.begin(&id, &"other".parse()?, LONG, Some(next)).await?;
            ensure_eq!(other, Begun::Mismatch, "{next:?} after {print:?} of an id that is {name}");
            let same = leases.begin(&id, &"other".parse()?, LONG, Some(print)).await?;
            ensure!(matches!(same, Begun::Done(_) | Begun::Started(_)), "{print:?} of an id that is {name}: {same:?}");
        }
    }
    Ok(())
}

pub(super) async fn nasty_tokens_are_discarded_alone(world: &World) -> Verdict {
    let (store, tokens) = (world.tokens()?, as_values::<TokenId>(nasty_texts())?);
    store.create_tokens(&tokens).await?;
    for (number, token, next) in pairs(&tokens) {
        ensure_eq!(store.discard(slice::from_ref(token)).await?.discarded, 1, "tokens discarded");
        ensure!(!store.exists(token).await?, "{token:?} exists after it was discarded");
        if number + 1 < tokens.len() {
            ensure!(store.exists(next).await?, "{next:?} is gone, and only {token:?} was discarded");
        }
    }
    ensure_eq!(store.create_tokens(&tokens).await?.gone, tokens.len() as u64, "tokens that are gone");
    Ok(())
}

pub(super) async fn nasty_operations_are_cancelled_alone(world: &World) -> Verdict {
    let (counter, ops) = (world.counter(Strategy::default())?, as_values::<OpId>(nasty_texts())?);
    for (_, op, next) in pairs(&ops) {
        let key = Key::new(op.as_str())?;
        ensure_eq!(counter.cancel(&key, op).await?, Cancelled::Cancelled, "cancelling {op:?}");
        ensure_eq!(counter.apply(&key, &Change::new(op.clone(), 1)).await?, Counted::Fenced, "{op:?} after that");
        let other = counter.apply(&key, &Change::new(next.clone(), 1)).await?;
        ensure_matches!(other, Counted::Applied { .. }, "{next:?} where {op:?} was cancelled");
    }
    Ok(())
}

pub(super) async fn every_call_of_a_nasty_key_is_its_own(world: &World) -> Verdict {
    let ordered = world.ordered(OrderedOptions::sequence())?;
    let (keys, writers) = (as_values::<Key>(nasty_texts())?, as_values::<WriterId>(nasty_texts())?);
    for (key, writer) in keys.iter().zip(&writers) {
        let _ = ordered.put(key, &value()?, &Stamp::new(1, writer.clone())).await?;
    }
    let shown = |prefix: &Key| {
        keys.iter()
            .filter(|key| key.as_str().starts_with(prefix.as_str()))
            .map(|key| key.as_str().to_owned())
            .collect::<Vec<_>>()
    };
    for prefix in &keys {
        Listing::Values(&*ordered, Some(prefix)).ensure_shows(shown(prefix), &[1_000]).await?;
    }
    for (number, key, next) in pairs(&keys) {
        let (mine, others) = (&writers[number], &writers[(number + 1) % writers.len()]);
        let stale = ordered.reset(key, &Stamp::new(1, others.clone())).await?;
        ensure_matches!(stale, Reset::Stale { .. }, "a reset in the name of {others:?} of a value of {mine:?}");
        let early = ordered.delete(key, &Stamp::new(0, mine.clone())).await?;
        ensure_matches!(early, Written::Stale { .. }, "a delete of {key:?} that is older than its value");
        if number % 2 == 0 {
            ensure_eq!(ordered.reset(key, &Stamp::new(1, mine.clone())).await?, Reset::Reset, "a reset of {key:?}");
        } else {
            let deleted = ordered.delete(key, &Stamp::new(2, mine.clone())).await?;
            ensure_eq!(deleted, Written::Applied, "a delete of {key:?}");
        }
        ensure!(ordered.get(key).await?.is_none(), "{key:?} is there after its end");
        if number + 1 < keys.len() {
            ensure!(ordered.get(next).await?.is_some(), "{next:?} is gone, and only {key:?} was ended");
        }
    }
    Ok(())
}

/// Each text is used as an attempt of one entry and as the commit by which an entry is removed. The store confuses no
/// two texts.
pub(super) async fn nasty_attempts_stay_different(world: &World) -> Verdict {
    let (entities, attempts) = (world.entities(&Joins::default())?, as_values::<OpId>(nasty_texts())?);
    let (key, message) = (Key::new("entity")?, MessageId::new("message")?);
    let commit = Commit {
        key: key.clone(),
        message: message.clone(),
        opened: entities.open(&key, &message, None).await?.version,
        change: EntityChange::Put(value()?),
        attempt: attempts[0].clone(),
        entry: Some(value()?),
        consume: None,
        create: vec![],
    };
    ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "a commit");
    let entry = EntryId { key: key.clone(), message: message.clone(), commit: attempts[0].clone() };
    for (number, attempt, next) in pairs(&attempts) {
        let registered = entities.register(&entry, attempt).await?;
        ensure_eq!(registered, Registered::Registered, "registering {attempt:?}");
        if number + 1 < attempts.len() {
            ensure_eq!(entities.choose(&entry, next).await?, Chosen::Gone, "choosing {next:?} before it is registered");
            let other = EntryId { commit: next.clone(), ..entry.clone() };
            ensure!(!entities.remove(&other).await?, "the entry of {:?} is removed as that of {next:?}", attempts[0]);
        }
    }
    let kept = entities.open(&key, &message, None).await?.entry.map(|entry| entry.attempts);
    ensure_eq!(kept, Some(attempts.clone()), "the attempts that are kept");
    ensure!(entities.remove(&entry).await?, "the entry is not there");
    Ok(())
}

//! Writes one text into every field of every part, to test a text that a backend's store could misread.

use std::time::Duration;

use storagebox_core::{
    Backend, Begun, Change, ClaimId, ClaimState, Consumed, Counted, DedupId, DedupRepo, Fingerprint, Hold, Item,
    ItemBank, ItemState, Key, LeaseRepo, OpId, OrderedOptions, OrderedStore, Payload, Recorded, Retention, Stamp,
    Strategy, TokenId, TokenStore, WriterId, Written,
};

use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};

const HOUR: Duration = Duration::from_secs(3_600);

/// Writes the text into every field of every part, and checks that each field returns it byte for byte (V-2). The text
/// must be a valid namespace name that no other call on the same store has used.
///
/// The suite has its own texts. The author of a backend knows which others the store could misread: expressions,
/// separators of its keys, closing quotes.
///
/// # Cancel safety
///
/// Dropping the future leaves what was written.
///
/// # Errors
///
/// Returns a failure that names the first field that did not keep the text, and the text.
pub async fn keeps_text(store: &dyn Backend, text: &str) -> Result<(), Failure> {
    let all = async {
        bank(store, text).await?;
        records(store, text).await?;
        leases(store, text).await?;
        tokens(store, text).await?;
        counters(store, text).await?;
        ordered(store, text).await
    };
    all.await.map_err(|failure| failure.during(format!("{text:?}")))
}

async fn bank(store: &dyn Backend, text: &str) -> Verdict {
    let (bank, claim) = (store.item_bank(&text.parse()?)?, ClaimId::new(text)?);
    let items = [Item::new(text)?, Item::new(format!("{text}{text}"))?];
    ensure_eq!(bank.add(&items).await?.added, 2, "items added");
    bank.withdraw(&items[1..]).await?;
    let _ = bank.take(&claim, Hold::Forever).await?;
    let held = ensure_matches!(bank.get(&claim).await?, ClaimState::Held(held) => held, "the claim");
    ensure_eq!(held.item, items[0], "the item of the claim");
    ensure_eq!(bank.holder(&items[0]).await?, ItemState::Held(claim.clone()), "the holder of the item");
    let mut listed: Vec<_> = bank.list(None, 10).await?.entries.into_iter().map(|one| one.item).collect();
    listed.sort();
    ensure_eq!(listed, items, "the items of the bank");
    Ok(())
}

async fn records(store: &dyn Backend, text: &str) -> Verdict {
    let (records, id, op) = (store.dedup_repo(&text.parse()?)?, DedupId::new(text)?, OpId::new(text)?);
    let value = Payload::try_from(text)?;
    let _ = records.record(&id, &value, &op, Retention::Forever).await?;
    let again = records.record(&id, &value, &op, Retention::Forever).await?;
    ensure!(
        matches!(&again, Recorded::Again(entry) if entry.value == value),
        "a retry does not have the recorded value: {again:?}"
    );
    let other = records.record(&id, &value, &OpId::new("other")?, Retention::Forever).await?;
    ensure!(
        matches!(&other, Recorded::Existing(entry) if entry.value == value),
        "another operation does not have the recorded value: {other:?}"
    );
    let listed = records.list(None, 10).await?.entries;
    let is_it = listed.len() == 1 && listed[0].id == id && listed[0].entry.value == value;
    ensure!(is_it, "the listed records are not the recorded one: {listed:?}");
    Ok(())
}

async fn leases(store: &dyn Backend, text: &str) -> Verdict {
    let (leases, id, op) = (store.lease_repo(&"leases".parse()?)?, DedupId::new(text)?, OpId::new(text)?);
    let (print, another) = (Fingerprint::new(text)?, OpId::new("another")?);
    let begun = leases.begin(&id, &op, HOUR, Some(&print)).await?;
    let lease = ensure_matches!(begun, Begun::Started(lease) => lease, "the lease");
    let other = leases.begin(&id, &op, HOUR, Some(&Fingerprint::new("another")?)).await?;
    ensure_eq!(other, Begun::Mismatch, "another fingerprint");
    let _ = leases.complete(&lease, &Payload::try_from(text)?, Retention::Forever).await?;
    let done = leases.begin(&id, &another, HOUR, Some(&print)).await?;
    let is_done = matches!(&done, Begun::Done(entry) if entry.value.as_bytes() == text.as_bytes());
    ensure!(is_done, "the record does not have the completed value: {done:?}");
    Ok(())
}

async fn tokens(store: &dyn Backend, text: &str) -> Verdict {
    let (tokens, token, op) = (store.token_store(&text.parse()?)?, TokenId::new(text)?, OpId::new(text)?);
    ensure_eq!(tokens.create_tokens(std::slice::from_ref(&token)).await?.created, 1, "tokens created");
    ensure!(tokens.exists(&token).await?, "the token does not exist");
    ensure_eq!(tokens.consume(&token, &op).await?, Consumed::Now, "a consume");
    ensure_eq!(tokens.consume(&token, &op).await?, Consumed::Again, "its retry");
    ensure_eq!(tokens.consume(&token, &OpId::new("another")?).await?, Consumed::AlreadyGone, "another's");
    Ok(())
}

async fn counters(store: &dyn Backend, text: &str) -> Verdict {
    let (counters, key) = (store.counter(&text.parse()?, Strategy::default())?, Key::new(text)?);
    let change = Change::new(OpId::new(text)?, 7);
    let first = counters.apply(&key, &change).await?;
    ensure_matches!(first, Counted::Applied { value: None | Some(7) }, "a change");
    let again = counters.apply(&key, &change).await?;
    ensure_matches!(again, Counted::AlreadyApplied { value: None | Some(7) }, "the retry of a change");
    ensure_eq!(counters.value(&key).await?, 7, "the value");
    Ok(())
}

async fn ordered(store: &dyn Backend, text: &str) -> Verdict {
    let ordered = store.ordered_store(&text.parse()?, OrderedOptions::sequence())?;
    let (key, value) = (Key::new(text)?, Payload::try_from(text)?);
    let stamp = Stamp::new(1, WriterId::new(text)?);
    ensure_eq!(ordered.put(&key, &value, &stamp).await?, Written::Applied, "a put");
    let found = ordered.get(&key).await?;
    ensure_eq!(found.map(|found| (found.value, found.stamp)), Some((value.clone(), stamp)), "the value");
    let listed = ordered.list(Some(&key), None, 10).await?.entries;
    let is_it = listed.len() == 1 && listed[0].key == key && listed[0].versioned.value == value;
    ensure!(is_it, "the listed values are not the written one: {listed:?}");
    Ok(())
}

//! No key is large: moving a key to another node, or removing it, stops the server for as long as that takes.

use std::collections::BTreeSet;
use std::sync::Arc;

use redis::cmd;
use storagebox_core::{
    Backend, ClaimId, Hold, Item, ItemBank, ItemState, OpId, Released, Restored, Result, Taken, TokenId, TokenStore,
    Withdrawn,
};
use storagebox_testkit::redis::Settings;

use crate::scene::{at_once, with_place, with_server};
use crate::support::Place;

const MANY: usize = 20_000;
/// The largest allowed size of a key, in bytes.
const MOST: u64 = 128 * 1024;

fn items(range: std::ops::Range<usize>) -> Result<Vec<Item>> {
    range.map(|number| Item::new(format!("ITEM-{number:012}"))).collect()
}

fn tokens(range: std::ops::Range<usize>) -> Result<Vec<TokenId>> {
    range.map(|number| TokenId::new(format!("TOKEN-{number:012}"))).collect()
}

/// Returns the memory of the largest key on the server, and its name.
async fn largest(place: &Place) -> Result<(u64, String)> {
    let keys: Vec<String> = place.server.ask(cmd("KEYS").arg("*")).await?;
    let mut usages = redis::pipe();
    for key in &keys {
        usages.cmd("MEMORY").arg("USAGE").arg(key).arg("SAMPLES").arg(0);
    }
    let usages: Vec<u64> = place.server.ask_all(&usages).await?;
    Ok(usages.into_iter().zip(keys).max().unwrap_or_default())
}

#[test]
fn no_key_grows_with_its_namespace() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let store = place.store()?;
        store.token_store(&"namespace".parse()?)?.create_tokens(&tokens(0..MANY)?).await?;
        store.token_store(&"namespace".parse()?)?.discard(&tokens(0..MANY)?).await?;
        store.item_bank(&"namespace".parse()?)?.add(&items(0..MANY)?).await?;
        let (size, key) = largest(place).await?;
        assert!(size <= MOST, "{key} takes {size} bytes");
        Ok(())
    })
}

async fn take_one(bank: Arc<dyn ItemBank>, number: usize) -> Result<Item> {
    match bank.take(&ClaimId::new(format!("{number}"))?, Hold::Forever).await? {
        Taken::New(held) => Ok(held.item),
        other => panic!("{number} got none: {other:?}"),
    }
}

/// The store splits the long queue into several lists.
#[test]
fn a_queue_of_several_lists_loses_nothing() -> Result<()> {
    with_place(async |place| {
        let bank = place.store()?.item_bank(&"namespace".parse()?)?;
        bank.add(&items(0..3_000)?).await?;
        bank.add(&items(0..6_000)?).await?;
        let set_aside = items(1_000..2_500)?;
        assert_eq!(bank.withdraw(&set_aside).await?.withdrawn, 1_500);
        assert_eq!((bank.counts().await?.free, bank.counts().await?.withdrawn), (4_500, 1_500));
        let mut taken = BTreeSet::new();
        for thousand in 0..5 {
            // An item that is given back is at the end of the queue again.
            let passing = ClaimId::new(format!("{thousand}-passing"))?;
            let _ = bank.take(&passing, Hold::Forever).await?;
            assert_eq!(bank.release(&passing).await?, Released::Released);
            let takers = (thousand * 1_000..4_500).take(1_000).map(|number| take_one(Arc::clone(&bank), number));
            for item in at_once(takers).await? {
                assert!(taken.insert(item.clone()), "{item:?} was given twice");
            }
        }
        assert_eq!(bank.counts().await?.free, 0);
        let restored = bank.restore(&set_aside).await?;
        assert_eq!((restored.restored, bank.counts().await?.free), (1_500, 1_500));
        Ok(())
    })
}

/// Adds 256 fields to each bucket, without the library.
async fn fill_the_bucket_of(place: &Place, tag: &str, kind: &str) -> Result<()> {
    // The library would need a hundred thousand names for each bucket.
    let pattern = format!("{}:{kind}:*", place.key(tag));
    let keys: Vec<String> = place.server.ask(cmd("KEYS").arg(pattern)).await?;
    let mut fill = redis::pipe();
    for key in keys {
        fill.cmd("HSET").arg(key);
        for number in 0..256 {
            fill.arg(format!("FULL-{number}")).arg("");
        }
    }
    place.server.ask_all(&fill).await
}

async fn levels(place: &Place, tag: &str, fields: &[&str]) -> Result<Vec<Option<u32>>> {
    place.server.ask(cmd("HMGET").arg(place.key(tag)).arg(fields)).await
}

#[test]
fn claims_and_tokens_are_found_after_buckets_were_added() -> Result<()> {
    with_place(async |place| {
        let store = place.store()?;
        let (bank, namespace_) = (store.item_bank(&"namespace".parse()?)?, store.token_store(&"namespace".parse()?)?);
        bank.add(&items(0..300)?).await?;
        namespace_.create_tokens(&tokens(0..300)?).await?;
        namespace_.discard(&tokens(0..100)?).await?;
        for number in 0..100 {
            let _ = bank.take(&ClaimId::new(format!("{number}"))?, Hold::Forever).await?;
        }
        for (tag, fields) in [("b.namespace.0", ["i", "c"]), ("t.namespace.0", ["k", "k"])] {
            let mut set = cmd("HSET");
            set.arg(place.key(tag)).arg(fields[0]).arg(1).arg(fields[1]).arg(1);
            place.server.ask::<()>(&set).await?;
        }
        assert_eq!(bank.add(&items(0..600)?).await?.added, 300);
        for number in 0..200 {
            let taken = bank.take(&ClaimId::new(format!("{number}"))?, Hold::Forever).await?;
            assert_eq!(matches!(taken, Taken::Again(_)), number < 100, "{number}: {taken:?}");
        }
        assert_eq!((bank.counts().await?.free, bank.counts().await?.held), (400, 200));
        let in_use = Withdrawn { withdrawn: 400, in_use: 200, ..Withdrawn::default() };
        assert_eq!(bank.withdraw(&items(0..600)?).await?, in_use);
        let restored = Restored { restored: 400, not_withdrawn: 200, ..Restored::default() };
        assert_eq!(bank.restore(&items(0..600)?).await?, restored);
        let listed = bank.list(None, 1_000).await?;
        assert_eq!((listed.entries.len(), listed.next), (600, None));
        for item in items(0..600)? {
            assert_ne!(bank.holder(&item).await?, ItemState::Unknown);
        }
        let created = namespace_.create_tokens(&tokens(0..600)?).await?;
        assert_eq!((created.created, created.already_live, created.gone), (300, 200, 100));
        let gone = namespace_.consume(&tokens(150..151)?[0], &OpId::new("op")?).await?;
        assert_eq!(gone, storagebox_core::Consumed::Now);
        Ok(())
    })
}

#[test]
fn full_buckets_increase_the_number_of_buckets() -> Result<()> {
    with_place(async |place| {
        let store = place.store()?;
        let (bank, namespace_) = (store.item_bank(&"namespace".parse()?)?, store.token_store(&"namespace".parse()?)?);
        bank.add(&items(0..500)?).await?;
        namespace_.create_tokens(&tokens(0..500)?).await?;
        assert_eq!(levels(place, "b.namespace.0", &["i"]).await?, [None]);
        for (tag, kind) in [("b.namespace.0", "i"), ("t.namespace.0", "k")] {
            fill_the_bucket_of(place, tag, kind).await?;
        }
        // Many of these names are in a full bucket.
        bank.add(&items(500..16_000)?).await?;
        namespace_.create_tokens(&tokens(500..16_000)?).await?;
        assert_eq!(levels(place, "b.namespace.0", &["i"]).await?, [Some(1)]);
        assert_eq!(levels(place, "t.namespace.0", &["k"]).await?, [Some(1)]);
        assert_eq!(bank.counts().await?.free, 16_000);
        assert_eq!(namespace_.create_tokens(&tokens(0..16_000)?).await?.already_live, 16_000);
        Ok(())
    })
}

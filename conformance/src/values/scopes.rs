//! V-5: an id has a meaning only in its own scope.

use storagebox_core::{
    Backend, Change, ClaimId, Consumed, Counted, Counter, DedupRepo, Hold, Item, ItemBank, Key, OpId, OrderedOptions,
    OrderedStore, Recorded, Retention, Stamp, Strategy, Taken, TokenId, Written,
};

use crate::failure::{Failure, Verdict, ensure_eq, ensure_matches};
use crate::world::{World, items};

pub(super) async fn a_claim_is_one_per_bank(world: &World) -> Verdict {
    let (one, two) = (world.store().item_bank(&"one".parse()?)?, world.store().item_bank(&"two".parse()?)?);
    one.add(&[Item::new("1")?]).await?;
    two.add(&[Item::new("2")?]).await?;
    let ada = ClaimId::new("ada")?;
    let first = one.take(&ada, Hold::Forever).await?;
    ensure_matches!(first, Taken::New(held) if held.item.as_str() == "1", "the claim in one bank");
    let second = two.take(&ada, Hold::Forever).await?;
    ensure_matches!(second, Taken::New(held) if held.item.as_str() == "2", "the same claim in another");
    let _ = one.release(&ada).await?;
    let again = two.take(&ada, Hold::Forever).await?;
    ensure_matches!(again, Taken::Again(_), "its hold in the other bank after a release in the first");
    Ok(())
}

pub(super) async fn an_item_is_one_per_bank(world: &World) -> Verdict {
    let (one, two) = (world.store().item_bank(&"one".parse()?)?, world.store().item_bank(&"two".parse()?)?);
    ensure_eq!(one.add(&items(3)?).await?.added, 3, "items new to one bank");
    ensure_eq!(two.add(&items(3)?).await?.added, 3, "the same items in another");
    for name in ["a", "b", "c"] {
        let _ = one.take(&ClaimId::new(name)?, Hold::Forever).await?;
    }
    ensure_eq!(two.counts().await?.free, 3, "free items in the other bank");
    Ok(())
}

pub(super) async fn an_operation_is_one_per_id(world: &World) -> Verdict {
    let records = world.dedup()?;
    for id in ["one", "two"] {
        let recorded = records.record(&id.parse()?, &id.try_into()?, &"op".parse()?, Retention::Forever).await?;
        ensure_matches!(recorded, Recorded::New(_), "the operation on {id}");
    }
    Ok(())
}

pub(super) async fn an_operation_is_one_per_token(world: &World) -> Verdict {
    let (store, op) = (world.tokens()?, OpId::new("op")?);
    let tokens = [TokenId::new("one")?, TokenId::new("two")?];
    store.create_tokens(&tokens).await?;
    for token in &tokens {
        ensure_eq!(store.consume(token, &op).await?, Consumed::Now, "the operation on {token}");
    }
    Ok(())
}

pub(super) async fn an_operation_is_one_per_counter(world: &World) -> Verdict {
    let counter = world.counter(Strategy::default())?;
    for key in ["one", "two"] {
        let counted = counter.apply(&key.parse()?, &Change::new("op".parse()?, 5)).await?;
        ensure_matches!(counted, Counted::Applied { .. }, "the operation on {key}");
        ensure_eq!(counter.value(&Key::new(key)?).await?, 5, "the value of {key}");
    }
    let other = counter.apply(&"three".parse()?, &Change::new("op".parse()?, 7)).await?;
    ensure_matches!(other, Counted::Applied { .. }, "the operation with another delta on another key");
    Ok(())
}

pub(super) async fn an_operation_is_one_per_namespace(world: &World) -> Verdict {
    let (store, token, op) = (world.store(), TokenId::new("key")?, OpId::new("op")?);
    for name in ["one", "two"] {
        let recorded = store
            .dedup_repo(&name.parse()?)?
            .record(&"key".parse()?, &name.try_into()?, &"op".parse()?, Retention::Forever)
            .await?;
        ensure_matches!(recorded, Recorded::New(_), "the record in {name}");
        let tokens = store.token_store(&name.parse()?)?;
        tokens.create_tokens(std::slice::from_ref(&token)).await?;
        ensure_eq!(tokens.consume(&token, &op).await?, Consumed::Now, "the token in {name}");
        let counted = store
            .counter(&name.parse()?, Strategy::default())?
            .apply(&"key".parse()?, &Change::new("op".parse()?, 1))
            .await?;
        ensure_matches!(counted, Counted::Applied { .. }, "the counter in {name}");
        let put = store
            .ordered_store(&name.parse()?, OrderedOptions::sequence())?
            .put(&"key".parse()?, &name.try_into()?, &Stamp::new(1, "op".parse()?))
            .await?;
        ensure_eq!(put, Written::Applied, "the ordered value in {name}");
    }
    Ok(())
}

/// A namespace and a key, or a key and an operation, are never confused when a store concatenates them, even if they
/// contain the separator.
pub(super) async fn two_texts_are_never_joined_to_one(world: &World) -> Verdict {
    for (number, between) in BETWEEN.iter().enumerate() {
        let pairs = [(format!("a{between}b"), "c".to_owned()), ("a".to_owned(), format!("b{between}c"))];
        for (one, two) in &pairs {
            let during = |failure: Failure| failure.during(format_args!("{one:?} and {two:?}"));
            namespace_and_key(world, one, two).await.map_err(during)?;
            key_and_op(world, &format!("namespace-{number}"), one, two).await.map_err(during)?;
        }
    }
    Ok(())
}

const BETWEEN: [&str; 18] =
    ["", ":", "/", "#", "|", ".", "-", "_", "\n", "\u{1f}", " ", "'", "\\", "}", "{", ",", "3:", "%3A"];

async fn namespace_and_key(world: &World, name: &str, key: &str) -> Verdict {
    let store = world.store();
    ensure_eq!(store.item_bank(&name.parse()?)?.add(&[Item::new(key)?]).await?.added, 1, "items added to a namespace");
    let taken = store.item_bank(&name.parse()?)?.take(&ClaimId::new(key)?, Hold::Forever).await?;
    ensure_matches!(taken, Taken::New(_), "a take by the claim in a namespace");
    let recorded = store
        .dedup_repo(&name.parse()?)?
        .record(&key.parse()?, &"value".try_into()?, &"op".parse()?, Retention::Forever)
        .await?;
    ensure_matches!(recorded, Recorded::New(_), "the record in a namespace");
    ensure_eq!(
        store.token_store(&name.parse()?)?.create_tokens(&[TokenId::new(key)?]).await?.created,
        1,
        "tokens in a namespace"
    );
    let counted = store
        .counter(&name.parse()?, Strategy::default())?
        .apply(&key.parse()?, &Change::new("op".parse()?, 1))
        .await?;
    ensure_matches!(counted, Counted::Applied { .. }, "the counter in a namespace");
    let ordered = store.ordered_store(&name.parse()?, OrderedOptions::sequence())?;
    ensure_eq!(
        ordered.put(&key.parse()?, &"value".try_into()?, &Stamp::new(1, "op".parse()?)).await?,
        Written::Applied,
        "the value in a namespace"
    );
    Ok(())
}

async fn key_and_op(world: &World, name: &str, key: &str, op: &str) -> Verdict {
    let store = world.store();
    let counted =
        store.counter(&name.parse()?, Strategy::default())?.apply(&key.parse()?, &Change::new(op.parse()?, 1)).await?;
    ensure_matches!(counted, Counted::Applied { .. }, "the operation on a key");
    let recorded = store
        .dedup_repo(&name.parse()?)?
        .record(&key.parse()?, &"value".try_into()?, &op.parse()?, Retention::Forever)
        .await?;
    ensure_matches!(recorded, Recorded::New(_), "the operation on an id");
    let (tokens, token) = (store.token_store(&name.parse()?)?, TokenId::new(key)?);
    tokens.create_tokens(std::slice::from_ref(&token)).await?;
    ensure_eq!(tokens.consume(&token, &OpId::new(op)?).await?, Consumed::Now, "the operation on a token");
    Ok(())
}

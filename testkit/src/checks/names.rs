//! Checks that the errors of a store name the call that failed.

use storagebox_core::{
    Backend, Change, ClaimId, DedupId, Error, Hold, Item, Key, OpId, OrderedOptions, Payload, Result, Retention, Stamp,
    Strategy, TokenId, Version, WriterId,
};

use super::HOUR;

/// Makes every call that needs no other before it, on a store in which no call can succeed. Each error must name its
/// call.
///
/// # Errors
///
/// Returns the errors of the values and the handles.
///
/// # Panics
///
/// Panics if a call succeeds, or if its error names another call.
pub async fn are_told(store: &dyn Backend) -> Result<()> {
    of_banks(store).await?;
    of_records(store).await?;
    of_tokens(store).await?;
    of_counters(store).await?;
    of_ordered_values(store).await
}

fn assert_named<T>(call: &str, answer: Result<T>) {
    let Err(error) = answer else { panic!("{call} succeeded") };
    assert_eq!(named(&error), (Some(call), true), "{error}");
}

fn named(error: &Error) -> (Option<&str>, bool) {
    (error.operation(), error.backend().is_some())
}

async fn of_banks(store: &dyn Backend) -> Result<()> {
    let (bank, claim, item) = (store.item_bank(&"bank".parse()?)?, ClaimId::new("claim")?, Item::new("item")?);
    let items = std::slice::from_ref(&item);
    assert_named("add", bank.add(items).await);
    assert_named("take", bank.take(&claim, Hold::Forever).await);
    assert_named("extend", bank.extend(&claim, Hold::Forever).await);
    assert_named("confirm", bank.confirm(&claim).await);
    assert_named("release", bank.release(&claim).await);
    assert_named("get", bank.get(&claim).await);
    assert_named("counts", bank.counts().await);
    assert_named("retire", bank.retire(&claim).await);
    assert_named("holder", bank.holder(&item).await);
    assert_named("list", bank.list(None, 10).await);
    assert_named("withdraw", bank.withdraw(items).await);
    assert_named("restore", bank.restore(items).await);
    Ok(())
}

async fn of_records(store: &dyn Backend) -> Result<()> {
    let (records, leases) = (store.dedup_repo(&"records".parse()?)?, store.lease_repo(&"records".parse()?)?);
    let (id, op, value, version) =
        (DedupId::new("id")?, OpId::new("op")?, Payload::try_from("value")?, Version::new(1));
    assert_named("record", records.record(&id, &value, &op, Retention::Forever).await);
    assert_named("get", records.get(&id).await);
    assert_named("replace", records.replace(&id, version, &value, &op).await);
    assert_named("forget", records.forget(&id, version).await);
    assert_named("list", records.list(None, 10).await);
    assert_named("begin", leases.begin(&id, &op, HOUR, None).await);
    Ok(())
}

async fn of_tokens(store: &dyn Backend) -> Result<()> {
    let (tokens, token) = (store.token_store(&"tokens".parse()?)?, TokenId::new("token")?);
    let all = std::slice::from_ref(&token);
    assert_named("create", tokens.create_tokens(all).await);
    assert_named("exists", tokens.exists(&token).await);
    assert_named("consume", tokens.consume(&token, &OpId::new("op")?).await);
    assert_named("discard", tokens.discard(all).await);
    Ok(())
}

async fn of_counters(store: &dyn Backend) -> Result<()> {
    let (counters, key) = (store.counter(&"counters".parse()?, Strategy::default())?, Key::new("key")?);
    assert_named("apply", counters.apply(&key, &Change::new(OpId::new("op")?, 1)).await);
    assert_named("value", counters.value(&key).await);
    assert_named("cancel", counters.cancel(&key, &OpId::new("op")?).await);
    Ok(())
}

async fn of_ordered_values(store: &dyn Backend) -> Result<()> {
    let ordered = store.ordered_store(&"ordered".parse()?, OrderedOptions::sequence())?;
    let (key, stamp) = (Key::new("key")?, Stamp::new(1, WriterId::new("writer")?));
    assert_named("put", ordered.put(&key, &Payload::try_from("value")?, &stamp).await);
    assert_named("delete", ordered.delete(&key, &stamp).await);
    assert_named("get", ordered.get(&key).await);
    assert_named("list", ordered.list(None, None, 10).await);
    assert_named("reset", ordered.reset(&key, &stamp).await);
    assert_named("purge", ordered.purge(HOUR, 10).await);
    Ok(())
}

//! Every trait is dyn-compatible, `Arc<dyn Trait>` implements it, and its futures are `Send`.

use std::sync::Arc;

use storagebox_core::{
    Backend, ClaimId, Counter, DedupRepo, EntityLedger, Hold, ItemBank, Joins, LeaseRepo, Ledger, OrderedOptions,
    OrderedStore, Result, Strategy, TokenStore,
};
use storagebox_memory::MemoryStore;

fn is_bank(_: impl ItemBank + 'static) {}
fn is_dedup(_: impl DedupRepo + 'static) {}
fn is_leases(_: impl LeaseRepo + 'static) {}
fn is_tokens(_: impl TokenStore + 'static) {}
fn is_entities(_: impl EntityLedger + 'static) {}
fn is_counter(_: impl Counter + 'static) {}
fn is_ledger(_: impl Ledger + 'static) {}
fn is_ordered(_: impl OrderedStore + 'static) {}
fn is_send<T: Send>(value: T) -> T {
    value
}

#[test]
fn a_handle_of_each_part_implements_its_trait() -> Result<()> {
    let store: Arc<dyn Backend> = Arc::new(MemoryStore::new());
    is_bank(store.item_bank(&"namespace".parse()?)?);
    is_dedup(store.dedup_repo(&"namespace".parse()?)?);
    is_leases(store.lease_repo(&"namespace".parse()?)?);
    is_tokens(store.token_store(&"namespace".parse()?)?);
    is_entities(store.entity_ledger(&"namespace".parse()?, &Joins::default())?);
    is_counter(store.counter(&"namespace".parse()?, Strategy::default())?);
    is_ledger(store.ledger(&"ledger".parse()?)?);
    is_ordered(store.ordered_store(&"namespace".parse()?, OrderedOptions::default())?);
    Ok(())
}

#[test]
fn every_part_implements_debug() -> Result<()> {
    let (store, name) = (MemoryStore::new(), "namespace".parse()?);
    let bank = store.item_bank(&name)?;
    assert_eq!(format!("{bank:?}"), "ItemBank");
    assert_eq!(format!("{:?} {:?}", store.dedup_repo(&name)?, store.lease_repo(&name)?), "DedupRepo LeaseRepo");
    let (tokens, entities) = (store.token_store(&name)?, store.entity_ledger(&name, &Joins::default())?);
    assert_eq!(format!("{tokens:?} {entities:?}"), "TokenStore EntityLedger");
    let (counter, values) =
        (store.counter(&name, Strategy::default())?, store.ordered_store(&name, OrderedOptions::default())?);
    assert_eq!(
        format!("{counter:?} {:?} {values:?}", store.ledger(&"ledger".parse()?)?),
        "Counter Ledger OrderedStore"
    );
    Ok(())
}

#[tokio::test]
async fn futures_of_bank_calls_implement_send() -> Result<()> {
    let bank = MemoryStore::new().item_bank(&"namespace".parse()?)?;
    let _ = is_send(bank.take(&"ada".parse()?, Hold::Forever)).await?;
    let _ = is_send(bank.take(&ClaimId::new("ada")?, Hold::Forever)).await?;
    Ok(())
}

/// The handle returns the future of the inner part and does not box it in another future.
#[tokio::test]
async fn a_call_through_a_handle_makes_no_second_future() -> Result<()> {
    let bank = MemoryStore::new().item_bank(&"namespace".parse()?)?;
    let claim = ClaimId::new("ada")?;
    let through_the_handle = ItemBank::take(&bank, &claim, Hold::Forever);
    let direct = (*bank).take(&claim, Hold::Forever);
    assert_eq!(size_of_val(&*through_the_handle), size_of_val(&*direct));
    Ok(())
}

//! Every trait is dyn-compatible, `Arc<dyn Trait>` implements it, and its futures go from thread to thread.

use std::sync::Arc;

use storagebox_core::{
    Backend, BackendExt, BankAdmin, ClaimId, Counter, DedupRepo, Hold, ItemBank, ItemBankExt, LeaseRepo, Ledger,
    OrderedOptions, OrderedStore, Result, Strategy, TokenStore,
};
use storagebox_memory::MemoryStore;

fn is_bank(_: impl BankAdmin + ItemBankExt + 'static) {}
fn is_dedup(_: impl DedupRepo + 'static) {}
fn is_leases(_: impl LeaseRepo + 'static) {}
fn is_tokens(_: impl TokenStore + 'static) {}
fn is_counter(_: impl Counter + 'static) {}
fn is_ledger(_: impl Ledger + 'static) {}
fn is_ordered(_: impl OrderedStore + 'static) {}
fn is_send<T: Send>(value: T) -> T {
    value
}

#[test]
fn handles_are_implementations() -> Result<()> {
    let store: Arc<dyn Backend> = Arc::new(MemoryStore::new());
    is_bank(store.bank("namespace")?);
    is_dedup(store.dedup("namespace")?);
    is_leases(store.leases("namespace")?);
    is_tokens(store.tokens("namespace")?);
    is_counter(store.counters("namespace", Strategy::default())?);
    is_ledger(store.ledgers("ledger")?);
    is_ordered(store.ordered("namespace", OrderedOptions::default())?);
    Ok(())
}

#[tokio::test]
async fn futures_are_send() -> Result<()> {
    let bank = MemoryStore::new().bank("namespace")?;
    let _ = is_send(bank.assign("ada")).await?;
    let _ = is_send(bank.take(&ClaimId::new("ada")?, Hold::Forever)).await?;
    Ok(())
}

/// A call through a handle makes one boxed future, not two: the handle hands on the inner one.
#[tokio::test]
async fn a_handle_adds_no_future_of_its_own() -> Result<()> {
    let bank = MemoryStore::new().bank("namespace")?;
    let claim = ClaimId::new("ada")?;
    let through_the_handle = ItemBank::take(&bank, &claim, Hold::Forever);
    let direct = (*bank).take(&claim, Hold::Forever);
    assert_eq!(size_of_val(&*through_the_handle), size_of_val(&*direct));
    Ok(())
}

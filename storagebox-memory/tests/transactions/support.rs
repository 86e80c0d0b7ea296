//! Stores, banks and claims for the tests of transactions.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Backend, Certainty, ClaimId, ErrorKind, Hold, Item, ItemBank, ManualClock, Result, Taken};
use storagebox_memory::{MemoryStore, MemoryTransaction};

pub(crate) const TERM: Duration = Duration::from_secs(60);

pub(crate) fn store() -> (MemoryStore, ManualClock) {
    let clock = ManualClock::new();
    (MemoryStore::builder().clock(clock.clone()).build().unwrap(), clock)
}

pub(crate) fn bank(store: &MemoryStore) -> Arc<dyn ItemBank> {
    store.item_bank(&"bank".parse().unwrap()).unwrap()
}

/// Returns a handle on the bank that is joined to the transaction.
pub(crate) fn joined<'t>(store: &MemoryStore, transaction: &'t mut MemoryTransaction) -> impl ItemBank + use<'t> {
    store.within(transaction).unwrap().item_bank(&"bank".parse().unwrap()).unwrap()
}

pub(crate) async fn filled(count: usize) -> MemoryStore {
    let store = store().0;
    bank(&store).add(&items(count)).await.unwrap();
    store
}

pub(crate) fn items(count: usize) -> Vec<Item> {
    (0..count).map(|number| Item::new(format!("item-{number}")).unwrap()).collect()
}

pub(crate) fn claim(name: &str) -> ClaimId {
    name.parse().unwrap()
}

/// Takes an item for the claim `name`. Panics if no item is free.
pub(crate) async fn take(bank: &impl ItemBank, name: &str) -> Item {
    match bank.take(&claim(name), Hold::Forever).await.unwrap() {
        Taken::New(held) => held.item,
        other => panic!("{name}: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn assert_refused<T: Debug>(answer: Result<T>) {
    let error = answer.unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Contention, Certainty::NotApplied), "{error}");
}

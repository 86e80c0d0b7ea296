//! The suite against the memory backend, with a clock that is moved on by hand.

use std::process::ExitCode;
use std::sync::Arc;

use storagebox_conformance::{Declared, Harness, Namespace, TestClock, run};
use storagebox_core::{Backend, BoxName, Error, ListedItem, ManualClock, Result, async_trait};
use storagebox_memory::MemoryStore;

struct Memory;

/// What a namespace is: a store and its clock.
struct Place(MemoryStore, ManualClock);

#[async_trait]
impl Harness for Memory {
    fn name(&self) -> String {
        "memory".into()
    }

    fn declared(&self) -> Declared {
        Declared::all()
            .without_network("a memory store has no server to connect to")
            .without_restart("a memory store ends with its process")
    }

    async fn fresh(&self) -> Result<Namespace> {
        let clock = ManualClock::new();
        let store = MemoryStore::builder().clock(clock.clone()).build()?;
        Ok(Namespace::new("memory", Place(store, clock)))
    }

    async fn open(&self, namespace: &Namespace) -> Result<Arc<dyn Backend>> {
        place(namespace).map(|place| Arc::new(place.0.clone()) as _)
    }

    async fn audit(&self, namespace: &Namespace, bank: &BoxName) -> Result<Vec<ListedItem>> {
        Ok(place(namespace)?.0.item_bank(bank)?.list(None, usize::MAX).await?.entries)
    }

    fn clock(&self, namespace: &Namespace) -> Option<Arc<dyn TestClock>> {
        place(namespace).ok().map(|place| Arc::new(place.1.clone()) as _)
    }
}

fn place(namespace: &Namespace) -> Result<&Place> {
    namespace.guard().ok_or_else(|| Error::corrupt(namespace.name(), "it is another harness's"))
}

fn main() -> ExitCode {
    run(Memory)
}

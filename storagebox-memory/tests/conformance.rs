//! The suite against the memory backend, with a clock that is moved on by hand.

use std::process::ExitCode;
use std::sync::Arc;

use storagebox_conformance::{Declared, Harness, Sandbox, TestClock, run};
use storagebox_core::{Backend, Error, ListedItem, ManualClock, Namespace, Result, async_trait};
use storagebox_memory::MemoryStore;

struct Memory;

/// What a sandbox is: a store and its clock.
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

    async fn fresh(&self) -> Result<Sandbox> {
        let clock = ManualClock::new();
        let store = MemoryStore::builder().clock(clock.clone()).build()?;
        Ok(Sandbox::new("memory", Place(store, clock)))
    }

    async fn open(&self, sandbox: &Sandbox) -> Result<Arc<dyn Backend>> {
        place(sandbox).map(|place| Arc::new(place.0.clone()) as _)
    }

    async fn audit(&self, sandbox: &Sandbox, bank: &Namespace) -> Result<Vec<ListedItem>> {
        Ok(place(sandbox)?.0.item_bank(bank)?.list(None, usize::MAX).await?.entries)
    }

    fn clock(&self, sandbox: &Sandbox) -> Option<Arc<dyn TestClock>> {
        place(sandbox).ok().map(|place| Arc::new(place.1.clone()) as _)
    }
}

fn place(sandbox: &Sandbox) -> Result<&Place> {
    sandbox.guard().ok_or_else(|| Error::corrupt(sandbox.name(), "it is another harness's"))
}

fn main() -> ExitCode {
    run(Memory)
}

//! Opens broken stores for the suite.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use storagebox_conformance::{Declared, Harness, Sandbox, TestClock};
use storagebox_core::{Backend, Error, ListedItem, ManualClock, Namespace, Result, Retention, async_trait};
use storagebox_memory::MemoryStore;

use crate::counter::CounterMistake;
use crate::store::{Broken, Kept, Mistake, StoreMistake};
use crate::tokens::TokenMistake;

/// Makes stores that all have the same mistake.
pub(crate) struct Mutated(pub(crate) Mistake);

/// What a sandbox is.
struct Place {
    store: MemoryStore,
    clock: ManualClock,
    kept: Arc<Kept>,
    clients: AtomicU64,
}

fn place(sandbox: &Sandbox) -> Result<&Place> {
    sandbox.guard().ok_or_else(|| Error::corrupt(sandbox.name(), "it is another harness's"))
}

#[async_trait]
impl Harness for Mutated {
    fn name(&self) -> String {
        format!("{:?}", self.0)
    }

    fn declared(&self) -> Declared {
        Declared::all()
            .without_network("a memory store has no server to connect to")
            .without_restart("a memory store ends with its process")
    }

    async fn fresh(&self) -> Result<Sandbox> {
        let clock = ManualClock::new();
        let mut builder = MemoryStore::builder().clock(clock.clone());
        if self.0 == Mistake::Store(StoreMistake::ForgetsWithinAnHour) {
            builder = builder.remember(Retention::For(Duration::from_secs(3_600)));
        }
        let place = Place { store: builder.build()?, clock, kept: Arc::default(), clients: AtomicU64::new(0) };
        Ok(Sandbox::new("mutant", place))
    }

    async fn open(&self, sandbox: &Sandbox) -> Result<Arc<dyn Backend>> {
        let place = place(sandbox)?;
        let in_client = matches!(
            self.0,
            Mistake::Token(TokenMistake::CachesExists | TokenMistake::AcknowledgesBeforeWriting)
                | Mistake::Counter(CounterMistake::CachesValues)
        );
        Ok(Arc::new(Broken {
            inner: place.store.clone(),
            clock: place.clock.clone(),
            mistake: self.0,
            kept: if in_client { Arc::default() } else { Arc::clone(&place.kept) },
            client: place.clients.fetch_add(1, Ordering::Relaxed),
        }))
    }

    async fn audit(&self, sandbox: &Sandbox, bank: &Namespace) -> Result<Vec<ListedItem>> {
        let bank = place(sandbox)?.store.item_bank(bank)?;
        Ok(bank.list(None, usize::MAX).await?.entries)
    }

    fn clock(&self, sandbox: &Sandbox) -> Option<Arc<dyn TestClock>> {
        let place = place(sandbox).ok()?;
        Some(Arc::new(place.clock.clone()))
    }
}

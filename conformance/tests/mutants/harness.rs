//! Opens broken stores for the suite.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use storagebox_conformance::{Declared, Harness, Namespace, TestClock};
use storagebox_core::{Backend, BoxName, Error, ListedItem, ManualClock, Result, Retention, async_trait};
use storagebox_memory::MemoryStore;

use crate::counter::CounterMistake;
use crate::store::{Broken, Kept, Mistake, StoreMistake};
use crate::tokens::TokenMistake;

/// Makes stores that all have the same mistake.
pub(crate) struct Mutated(pub(crate) Mistake);

/// What a namespace is.
struct Place {
    store: MemoryStore,
    clock: ManualClock,
    kept: Arc<Kept>,
    clients: AtomicU64,
}

fn place(namespace: &Namespace) -> Result<&Place> {
    namespace.guard().ok_or_else(|| Error::corrupt(namespace.name(), "it is another harness's"))
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

    async fn fresh(&self) -> Result<Namespace> {
        let clock = ManualClock::new();
        let mut builder = MemoryStore::builder().clock(clock.clone());
        if self.0 == Mistake::Store(StoreMistake::ForgetsWithinAnHour) {
            builder = builder.memory(Retention::For(Duration::from_secs(3_600)));
        }
        let place =
            Place { store: builder.build()?, clock, kept: Arc::default(), clients: AtomicU64::new(0) };
        Ok(Namespace::new("mutant", place))
    }

    async fn open(&self, namespace: &Namespace) -> Result<Arc<dyn Backend>> {
        let place = place(namespace)?;
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

    async fn audit(&self, namespace: &Namespace, bank: &BoxName) -> Result<Vec<ListedItem>> {
        let bank = place(namespace)?.store.item_bank(bank)?;
        Ok(bank.list(None, usize::MAX).await?.entries)
    }

    fn clock(&self, namespace: &Namespace) -> Option<Arc<dyn TestClock>> {
        let place = place(namespace).ok()?;
        Some(Arc::new(place.clock.clone()))
    }
}

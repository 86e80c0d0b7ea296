//! The harness that opens broken stores.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use storagebox_conformance::{CallerTransaction, Declared, Harness, Sandbox, TestClock, listed};
use storagebox_core::{Backend, ListedItem, ManualClock, Namespace, Result, Retention, async_trait};
use storagebox_memory::{MemoryStore, MemoryTransaction};

use crate::counter::CounterMistake;
use crate::store::{Broken, Kept, Mistake, StoreMistake};
use crate::tokens::TokenMistake;
use crate::transactions::Caller;

/// Creates stores that all have the same mistake.
pub(crate) struct Mutated(pub(crate) Mistake);

const HOUR: Duration = Duration::from_secs(3_600);
const WEEK: Duration = Duration::from_secs(7 * 24 * 3_600);

struct Place {
    mistake: Mistake,
    store: MemoryStore,
    clock: ManualClock,
    kept: Arc<Kept>,
    clients: AtomicU64,
}

#[async_trait]
impl Harness for Mutated {
    fn name(&self) -> String {
        format!("{:?}", self.0)
    }

    fn declared(&self) -> Declared {
        Declared::all()
            .with_transactions()
            .without_network("a memory store has no server to connect to")
            .without_restart("a memory store ends with its process")
            .without_processes("a memory store is of its process alone")
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        let clock = ManualClock::new();
        let mut builder = MemoryStore::builder().clock(clock.clone());
        if let Mistake::Store(StoreMistake::ForgetsWithinAnHour) = self.0 {
            builder = builder.remember(Retention::For(HOUR));
        }
        if let Mistake::Store(StoreMistake::ForgetsASecondEarly) = self.0 {
            builder = builder.remember(Retention::For(WEEK - Duration::from_secs(1)));
        }
        let (store, clients) = (builder.build()?, AtomicU64::new(0));
        Ok(Box::new(Place { mistake: self.0, store, clock, kept: Arc::default(), clients }))
    }
}

#[async_trait]
impl Sandbox for Place {
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        let in_client = matches!(
            self.mistake,
            Mistake::Token(TokenMistake::CachesExists | TokenMistake::AcknowledgesBeforeWriting)
                | Mistake::Counter(CounterMistake::CachesValues)
        );
        Ok(Arc::new(Broken {
            inner: self.store.clone(),
            clock: self.clock.clone(),
            mistake: self.mistake,
            kept: if in_client { Arc::default() } else { Arc::clone(&self.kept) },
            client: self.clients.fetch_add(1, Ordering::Relaxed),
        }))
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        listed(&self.store, bank).await
    }

    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        Some(Arc::new(self.clock.clone()))
    }

    async fn begin(&self) -> Result<Box<dyn CallerTransaction>> {
        Ok(Box::new(Caller(Some(MemoryTransaction::begin()))))
    }

    async fn connect(&self) -> Result<Box<dyn CallerTransaction>> {
        Ok(Box::new(Caller(None)))
    }
}

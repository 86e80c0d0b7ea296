//! A store that is not set up, or that fails for a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use storagebox::parts::Ledger;
use storagebox::{
    BoxName, Error, ErrorKind, Maintained, MemoryStore, OrderedOptions, Promises, Result, Strategy,
    async_trait,
    parts::{Backend, BankAdmin, Counter, DedupRepo, LeaseRepo, OrderedStore, TokenStore},
};

#[derive(Debug)]
pub(crate) struct FaultyStore {
    inner: MemoryStore,
    is_set_up: AtomicBool,
    kind: ErrorKind,
    /// How many calls still fail.
    failures: AtomicU64,
}

impl FaultyStore {
    /// Not set up yet.
    pub(crate) fn bare() -> Self {
        Self { is_set_up: AtomicBool::new(false), ..Self::failing(ErrorKind::Unavailable, 0) }
    }

    pub(crate) fn failing(kind: ErrorKind, failures: u64) -> Self {
        let inner = MemoryStore::new();
        Self { inner, is_set_up: AtomicBool::new(true), kind, failures: AtomicU64::new(failures) }
    }

    fn call(&self) -> Result<()> {
        let one_less = |left: u64| left.checked_sub(1);
        match self.failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less) {
            Ok(_) => Err(Error::new(self.kind, "as the test asked")),
            Err(_) => Ok(()),
        }
    }
}

#[async_trait]
impl Backend for FaultyStore {
    fn backend(&self) -> &'static str {
        self.inner.backend()
    }

    async fn setup(&self) -> Result<()> {
        self.call()?;
        self.is_set_up.store(true, Ordering::Relaxed);
        self.inner.setup().await
    }

    async fn ping(&self) -> Result<()> {
        self.call()?;
        match self.is_set_up.load(Ordering::Relaxed) {
            true => self.inner.ping().await,
            false => Err(Error::new(ErrorKind::NotSetUp, "the store is bare")),
        }
    }

    async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        self.inner.maintain(max_entries).await
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }

    fn promises(&self) -> Promises {
        self.inner.promises()
    }

    fn item_bank(&self, name: &BoxName) -> Result<Arc<dyn BankAdmin>> {
        self.inner.item_bank(name)
    }

    fn dedup_repo(&self, name: &BoxName) -> Result<Arc<dyn DedupRepo>> {
        self.inner.dedup_repo(name)
    }

    fn lease_repo(&self, name: &BoxName) -> Result<Arc<dyn LeaseRepo>> {
        self.inner.lease_repo(name)
    }

    fn token_store(&self, name: &BoxName) -> Result<Arc<dyn TokenStore>> {
        self.inner.token_store(name)
    }

    fn counter(&self, name: &BoxName, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        self.inner.counter(name, strategy)
    }

    fn ledger(&self, name: &BoxName) -> Result<Arc<dyn Ledger>> {
        self.inner.ledger(name)
    }

    fn ordered_store(&self, name: &BoxName, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        self.inner.ordered_store(name, options)
    }
}

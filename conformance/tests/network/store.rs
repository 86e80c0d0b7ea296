//! The store behind the connection.

use std::fmt;
use std::sync::Arc;

use storagebox_core::{
    Backend, BankAdmin, BoxName, Counter, DedupRepo, LeaseRepo, Ledger, Maintained, OrderedOptions,
    OrderedStore, Promises, Result, Strategy, TokenStore, async_trait,
};
use storagebox_memory::MemoryStore;

use crate::boxes::Wired;
use crate::client::Client;
use crate::harness::Remembered;

pub(crate) struct WiredStore {
    pub(crate) inner: MemoryStore,
    pub(crate) client: Arc<Client>,
    pub(crate) remembered: Arc<Remembered>,
}

impl fmt::Debug for WiredStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WiredStore").finish_non_exhaustive()
    }
}

impl WiredStore {
    fn wired<T: ?Sized>(&self, inner: Arc<T>) -> Arc<Wired<T>> {
        let (client, remembered) = (Arc::clone(&self.client), Arc::clone(&self.remembered));
        Arc::new(Wired { inner, client, remembered })
    }
}

#[async_trait]
impl Backend for WiredStore {
    fn backend(&self) -> &'static str {
        self.inner.backend()
    }

    async fn setup(&self) -> Result<()> {
        let inner = self.inner.clone();
        self.client.call("setup", async move { inner.setup().await }).await
    }

    async fn ping(&self) -> Result<()> {
        let inner = self.inner.clone();
        self.client.call("ping", async move { inner.ping().await }).await
    }

    async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        let inner = self.inner.clone();
        self.client.call("maintain", async move { inner.maintain(max_entries).await }).await
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }

    fn promises(&self) -> Promises {
        self.inner.promises()
    }

    fn item_bank(&self, name: &BoxName) -> Result<Arc<dyn BankAdmin>> {
        Ok(self.wired(self.inner.item_bank(name)?))
    }

    fn dedup_repo(&self, name: &BoxName) -> Result<Arc<dyn DedupRepo>> {
        Ok(self.wired(self.inner.dedup_repo(name)?))
    }

    fn lease_repo(&self, name: &BoxName) -> Result<Arc<dyn LeaseRepo>> {
        Ok(self.wired(self.inner.lease_repo(name)?))
    }

    fn token_store(&self, name: &BoxName) -> Result<Arc<dyn TokenStore>> {
        Ok(self.wired(self.inner.token_store(name)?))
    }

    fn counter(&self, name: &BoxName, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        Ok(self.wired(self.inner.counter(name, strategy)?))
    }

    fn ledger(&self, name: &BoxName) -> Result<Arc<dyn Ledger>> {
        Ok(self.wired(self.inner.ledger(name)?))
    }

    fn ordered_store(&self, name: &BoxName, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        Ok(self.wired(self.inner.ordered_store(name, options)?))
    }
}

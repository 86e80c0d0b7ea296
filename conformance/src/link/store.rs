//! The store behind the link: its own calls, and its boxes behind the same link.

use std::sync::Arc;

use storagebox_core::{
    Backend, BankAdmin, BoxName, Counter, DedupRepo, LeaseRepo, Ledger, Maintained, OrderedOptions,
    OrderedStore, Promises, Result, Strategy, TokenStore, async_trait,
};

use super::boxes::{Linked, pass};

#[async_trait]
impl Backend for Linked<dyn Backend> {
    fn backend(&self) -> &'static str {
        self.inner.backend()
    }

    async fn setup(&self) -> Result<()> {
        pass!(self.setup())
    }

    async fn ping(&self) -> Result<()> {
        pass!(self.ping())
    }

    async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        pass!(self.maintain(max_entries = max_entries => max_entries))
    }

    async fn close(&self) -> Result<()> {
        pass!(self.close())
    }

    fn promises(&self) -> Promises {
        self.inner.promises()
    }

    fn item_bank(&self, name: &BoxName) -> Result<Arc<dyn BankAdmin>> {
        Ok(Linked::new(self.inner.item_bank(name)?, Arc::clone(&self.link)))
    }

    fn dedup_repo(&self, name: &BoxName) -> Result<Arc<dyn DedupRepo>> {
        Ok(Linked::new(self.inner.dedup_repo(name)?, Arc::clone(&self.link)))
    }

    fn lease_repo(&self, name: &BoxName) -> Result<Arc<dyn LeaseRepo>> {
        Ok(Linked::new(self.inner.lease_repo(name)?, Arc::clone(&self.link)))
    }

    fn token_store(&self, name: &BoxName) -> Result<Arc<dyn TokenStore>> {
        Ok(Linked::new(self.inner.token_store(name)?, Arc::clone(&self.link)))
    }

    fn counter(&self, name: &BoxName, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        Ok(Linked::new(self.inner.counter(name, strategy)?, Arc::clone(&self.link)))
    }

    fn ledger(&self, name: &BoxName) -> Result<Arc<dyn Ledger>> {
        Ok(Linked::new(self.inner.ledger(name)?, Arc::clone(&self.link)))
    }

    fn ordered_store(&self, name: &BoxName, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        Ok(Linked::new(self.inner.ordered_store(name, options)?, Arc::clone(&self.link)))
    }
}

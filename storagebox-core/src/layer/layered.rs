//! A backend with a layer around it.

use std::sync::Arc;

use async_trait::async_trait;

use super::around::{Around, around};
use super::next::BoxFuture;
use super::{Call, Kind, Layer, Part};
use crate::backend::{Backend, Maintained, Promises};
use crate::counter::Counter;
use crate::dedup_repo::DedupRepo;
use crate::error::Result;
use crate::item_bank::BankAdmin;
use crate::lease_repo::LeaseRepo;
use crate::ledger::Ledger;
use crate::ordered_store::{OrderedOptions, OrderedStore};
use crate::strategy::Strategy;
use crate::token_store::TokenStore;
use crate::value::BoxName;

/// A backend each of whose calls, of all its parts, goes through a [`Layer`].
///
/// What is no call passes by the layer: opening a part, [`promises`](Backend::promises) and
/// [`promise`](crate::Counter::promise).
#[derive(Clone, Debug)]
pub struct Layered {
    inner: Arc<dyn Backend>,
    layer: Arc<dyn Layer>,
}

impl Layered {
    /// Puts the layer around the backend.
    pub fn new(inner: Arc<dyn Backend>, layer: Arc<dyn Layer>) -> Self {
        Self { inner, layer }
    }

    fn part<P: ?Sized>(&self, part: Part, name: &BoxName, inner: Arc<P>) -> Around<P> {
        Around::new(inner, Arc::clone(&self.layer), self.inner.backend(), part, name.clone())
    }

    async fn whole<'a, T: Send + 'a>(
        &'a self,
        operation: &'static str,
        kind: Kind,
        make: impl Fn() -> BoxFuture<'a, Result<T>> + Send + Sync + 'a,
    ) -> Result<T> {
        let (backend, part) = (self.inner.backend(), Part::Store);
        let call = Call { backend, part, operation, namespace: None, kind, repeatable: true };
        around(&*self.layer, call, |_| true, make).await
    }
}

#[async_trait]
impl Backend for Layered {
    fn backend(&self) -> &'static str {
        self.inner.backend()
    }

    async fn setup(&self) -> Result<()> {
        self.whole("setup", Kind::Batch, || self.inner.setup()).await
    }

    async fn ping(&self) -> Result<()> {
        self.whole("ping", Kind::Read, || self.inner.ping()).await
    }

    async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        self.whole("maintain", Kind::Batch, move || self.inner.maintain(max_entries)).await
    }

    async fn close(&self) -> Result<()> {
        self.whole("close", Kind::Batch, || self.inner.close()).await
    }

    fn promises(&self) -> Promises {
        self.inner.promises()
    }

    fn item_bank(&self, name: &BoxName) -> Result<Arc<dyn BankAdmin>> {
        Ok(Arc::new(self.part(Part::Bank, name, self.inner.item_bank(name)?)))
    }

    fn dedup_repo(&self, name: &BoxName) -> Result<Arc<dyn DedupRepo>> {
        Ok(Arc::new(self.part(Part::Records, name, self.inner.dedup_repo(name)?)))
    }

    fn lease_repo(&self, name: &BoxName) -> Result<Arc<dyn LeaseRepo>> {
        Ok(Arc::new(self.part(Part::Leases, name, self.inner.lease_repo(name)?)))
    }

    fn token_store(&self, name: &BoxName) -> Result<Arc<dyn TokenStore>> {
        Ok(Arc::new(self.part(Part::Tokens, name, self.inner.token_store(name)?)))
    }

    fn counter(&self, name: &BoxName, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        let counter = self.inner.counter(name, strategy)?;
        let recognises_repeats = counter.promise().recognises_repeats();
        Ok(Arc::new(self.part(Part::Counters, name, counter).recognising_repeats(recognises_repeats)))
    }

    fn ledger(&self, name: &BoxName) -> Result<Arc<dyn Ledger>> {
        let ledger = self.inner.ledger(name)?;
        let recognises_repeats = ledger.promise().recognises_repeats();
        Ok(Arc::new(self.part(Part::Ledger, name, ledger).recognising_repeats(recognises_repeats)))
    }

    fn ordered_store(&self, name: &BoxName, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        Ok(Arc::new(self.part(Part::OrderedValues, name, self.inner.ordered_store(name, options)?)))
    }
}

//! A backend with a layer around it.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::argument::{Arguments, offer};
use super::around::{LayeredPart, around};
use super::next::BoxFuture;
use super::{Call, Kind, Layer, OnePart, Part};
use crate::backend::{Backend, Maintained, Promises};
use crate::counter::Counter;
use crate::dedup_repo::DedupRepo;
use crate::entity_ledger::{EntityLedger, Joins};
use crate::error::Result;
use crate::item_bank::ItemBank;
use crate::lease_repo::LeaseRepo;
use crate::ledger::Ledger;
use crate::ordered_store::{OrderedOptions, OrderedStore};
use crate::strategy::Strategy;
use crate::token_store::TokenStore;
use crate::value::Namespace;

/// A backend whose calls, of all its parts, go through a [`Layer`].
///
/// The layer does not see methods that make no call: opening a part, [`promises`](Backend::promises) and
/// [`promise`](crate::Counter::promise).
#[derive(Clone, Debug)]
pub struct Layered {
    inner: Arc<dyn Backend>,
    layer: Arc<dyn Layer>,
}

impl Layered {
    /// Wraps the backend in the layer.
    pub fn new(inner: Arc<dyn Backend>, layer: Arc<dyn Layer>) -> Self {
        Self { inner, layer }
    }

    fn part<P: OnePart + ?Sized>(&self, name: &Namespace, inner: Arc<P>) -> Arc<LayeredPart<P>> {
        let part = LayeredPart::new(inner, Arc::clone(&self.layer));
        Arc::new(part.named(self.inner.backend(), name))
    }

    async fn whole<'a, T: Send + 'static>(
        &'a self,
        operation: &'static str,
        kind: Kind,
        arguments: Arguments<'a>,
        make: impl Fn(Arc<dyn Backend>) -> BoxFuture<'static, Result<T>> + Send + Sync + Copy + 'a,
    ) -> Result<T> {
        let (backend, part) = (self.inner.backend(), Part::Store);
        let remembered = Duration::MAX;
        let (namespace, repeatable) = (None, true);
        let call = Call { backend, part, operation, namespace, kind, repeatable, remembered, arguments };
        let detach = move || make(Arc::clone(&self.inner));
        let make = move || -> BoxFuture<'a, _> { detach() };
        around(&*self.layer, call, |_| true, make, detach).await
    }
}

const NONE: Arguments<'_> = Arguments(&|_| {});

#[async_trait]
impl Backend for Layered {
    fn backend(&self) -> &'static str {
        self.inner.backend()
    }

    async fn setup(&self) -> Result<()> {
        self.whole("setup", Kind::Batch, NONE, |inner| Box::pin(async move { inner.setup().await })).await
    }

    async fn ping(&self) -> Result<()> {
        self.whole("ping", Kind::Read, NONE, |inner| Box::pin(async move { inner.ping().await })).await
    }

    async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        let arguments = move |place: &mut dyn Any| offer(max_entries, place);
        let make = move |inner: Arc<dyn Backend>| -> BoxFuture<'static, _> {
            Box::pin(async move { inner.maintain(max_entries).await })
        };
        self.whole("maintain", Kind::Batch, Arguments(&arguments), make).await
    }

    async fn close(&self) -> Result<()> {
        self.whole("close", Kind::Batch, NONE, |inner| Box::pin(async move { inner.close().await })).await
    }

    fn promises(&self) -> Promises {
        self.inner.promises()
    }

    fn item_bank(&self, name: &Namespace) -> Result<Arc<dyn ItemBank>> {
        Ok(self.part(name, self.inner.item_bank(name)?))
    }

    fn dedup_repo(&self, name: &Namespace) -> Result<Arc<dyn DedupRepo>> {
        Ok(self.part(name, self.inner.dedup_repo(name)?))
    }

    fn lease_repo(&self, name: &Namespace) -> Result<Arc<dyn LeaseRepo>> {
        Ok(self.part(name, self.inner.lease_repo(name)?))
    }

    fn token_store(&self, name: &Namespace) -> Result<Arc<dyn TokenStore>> {
        Ok(self.part(name, self.inner.token_store(name)?))
    }

    fn entity_ledger(&self, name: &Namespace, joins: &Joins) -> Result<Arc<dyn EntityLedger>> {
        Ok(self.part(name, self.inner.entity_ledger(name, joins)?))
    }

    fn counter(&self, name: &Namespace, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        Ok(self.part(name, self.inner.counter(name, strategy)?))
    }

    fn ledger(&self, name: &Namespace) -> Result<Arc<dyn Ledger>> {
        Ok(self.part(name, self.inner.ledger(name)?))
    }

    fn ordered_store(&self, name: &Namespace, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        Ok(self.part(name, self.inner.ordered_store(name, options)?))
    }
}

//! A backend with a layer around it.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::call::BoxFuture;
use super::layered_part::LayeredPart;
use super::{Call, Layer, Next, OnePart, Request, Response};
use crate::composites::transaction::InTransaction;
use crate::contract::backend::Backend;
use crate::contract::counter::Counter;
use crate::contract::dedup_repo::DedupRepo;
use crate::contract::entity_ledger::{EntityLedger, Joins};
use crate::contract::item_bank::ItemBank;
use crate::contract::lease_repo::LeaseRepo;
use crate::contract::ledger::Ledger;
use crate::contract::ordered_store::{OrderedOptions, OrderedStore};
use crate::contract::promises::{Maintained, Promises};
use crate::contract::strategy::Strategy;
use crate::contract::token_store::TokenStore;
use crate::values::error::Result;
use crate::values::value::Namespace;

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

    async fn call<T, F>(
        &self,
        request: Request<'_>,
        make: impl Fn(Arc<dyn Backend>) -> F + Send + Sync,
        outcome: fn(Response) -> Option<T>,
    ) -> Result<T>
    where
        F: Future<Output = Result<Response>> + Send + 'static,
    {
        let call = Call::new(self.inner.backend(), request, Some(Duration::MAX));
        let detach = |_| -> BoxFuture<'static, _> { Box::pin(make(Arc::clone(&self.inner))) };
        let attempt = |_| -> BoxFuture<'_, _> { detach(false) };
        call.through(&*self.layer, Next::new(&call, &attempt, &detach), outcome).await
    }
}

/// Expands to a function that returns the outcome of a response, or `None` for a response of another operation.
macro_rules! outcome_of {
    ($name:ident) => {
        |response| match response {
            Response::$name(outcome) => Some(outcome),
            _ => None,
        }
    };
}

pub(super) use outcome_of;

#[async_trait]
impl Backend for Layered {
    fn backend(&self) -> &'static str {
        self.inner.backend()
    }

    async fn setup(&self) -> Result<()> {
        let make = |inner: Arc<dyn Backend>| async move { inner.setup().await.map(Response::Setup) };
        self.call(Request::Setup, make, outcome_of!(Setup)).await
    }

    async fn ping(&self) -> Result<()> {
        let make = |inner: Arc<dyn Backend>| async move { inner.ping().await.map(Response::Ping) };
        self.call(Request::Ping, make, outcome_of!(Ping)).await
    }

    async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        let make =
            move |inner: Arc<dyn Backend>| async move { inner.maintain(max_entries).await.map(Response::Maintain) };
        self.call(Request::Maintain { max_entries }, make, outcome_of!(Maintain)).await
    }

    async fn close(&self) -> Result<()> {
        let make = |inner: Arc<dyn Backend>| async move { inner.close().await.map(Response::Close) };
        self.call(Request::Close, make, outcome_of!(Close)).await
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

    fn within<'t>(&self, connection: &'t mut (dyn Any + Send)) -> Result<InTransaction<'t>> {
        let joined = self.inner.within(connection)?;
        Ok(if self.layer.joins() { joined.layered(Arc::clone(&self.layer)) } else { joined })
    }
}

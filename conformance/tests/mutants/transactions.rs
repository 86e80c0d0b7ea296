//! Mistakes in transactions of a caller.

use std::any::Any;
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;

use futures_util::FutureExt;
use storagebox_conformance::CallerTransaction;
use storagebox_core::layer::{Call, Layer, Layered, Next, Request, Response};
use storagebox_core::{
    Backend, Change, Completed, Counter, DedupRepo, Error, ErrorKind, InTransaction, OpId, OrderedOptions,
    OrderedStore, Receipt, Result, Strategy, Taken, Transaction, async_trait,
};
use storagebox_memory::{MemoryStore, MemoryTransaction};

use crate::steps::between_steps;

/// A caller's connection: its transaction, or `None` if no transaction was begun.
pub(crate) struct Caller(pub(crate) Option<MemoryTransaction>);

#[async_trait]
impl CallerTransaction for Caller {
    fn connection(&mut self) -> &mut (dyn Any + Send) {
        match &mut self.0 {
            Some(transaction) => transaction,
            none => none,
        }
    }

    async fn commit(self: Box<Self>) -> Result<()> {
        self.0.map_or(Ok(()), MemoryTransaction::commit)
    }

    async fn rollback(self: Box<Self>) -> Result<()> {
        if let Some(transaction) = self.0 {
            transaction.rollback();
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransactionMistake {
    /// Calls are made outside the caller's transaction, so they apply at once.
    AppliesAtOnce,
    /// Outside a transaction, a take passes over an item that an open transaction has taken. Requests are on their way
    /// to the server for a while.
    AssumesTheCommit,
    /// Every take changes one row, which a transaction locks until its end.
    LocksTheBanks,
    PurgesWithin,
    JoinsAnything,
    ToldAsAnOutcome,
    /// The receipt is written outside the caller's transaction.
    ReceiptOnItsOwn,
}

/// Returns the parts of the store within a transaction of the caller.
pub(crate) fn within<'t>(
    store: &MemoryStore,
    mistake: Option<TransactionMistake>,
    connection: &'t mut (dyn Any + Send),
) -> Result<InTransaction<'t>> {
    match mistake {
        None => store.within(connection),
        Some(TransactionMistake::JoinsAnything) if !connection.is::<MemoryTransaction>() => Ok(alone(store)),
        Some(TransactionMistake::AppliesAtOnce) => store.within(connection).map(|_| alone(store)),
        Some(TransactionMistake::AssumesTheCommit) => store.within(connection),
        Some(mistake @ TransactionMistake::LocksTheBanks) => {
            let joined = store.within(connection)?;
            let parts = joined.run(async |parts| Ok::<_, Error>(parts)).now_or_never();
            let store =
                parts.unwrap_or_else(|| Err(Error::unsupported("a transaction in use", "another transaction")))?;
            Ok(joined.layered(Arc::new(Wrong { store, mistake })))
        }
        Some(mistake) => {
            Ok(store.within(connection)?.layered(Arc::new(Wrong { store: Arc::new(store.clone()), mistake })))
        }
    }
}

/// Returns the store for calls outside transactions.
pub(crate) fn outside(store: &MemoryStore, mistake: Option<TransactionMistake>) -> Arc<dyn Backend> {
    let store: Arc<dyn Backend> = Arc::new(store.clone());
    match mistake {
        Some(mistake @ (TransactionMistake::AssumesTheCommit | TransactionMistake::LocksTheBanks)) => {
            Arc::new(Layered::new(Arc::clone(&store), Arc::new(Wrong { store, mistake })))
        }
        _ => store,
    }
}

/// Returns parts whose calls apply at once, outside the caller's transaction.
fn alone<'t>(store: &MemoryStore) -> InTransaction<'t> {
    InTransaction::new(store.clone(), Alone)
}

struct Alone;

#[async_trait]
impl Transaction for Alone {
    async fn serve(&mut self) -> Infallible {
        pending().await
    }
}

/// A layer that makes some calls outside the caller's transaction, or changes the answers of calls.
#[derive(Debug)]
struct Wrong {
    store: Arc<dyn Backend>,
    mistake: TransactionMistake,
}

impl Wrong {
    async fn lock_the_banks(&self) -> Result<()> {
        let rows = self.store.counter(&"rows of the mutant".parse()?, Strategy::Atomic)?;
        rows.apply(&"banks".parse()?, &Change::new(OpId::new("take")?, 1)).await.map(drop)
    }
}

#[async_trait]
impl Layer for Wrong {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        match (self.mistake, call.namespace, call.request) {
            (TransactionMistake::AssumesTheCommit, _, Request::Ping) => {
                between_steps().await;
                next.run().await
            }
            (TransactionMistake::AssumesTheCommit, _, Request::Take { .. }) => {
                between_steps().await;
                match next.run().await {
                    Err(error) if error.kind() == ErrorKind::Contention => Ok(Response::Take(Taken::Empty)),
                    answer => answer,
                }
            }
            (TransactionMistake::LocksTheBanks, _, Request::Take { .. }) => {
                self.lock_the_banks().await?;
                next.run().await
            }
            (TransactionMistake::PurgesWithin, Some(name), Request::Purge { age, limit, .. }) => {
                let values = self.store.ordered_store(name, OrderedOptions::default())?;
                values.purge(age, limit).await.map(Response::Purge)
            }
            (TransactionMistake::ReceiptOnItsOwn, Some(name), Request::Record { id, value, op, retention, .. })
                if *name == Receipt::namespace()? =>
            {
                self.store.dedup_repo(name)?.record(id, value, op, retention).await.map(Response::Record)
            }
            (TransactionMistake::ToldAsAnOutcome, _, Request::Complete { .. }) => match next.run().await {
                Err(error) if error.kind() == ErrorKind::Fenced => Ok(Response::Complete(Completed::Fenced)),
                answer => answer,
            },
            _ => next.run().await,
        }
    }
}

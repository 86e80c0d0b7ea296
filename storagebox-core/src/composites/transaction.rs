//! The parts of a store within a transaction of the caller.

mod bounded;
mod part;
mod receipt;
mod turns;

use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use crate::composites::layer::{Layer, Layered};
use crate::contract::backend::Backend;
use crate::contract::counter::Counter;
use crate::contract::dedup_repo::DedupRepo;
use crate::contract::item_bank::ItemBank;
use crate::contract::lease_repo::LeaseRepo;
use crate::contract::ledger::Ledger;
use crate::contract::ordered_store::{OrderedOptions, OrderedStore};
use crate::contract::strategy::Strategy;
use crate::contract::token_store::TokenStore;
use crate::values::error::{Error, ErrorKind, Result};
use crate::values::value::Namespace;

use bounded::Bounded;
use turns::served;

pub use part::TransactionPart;
pub use receipt::{CommitState, Receipt, settle};

/// The connection of a transaction, which sends the requests of a store.
///
/// A backend that can join transactions makes a store whose calls put their requests into a channel, and a
/// `Transaction` that takes them out of it. A call and its `Transaction` run in one task, so nothing of the caller's
/// connection has to outlive the call.
#[async_trait]
pub trait Transaction: Send {
    /// Sends each request of a call on the connection, and passes the reply back to the call. Never returns: the caller
    /// drops the future.
    async fn serve(&mut self) -> Infallible;
}

/// The parts of a store within a transaction of the caller: what [`Backend::within`] returns.
///
/// # Guarantees
///
/// - J-1: a call takes effect when the transaction commits, together with everything else in it, or not at all.
/// - J-2: each call is made once. Nothing is retried, combined or bounded by a deadline.
///
/// # Cancel safety
///
/// A call that is dropped before its end leaves these parts unusable: every later call of them returns `Contention`.
/// Roll the transaction back.
///
/// # Errors
///
/// A call returns `Contention` while another call of the same transaction is in progress. `complete` with a lease that
/// is over returns `Fenced`. After any error, roll the transaction back.
#[derive(Clone)]
pub struct InTransaction<'t> {
    parts: Arc<dyn Backend>,
    connection: Connection<'t>,
}

/// The transaction, or `None` while a call uses the transaction and after such a call was dropped.
type Connection<'t> = Arc<Mutex<Option<Box<dyn Transaction + 't>>>>;

impl<'t> InTransaction<'t> {
    /// Creates the parts out of a store whose requests this transaction sends.
    pub fn new(parts: impl Backend, transaction: impl Transaction + 't) -> Self {
        let parts: Arc<dyn Backend> = Arc::new(Layered::new(Arc::new(parts), Arc::new(Bounded)));
        Self { parts, connection: Arc::new(Mutex::new(Some(Box::new(transaction)))) }
    }

    /// Adds a layer around each call.
    #[must_use]
    pub fn layered(self, layer: Arc<dyn Layer>) -> Self {
        Self { parts: Arc::new(Layered::new(self.parts, layer)), ..self }
    }

    /// Runs code that takes a store, such as a composite: every call that it makes on this store is part of the
    /// transaction (J-1). Await each call in the code: a call that outlives the code may wait for ever.
    ///
    /// # Cancel safety
    ///
    /// As for a call: roll the transaction back after a dropped future.
    ///
    /// # Errors
    ///
    /// The errors of the code, and `Contention` while a call of the transaction is in progress.
    pub async fn run<T, E, F>(&self, code: impl FnOnce(Arc<dyn Backend>) -> F) -> Result<T, E>
    where
        E: From<Error>,
        F: Future<Output = Result<T, E>>,
    {
        drive(&self.connection, code(Arc::clone(&self.parts))).await
    }

    /// Returns the bank of this name.
    ///
    /// # Errors
    ///
    /// As [`Backend::item_bank`].
    pub fn item_bank(&self, name: &Namespace) -> Result<TransactionPart<'t, dyn ItemBank>> {
        self.part(self.parts.item_bank(name))
    }

    /// Returns the records of this name.
    ///
    /// # Errors
    ///
    /// As [`Backend::dedup_repo`].
    pub fn dedup_repo(&self, name: &Namespace) -> Result<TransactionPart<'t, dyn DedupRepo>> {
        self.part(self.parts.dedup_repo(name))
    }

    /// Returns the leases of this name.
    ///
    /// # Errors
    ///
    /// As [`Backend::lease_repo`].
    pub fn lease_repo(&self, name: &Namespace) -> Result<TransactionPart<'t, dyn LeaseRepo>> {
        self.part(self.parts.lease_repo(name))
    }

    /// Returns the tokens of this name.
    ///
    /// # Errors
    ///
    /// As [`Backend::token_store`].
    pub fn token_store(&self, name: &Namespace) -> Result<TransactionPart<'t, dyn TokenStore>> {
        self.part(self.parts.token_store(name))
    }

    /// Returns the counters of this name.
    ///
    /// # Errors
    ///
    /// As [`Backend::counter`].
    pub fn counter(&self, name: &Namespace, strategy: Strategy) -> Result<TransactionPart<'t, dyn Counter>> {
        self.part(self.parts.counter(name, strategy))
    }

    /// Returns the counters of this name with their log.
    ///
    /// # Errors
    ///
    /// As [`Backend::ledger`].
    pub fn ledger(&self, name: &Namespace) -> Result<TransactionPart<'t, dyn Ledger>> {
        self.part(self.parts.ledger(name))
    }

    /// Returns the ordered values of this name.
    ///
    /// # Errors
    ///
    /// As [`Backend::ordered_store`].
    pub fn ordered_store(
        &self,
        name: &Namespace,
        options: OrderedOptions,
    ) -> Result<TransactionPart<'t, dyn OrderedStore>> {
        self.part(self.parts.ordered_store(name, options))
    }

    /// Writes a receipt into the transaction. After a COMMIT whose reply was lost, [`settle`] tells by it whether the
    /// transaction was committed (J-5).
    ///
    /// # Cancel safety
    ///
    /// As for a call: roll the transaction back after a dropped future.
    ///
    /// # Errors
    ///
    /// The errors of the call that records the receipt.
    pub async fn receipt(&self) -> Result<Receipt> {
        Receipt::write(&self.dedup_repo(&Receipt::namespace()?)?).await
    }

    fn part<P: ?Sized>(&self, part: Result<Arc<P>>) -> Result<TransactionPart<'t, P>> {
        Ok(TransactionPart::new(part?, Arc::clone(&self.connection)))
    }
}

impl fmt::Debug for InTransaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InTransaction").field("parts", &self.parts).finish_non_exhaustive()
    }
}

/// Polls the call, while the transaction sends the call's requests to the store.
async fn drive<T, E: From<Error>>(
    connection: &Connection<'_>,
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let lock = || connection.lock().unwrap_or_else(PoisonError::into_inner);
    let taken = lock().take();
    let mut transaction = taken.ok_or_else(in_use)?;
    let answer = served(call, transaction.serve()).await;
    *lock() = Some(transaction);
    answer
}

fn in_use() -> Error {
    let why = "another call of this transaction is in progress, or was dropped before its end. Await one call after \
        the other; after a dropped call, roll the transaction back";
    Error::new(ErrorKind::Contention, why)
}

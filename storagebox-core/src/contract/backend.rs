//! A backend as a whole: its namespaces and its maintenance.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use super::counter::Counter;
use super::dedup_repo::DedupRepo;
use super::entity_ledger::{EntityLedger, Joins};
use super::item_bank::ItemBank;
use super::lease_repo::LeaseRepo;
use super::ledger::Ledger;
use super::ordered_store::{OrderedOptions, OrderedStore};
use super::promises::{Maintained, Promises};
use super::strategy::Strategy;
use super::token_store::TokenStore;
use crate::composites::transaction::InTransaction;
use crate::values::error::{Error, Result};
use crate::values::value::Namespace;

/// A backend. Handles to namespaces are cheap, and all handles with the same name share one namespace.
///
/// # Guarantees
///
/// - S-1 [`setup`](Backend::setup) is idempotent and safe from many processes at once. Until then, a store that needs
///   it returns `NotSetUp` from every call.
/// - S-2 [`maintain`](Backend::maintain) deletes only data that no promise needs, a bounded amount per call, and is
///   safe from many processes at once.
/// - S-3 namespaces of different names or different kinds share nothing, however similar the names are; a dedup
///   repository and the lease repository of the same name are two views of the same records.
/// - S-4 a namespace must be opened the way it was created: another strategy or other options return `Misconfigured`.
/// - S-5 [`promises`](Backend::promises) states what the backend cannot promise; an operation that it cannot do returns
///   `Unsupported`.
/// - S-8 an acknowledged change is visible to every later call of any process, even if the process that made it was
///   killed.
///
/// # Cancel safety
///
/// Every method is safe: call it again. A future that was polled and is then neither polled nor dropped may keep
/// resources of the store, such as a connection, from other calls. Drop futures that you do not poll to completion.
///
/// # Errors
///
/// The constructors of namespaces do no I/O. A backend that lacks a part does not implement its constructor, which then
/// returns `Unsupported`.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use std::sync::Arc;
/// use storagebox_core::Backend;
/// use storagebox_memory::MemoryStore;
///
/// let store: Arc<dyn Backend> = Arc::new(MemoryStore::new());
/// store.setup().await?;
/// assert_eq!(store.item_bank(&"vouchers".parse()?)?.counts().await?.total(), 0);
/// # Ok(()) }
/// ```
#[async_trait]
pub trait Backend: Debug + Send + Sync + 'static {
    /// Returns the backend's short name, such as `memory`.
    fn backend(&self) -> &'static str;

    /// Creates the schema or table that the store needs if it does not exist (S-1).
    ///
    /// # Errors
    ///
    /// `Denied` if the credentials may not create the schema or table.
    async fn setup(&self) -> Result<()>;

    /// Checks that the store is reachable and set up.
    ///
    /// # Guarantees
    ///
    /// - S-1: `NotSetUp` and `Unavailable` are different errors.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `NotSetUp`, `Denied`.
    async fn ping(&self) -> Result<()>;

    /// Deletes at most `max_entries` entries that no promise needs any more (S-2).
    ///
    /// `max_entries` bounds the deletions of one attempt. Each retry after a lost reply starts a new count, and so does
    /// each of the backend's own retries.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part may have been deleted; call again.
    async fn maintain(&self, max_entries: usize) -> Result<Maintained>;

    /// Closes the connections after the calls in progress have ended. A later call of this store opens them again or
    /// returns `Unavailable`, whichever suits the backend. Other stores on the same data are not affected.
    ///
    /// # Guarantees
    ///
    /// - S-8: closing loses no acknowledged change.
    async fn close(&self) -> Result<()>;

    /// Returns what this store guarantees and what it does not, as text for people: at most one statement per subject,
    /// and one about `durability`.
    fn promises(&self) -> Promises;

    /// Returns the bank with this name (S-3).
    ///
    /// # Errors
    ///
    /// `Unsupported` if the backend has no banks.
    fn item_bank(&self, name: &Namespace) -> Result<Arc<dyn ItemBank>> {
        let _ = name;
        Err(lacks(self.backend(), "banks"))
    }

    /// Returns the deduplication records with this name (S-3).
    ///
    /// # Errors
    ///
    /// `Unsupported` if the backend has no records.
    fn dedup_repo(&self, name: &Namespace) -> Result<Arc<dyn DedupRepo>> {
        let _ = name;
        Err(lacks(self.backend(), "records"))
    }

    /// Returns the leases over the deduplication records with this name (S-3).
    ///
    /// # Errors
    ///
    /// `Unsupported` if the backend has no leases.
    fn lease_repo(&self, name: &Namespace) -> Result<Arc<dyn LeaseRepo>> {
        let _ = name;
        Err(lacks(self.backend(), "leases"))
    }

    /// Returns the tokens with this name (S-3).
    ///
    /// # Errors
    ///
    /// `Unsupported` if the backend has no tokens.
    fn token_store(&self, name: &Namespace) -> Result<Arc<dyn TokenStore>> {
        let _ = name;
        Err(lacks(self.backend(), "tokens"))
    }

    /// Returns the entities with this name. The joined namespaces of tokens are in this store.
    ///
    /// # Guarantees
    ///
    /// - S-3 above. The joined namespaces are not options of the namespace: they may change when the program starts
    ///   again.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the backend has no entities.
    fn entity_ledger(&self, name: &Namespace, joins: &Joins) -> Result<Arc<dyn EntityLedger>> {
        let _ = (name, joins);
        Err(lacks(self.backend(), "entities"))
    }

    /// Returns the counters with this name (S-3, S-4).
    ///
    /// # Errors
    ///
    /// `Misconfigured` if the namespace was created with another strategy, at the latest from its first call;
    /// `Unsupported` if the backend does not have the strategy. The error names a better strategy.
    fn counter(&self, name: &Namespace, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        let _ = (name, strategy);
        Err(lacks(self.backend(), "counters"))
    }

    /// Returns the counters with this name, with [`Strategy::Ledger`] and their log. It is the same namespace that
    /// [`counter`](Backend::counter) opens with that strategy (S-3, S-4).
    ///
    /// # Errors
    ///
    /// `Misconfigured` if the namespace was created with another strategy, at the latest from its first call;
    /// `Unsupported` if the backend has no ledgers. The error names a strategy to use instead.
    fn ledger(&self, name: &Namespace) -> Result<Arc<dyn Ledger>> {
        let _ = name;
        Err(lacks(self.backend(), "ledgers"))
    }

    /// Returns the ordered values with this name (S-3, S-4).
    ///
    /// # Errors
    ///
    /// `Misconfigured` if the namespace was created with other options, at the latest from its first call;
    /// `Unsupported` if the backend has no ordered values.
    fn ordered_store(&self, name: &Namespace, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        let _ = (name, options);
        Err(lacks(self.backend(), "ordered values"))
    }

    /// Returns the parts of this store within a transaction of the caller. `connection` is the driver's connection on
    /// which the transaction is open. Sends nothing.
    ///
    /// # Guarantees
    ///
    /// - J-1, J-2: as for [`InTransaction`].
    ///
    /// # Errors
    ///
    /// `Misconfigured` if the connection is not of the kind that the backend joins; `Unsupported` if the backend joins
    /// no transactions.
    fn within<'t>(&self, connection: &'t mut (dyn Any + Send)) -> Result<InTransaction<'t>> {
        let _ = connection;
        let instead = "the processor, whose store and outbox commit together, or a store in PostgreSQL or SQLite";
        Err(Error::unsupported("a call within a transaction of the caller", instead).on(self.backend()))
    }
}

fn lacks(backend: &'static str, part: &str) -> Error {
    Error::unsupported(format_args!("a store of {part}"), "a backend that has them").on(backend)
}

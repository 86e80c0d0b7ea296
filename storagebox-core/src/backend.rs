//! A backend as a whole: its boxes, its upkeep and what it promises.
//!
//! The rest of the module is for those who write a backend: the parts that are the same whatever the store is. Callers of
//! a backend need none of it.

mod boxes;
mod counter_rules;
mod listing;
mod micros;
mod promises;
mod repeat;
pub mod url;

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use crate::counter::Counter;
use crate::dedup_repo::DedupRepo;
use crate::error::{Error, Result};
use crate::item_bank::BankAdmin;
use crate::lease_repo::LeaseRepo;
use crate::ledger::Ledger;
use crate::ordered_store::{OrderedOptions, OrderedStore};
use crate::strategy::Strategy;
use crate::token_store::TokenStore;
use crate::value::BoxName;

pub use crate::settles::Settled;
pub use boxes::OpenBoxes;
pub use counter_rules::CounterRules;
pub use listing::Listing;
pub use micros::{micros, micros_of};
pub use promises::{Maintained, Promise, Promises};
pub use repeat::{Backoff, Setback, pauses, repeat};

/// One backend. Handles to boxes are cheap, and handles of one name share one box.
///
/// # Guarantees
///
/// - S-1 [`setup`](Backend::setup) is idempotent and safe from many processes at once.
/// - S-2 [`maintain`](Backend::maintain) deletes only what no promise needs, a bounded amount per call, safe from many
///   processes at once.
/// - S-3 boxes of different names, and of different kinds, share nothing, however alike the names are; a dedup
///   repository and the lease repository of the same name are two views of the same records.
/// - S-4 a box is opened the way it was created: another strategy or other options are `Misconfigured`.
/// - S-5 what the backend cannot promise stands in [`promises`](Backend::promises); what it cannot do is `Unsupported`.
///
/// # Cancel safety
///
/// Every method is safe: call it again. A call that is polled and then left, neither driven nor dropped, may keep what it
/// has of the store, such as a connection, from others: drop what you do not drive.
///
/// # Errors
///
/// The constructors of boxes do no I/O; a backend that lacks a part answers `Unsupported` and names one that has it.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use std::sync::Arc;
/// use storagebox_core::{Backend, BackendExt};
/// use storagebox_memory::MemoryStore;
///
/// let store: Arc<dyn Backend> = Arc::new(MemoryStore::new());
/// store.setup().await?;
/// assert_eq!(store.bank("vouchers")?.counts().await?.total(), 0);
/// # Ok(()) }
/// ```
#[async_trait]
pub trait Backend: Debug + Send + Sync + 'static {
    /// The backend's short name, such as `memory`.
    fn backend(&self) -> &'static str;

    /// Makes what the store needs (schema, table), if it is not there.
    ///
    /// # Guarantees
    ///
    /// - S-1 above.
    ///
    /// # Cancel safety
    ///
    /// Safe. Set up again.
    ///
    /// # Errors
    ///
    /// `Denied` if the credentials may not create it.
    async fn setup(&self) -> Result<()>;

    /// Asks the store for a sign of life.
    ///
    /// # Guarantees
    ///
    /// - S-1: `NotSetUp` is told apart from `Unavailable`.
    ///
    /// # Cancel safety
    ///
    /// Safe: it changes nothing.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `NotSetUp`, `Denied`.
    async fn ping(&self) -> Result<()>;

    /// Deletes at most `max_entries` of what no promise needs any more.
    ///
    /// The number bounds what one attempt deletes. A repeat after a lost reply, also the backend's own, counts anew.
    ///
    /// # Guarantees
    ///
    /// - S-2 above.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part may have been deleted; call again.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn maintain(&self, max_entries: usize) -> Result<Maintained>;

    /// Closes connections after what is under way has ended.
    ///
    /// # Guarantees
    ///
    /// - S-2: nothing acknowledged is lost by it.
    ///
    /// # Cancel safety
    ///
    /// Safe. Close again.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn close(&self) -> Result<()>;

    /// What this store guarantees and what it does not, for people to read.
    fn promises(&self) -> Promises;

    /// The bank of this name.
    ///
    /// # Guarantees
    ///
    /// - S-3 above.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the backend has no banks.
    fn item_bank(&self, name: &BoxName) -> Result<Arc<dyn BankAdmin>> {
        let _ = name;
        Err(lacks(self.backend(), "banks"))
    }

    /// The deduplication records of this name.
    ///
    /// # Guarantees
    ///
    /// - S-3 above.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the backend has no records.
    fn dedup_repo(&self, name: &BoxName) -> Result<Arc<dyn DedupRepo>> {
        let _ = name;
        Err(lacks(self.backend(), "records"))
    }

    /// The leases over the deduplication records of this name.
    ///
    /// # Guarantees
    ///
    /// - S-3 above.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the backend has no leases.
    fn lease_repo(&self, name: &BoxName) -> Result<Arc<dyn LeaseRepo>> {
        let _ = name;
        Err(lacks(self.backend(), "leases"))
    }

    /// The tokens of this name.
    ///
    /// # Guarantees
    ///
    /// - S-3 above.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the backend has no tokens.
    fn token_store(&self, name: &BoxName) -> Result<Arc<dyn TokenStore>> {
        let _ = name;
        Err(lacks(self.backend(), "tokens"))
    }

    /// The counters of this name.
    ///
    /// # Guarantees
    ///
    /// - S-3, S-4 above.
    ///
    /// # Errors
    ///
    /// `Misconfigured` if the box was created with another strategy, at the latest from its first call;
    /// `Unsupported` for a strategy that the backend does not have; it names a better one.
    fn counter(&self, name: &BoxName, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        let _ = (name, strategy);
        Err(lacks(self.backend(), "counters"))
    }

    /// The counters of this name with [`Strategy::Ledger`], and their log: the same box as
    /// [`counter`](Backend::counter) opens with that strategy.
    ///
    /// # Guarantees
    ///
    /// - S-3, S-4 above.
    ///
    /// # Errors
    ///
    /// `Misconfigured` if the box was created with another strategy, at the latest from its first call;
    /// `Unsupported` if the backend has no ledgers; it names a strategy to use instead.
    fn ledger(&self, name: &BoxName) -> Result<Arc<dyn Ledger>> {
        let _ = name;
        Err(lacks(self.backend(), "ledgers"))
    }

    /// The ordered values of this name.
    ///
    /// # Guarantees
    ///
    /// - S-3, S-4 above.
    ///
    /// # Errors
    ///
    /// `Misconfigured` if the box was created with other options, at the latest from its first call.
    fn ordered_store(&self, name: &BoxName, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        let _ = (name, options);
        Err(lacks(self.backend(), "ordered values"))
    }
}

fn lacks(backend: &'static str, part: &str) -> Error {
    Error::unsupported(format_args!("a store of {part}"), "a backend that has them").on(backend)
}

macro_rules! by_text {
    ($($(#[$doc:meta])* $short:ident => $method:ident($($arg:ident: $ty:ty)?) -> $part:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        ///
        /// `InvalidInput` if the name is empty, over 512 bytes or holds U+0000; otherwise those of the method
        /// that it calls.
        fn $short<N>(&self, name: N $(, $arg: $ty)?) -> Result<Arc<dyn $part>>
        where
            N: TryInto<BoxName>,
            Error: From<N::Error>,
        {
            self.$method(&name.try_into()? $(, $arg)?)
        }
    )*};
}

/// Opens boxes by any text; for every [`Backend`].
pub trait BackendExt: Backend {
    by_text! {
        /// [`item_bank`](Backend::item_bank) by any text.
        bank => item_bank() -> BankAdmin;
        /// [`dedup_repo`](Backend::dedup_repo) by any text.
        dedup => dedup_repo() -> DedupRepo;
        /// [`lease_repo`](Backend::lease_repo) by any text.
        leases => lease_repo() -> LeaseRepo;
        /// [`token_store`](Backend::token_store) by any text.
        tokens => token_store() -> TokenStore;
        /// [`counter`](Backend::counter) by any text.
        counters => counter(strategy: Strategy) -> Counter;
        /// [`ledger`](Backend::ledger) by any text.
        ledgers => ledger() -> Ledger;
        /// [`ordered_store`](Backend::ordered_store) by any text.
        ordered => ordered_store(options: OrderedOptions) -> OrderedStore;
    }
}

impl<S: Backend + ?Sized> BackendExt for S {}

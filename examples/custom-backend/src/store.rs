//! The store: a file, and the namespaces in it.

use std::path::PathBuf;
use std::sync::Arc;

use storagebox_core::{
    Backend, Clock, Counter, DedupRepo, Error, ItemBank, LeaseRepo, Ledger, Maintained, Namespace, OrderedOptions,
    OrderedStore, Promises, Result, Retention, Strategy, SystemClock, TokenStore, async_trait,
};

use crate::client::{BACKEND, Client, Step};
use crate::counter::{self, RedbCounter};
use crate::dedup_repo::RedbDedupRepo;
use crate::error::Stepped;
use crate::item_bank::{self, RedbBank};
use crate::lease_repo::RedbLeaseRepo;
use crate::ordered_store::{self, RedbOrderedStore};
use crate::records;
use crate::space::{OPTIONS, Space};
use crate::token_store::{self, RedbTokenStore};
use crate::void_calls;

/// A store in a file. Clones share the file.
///
/// redb locks the file, so one process at a time has it open, from its first call until it closes the store or ends.
/// All clones of a store in a process share one open file. Calls need a runtime of tokio, on whose blocking threads
/// they read and write.
#[derive(Clone, Debug)]
pub struct RedbStore {
    client: Arc<Client>,
}

impl RedbStore {
    /// Creates a store on this file, by the machine's clock. [`setup`](Backend::setup) creates the file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self::with_clock(path, SystemClock)
    }

    /// Creates a store on this file whose expiries this clock decides.
    pub fn with_clock(path: impl Into<PathBuf>, clock: impl Clock) -> Self {
        Self { client: Arc::new(Client::new(path.into(), Arc::new(clock))) }
    }

    /// Closes the file and does the work, which may copy the file or let another process open it. Calls that are made
    /// meanwhile wait, and open the file again.
    ///
    /// # Errors
    ///
    /// Returns `Unavailable` if the file cannot be closed. The work is not done then.
    pub async fn lend<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        self.client.lend(work).await
    }

    pub(crate) fn space(&self, name: &Namespace) -> Space {
        Space::new(&self.client, name)
    }
}

/// Creates every table, because a table that does not exist cannot be read.
fn create(step: &Step) -> Stepped<()> {
    step.table(OPTIONS)?;
    step.table(item_bank::CLAIMS)?;
    step.table(item_bank::ITEMS)?;
    step.table(item_bank::AVAILABLE)?;
    step.table(records::RECORDS)?;
    step.table(records::ENDED)?;
    step.table(token_store::TOKENS)?;
    step.table(counter::COUNTERS)?;
    step.table(counter::OPS)?;
    step.table(void_calls::VOID_CALLS)?;
    step.table(ordered_store::VALUES).map(drop)
}

/// Deletes at most `most` rows that no promise needs (S-2). Each call reads all rows.
fn maintain(step: &Step, most: usize) -> Stepped<Maintained> {
    let parts: [fn(&Step, usize) -> Stepped<usize>; 6] = [
        item_bank::maintain,
        records::maintain,
        token_store::maintain,
        counter::maintain,
        void_calls::maintain,
        ordered_store::maintain,
    ];
    let mut deleted = 0;
    for part in parts {
        deleted += part(step, most - deleted)?;
    }
    Ok(Maintained { deleted: deleted as u64, more: deleted == most })
}

#[async_trait]
impl Backend for RedbStore {
    fn backend(&self) -> &'static str {
        BACKEND
    }

    async fn setup(&self) -> Result<()> {
        self.client.setup(create).await
    }

    async fn ping(&self) -> Result<()> {
        self.client.read("ping", |_| Ok(())).await
    }

    async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        self.client.write("maintain", move |step| maintain(step, max_entries)).await
    }

    async fn close(&self) -> Result<()> {
        self.lend(async {}).await
    }

    fn promises(&self) -> Promises {
        Promises::of(BACKEND)
            .with("atomicity", "one write transaction is one step; writers take turns, readers read a snapshot")
            .with("durability", "acknowledged writes are on the disk, if the disk honours flushes")
            .with("processes", "one at a time; redb locks the file")
            .with("clock", "the clock of the machine; if it is set back, time stands still until it catches up")
            .remembers(Some(Retention::DEFAULT))
            .with("counters", "Atomic, Marker, Window and Sharded; the others are Unsupported")
    }

    fn item_bank(&self, name: &Namespace) -> Result<Arc<dyn ItemBank>> {
        Ok(Arc::new(RedbBank(self.space(name))))
    }

    fn dedup_repo(&self, name: &Namespace) -> Result<Arc<dyn DedupRepo>> {
        Ok(Arc::new(RedbDedupRepo(self.space(name))))
    }

    fn lease_repo(&self, name: &Namespace) -> Result<Arc<dyn LeaseRepo>> {
        Ok(Arc::new(RedbLeaseRepo(self.space(name))))
    }

    fn token_store(&self, name: &Namespace) -> Result<Arc<dyn TokenStore>> {
        Ok(Arc::new(RedbTokenStore(self.space(name))))
    }

    fn counter(&self, name: &Namespace, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        Ok(Arc::new(RedbCounter::new(self.space(name), strategy)?))
    }

    fn ledger(&self, _: &Namespace) -> Result<Arc<dyn Ledger>> {
        Err(Error::unsupported("a ledger", "the counter strategy Marker with Retention::Forever").on(BACKEND))
    }

    fn ordered_store(&self, name: &Namespace, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        Ok(Arc::new(RedbOrderedStore::new(self.space(name), options)?))
    }
}

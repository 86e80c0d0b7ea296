//! The store: namespaces by kind and name.

mod open;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use storagebox_core::backend::url::plain_url;
use storagebox_core::{
    Backend, Counter, DedupRepo, EntityLedger, Error, ItemBank, Joins, LeaseRepo, Ledger, Maintained, Namespace,
    OrderedOptions, OrderedStore, Promises, Result, Strategy, TokenStore, async_trait,
};

use crate::config::{MemoryBuilder, Settings};
use crate::counter::{MemoryCounter, MemoryLedger};
use crate::dedup_repo::MemoryDedupRepo;
use crate::entity_ledger::{Entities, MemoryEntityLedger};
use crate::item_bank::MemoryBank;
use crate::lease_repo::MemoryLeaseRepo;
use crate::ordered_store::{MemoryOrderedStore, Values};
use crate::records::Records;
use crate::token_store::MemoryTokenStore;

/// A store inside this process. Clones share their namespaces.
#[derive(Clone)]
pub struct MemoryStore {
    settings: Settings,
    namespaces: Arc<Namespaces>,
}

#[derive(Default)]
struct Namespaces {
    banks: ByName<MemoryBank>,
    records: ByName<Records>,
    tokens: ByName<MemoryTokenStore>,
    entities: ByName<Entities>,
    /// The strategy with which each namespace of counters, including ledgers, was created.
    strategies: ByName<Strategy>,
    counters: ByName<MemoryCounter>,
    ledgers: ByName<MemoryLedger>,
    ordered: ByName<Values>,
}

/// The namespaces of one kind.
struct ByName<T>(Mutex<BTreeMap<Namespace, Arc<T>>>);

impl<T> Default for ByName<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> ByName<T> {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Namespace, Arc<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the namespace of this name, and creates it if it does not exist.
    fn open(&self, name: &Namespace, create: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let mut namespaces = self.lock();
        if let Some(known) = namespaces.get(name) {
            return Ok(Arc::clone(known));
        }
        let created = Arc::new(create()?);
        namespaces.insert(name.clone(), Arc::clone(&created));
        Ok(created)
    }

    fn spend(&self, budget: usize, maintain: impl Fn(&T, usize) -> usize) -> usize {
        let namespaces: Vec<_> = self.lock().values().cloned().collect();
        namespaces.iter().fold(0, |used, one| used + maintain(one, budget - used))
    }
}

impl MemoryStore {
    /// Creates an empty store on tokio's clock, with the default settings.
    pub fn new() -> Self {
        Self::with(Settings::default())
    }

    /// Returns a builder with the default settings.
    pub fn builder() -> MemoryBuilder {
        MemoryBuilder::default()
    }

    /// Opens an empty store by URL, which is `memory:`.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the URL has anything after the colon: the store takes no address and no settings.
    pub fn connect(url: &str) -> Result<Self> {
        plain_url(url).map_err(|error| error.on("memory"))?;
        match url {
            "memory:" => Ok(Self::new()),
            _ => {
                Err(Error::misconfigured("url", "must be `memory:` alone, which takes no path and no query")
                    .on("memory"))
            }
        }
    }

    /// Opens the bank of this name, which can also be called without futures.
    pub fn memory_bank(&self, name: &Namespace) -> Arc<MemoryBank> {
        let mut banks = self.namespaces.banks.lock();
        let bank = banks.entry(name.clone()).or_insert_with(|| Arc::new(MemoryBank::new(self.settings.clone())));
        Arc::clone(bank)
    }

    pub(crate) fn with(settings: Settings) -> Self {
        Self { settings, namespaces: Arc::default() }
    }

    fn open_counted(&self, name: &Namespace, strategy: Strategy) -> Result<()> {
        let created = self.namespaces.strategies.open(name, || strategy.checked())?;
        same(name, &*created, &strategy)
    }

    fn tokens(&self, name: &Namespace) -> Result<Arc<MemoryTokenStore>> {
        self.namespaces.tokens.open(name, || Ok(MemoryTokenStore::new(self.settings.clone())))
    }

    fn records(&self, name: &Namespace) -> Result<Arc<Records>> {
        self.namespaces.records.open(name, || Ok(Records::new(self.settings.clone())))
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Returns `Misconfigured` if a namespace is opened with other options than it was created with (S-4).
fn same<T: PartialEq + fmt::Debug>(name: &Namespace, created: &T, asked: &T) -> Result<()> {
    if created == asked {
        return Ok(());
    }
    let why = format_args!("{name:?} was created with {created:?} and cannot be opened with {asked:?}");
    Err(Error::misconfigured("namespace", why).on("memory"))
}

#[async_trait]
impl Backend for MemoryStore {
    fn backend(&self) -> &'static str {
        "memory"
    }

    async fn setup(&self) -> Result<()> {
        Ok(())
    }

    async fn ping(&self) -> Result<()> {
        Ok(())
    }

    async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        let namespaces = &*self.namespaces;
        let mut used = namespaces.banks.spend(max_entries, MemoryBank::maintain);
        used += namespaces.records.spend(max_entries - used, Records::maintain);
        used += namespaces.tokens.spend(max_entries - used, MemoryTokenStore::maintain);
        used += namespaces.entities.spend(max_entries - used, Entities::maintain);
        used += namespaces.counters.spend(max_entries - used, MemoryCounter::maintain);
        used += namespaces.ordered.spend(max_entries - used, Values::maintain);
        Ok(Maintained { deleted: used as u64, more: used == max_entries })
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }

    fn promises(&self) -> Promises {
        Promises::of("memory")
            .with("atomicity", "one lock is one step; no call waits for another's reply")
            .with("durability", "none: everything is gone with the process")
            .with("clock", "one clock that never goes back, inside this process")
            .remembers(Some(self.settings.remember))
            .with("counters", "every strategy; request tokens last ten minutes by the store's clock")
    }

    fn item_bank(&self, name: &Namespace) -> Result<Arc<dyn ItemBank>> {
        Ok(self.memory_bank(name))
    }

    fn dedup_repo(&self, name: &Namespace) -> Result<Arc<dyn DedupRepo>> {
        Ok(Arc::new(MemoryDedupRepo(self.records(name)?)))
    }

    fn lease_repo(&self, name: &Namespace) -> Result<Arc<dyn LeaseRepo>> {
        Ok(Arc::new(MemoryLeaseRepo(self.records(name)?)))
    }

    fn token_store(&self, name: &Namespace) -> Result<Arc<dyn TokenStore>> {
        Ok(self.tokens(name)?)
    }

    fn entity_ledger(&self, name: &Namespace, joins: &Joins) -> Result<Arc<dyn EntityLedger>> {
        let entities = self.namespaces.entities.open(name, || Ok(Entities::new(self.settings.clone())))?;
        let incoming = joins.incoming.as_ref().map(|name| self.tokens(name)).transpose()?;
        let outgoing = joins.outgoing.as_ref().map(|name| self.tokens(name)).transpose()?;
        Ok(Arc::new(MemoryEntityLedger { entities, joins: joins.clone(), incoming, outgoing }))
    }

    fn counter(&self, name: &Namespace, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        if strategy == Strategy::Ledger {
            return Ok(self.ledger(name)?);
        }
        self.open_counted(name, strategy)?;
        let create = || Ok(MemoryCounter::new(self.settings.clone(), strategy));
        Ok(self.namespaces.counters.open(name, create)?)
    }

    fn ledger(&self, name: &Namespace) -> Result<Arc<dyn Ledger>> {
        self.open_counted(name, Strategy::Ledger)?;
        Ok(self.namespaces.ledgers.open(name, || Ok(MemoryLedger::new(self.settings.clone())))?)
    }

    fn ordered_store(&self, name: &Namespace, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        let asked = Values::new(self.settings.clone(), options)?;
        let words = asked.created();
        let values = self.namespaces.ordered.open(name, || Ok(asked))?;
        same(name, &values.created(), &words)?;
        Ok(Arc::new(MemoryOrderedStore::new(values, options)?))
    }
}

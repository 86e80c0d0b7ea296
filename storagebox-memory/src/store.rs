//! The store: namespaces by kind and name.

mod by_name;
mod open;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use storagebox_core::backend::url::plain_url;
use storagebox_core::{
    Backend, Counter, DedupRepo, EntityLedger, Error, InTransaction, ItemBank, Joins, LeaseRepo, Ledger, Maintained,
    Namespace, OrderedOptions, OrderedStore, Promises, Result, Strategy, TokenStore, async_trait,
};

use crate::config::{MemoryBuilder, Settings};
use crate::counter::AnyCounter;
use crate::dedup_repo::MemoryDedupRepo;
use crate::entity_ledger::{Entities, MemoryEntityLedger};
use crate::item_bank::MemoryBank;
use crate::lease_repo::MemoryLeaseRepo;
use crate::ordered_store::{MemoryOrderedStore, Values};
use crate::records::Records;
use crate::token_store::{Gate, MemoryTokenStore};
use crate::transaction::{Joined, MemoryTransaction, Open, Waits};

use by_name::ByName;

/// A store inside this process. Clones share their namespaces.
#[derive(Clone)]
pub struct MemoryStore {
    settings: Settings,
    namespaces: Arc<Namespaces>,
    /// The transaction to which the calls of this store's parts belong; `None` outside any transaction.
    by: Option<Open>,
}

#[derive(Default)]
struct Namespaces {
    banks: ByName<MemoryBank>,
    records: ByName<Records>,
    tokens: ByName<MemoryTokenStore>,
    entities: ByName<Entities>,
    counters: ByName<AnyCounter>,
    ordered: ByName<Values>,
    gate: Gate,
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
            _ => Err(Error::misconfigured("url", "must be `memory:`, without a path and without a query").on("memory")),
        }
    }

    /// Opens the bank of this name, which can also be called without futures.
    pub fn memory_bank(&self, name: &Namespace) -> Arc<MemoryBank> {
        let bank = self.namespaces.banks.get(name, || MemoryBank::new(self.settings.clone()));
        self.joined(bank, MemoryBank::joined)
    }

    pub(crate) fn with(settings: Settings) -> Self {
        Self { settings, namespaces: Arc::default(), by: None }
    }

    /// Returns the part, joined to the transaction of this store if there is one.
    fn joined<T>(&self, part: Arc<T>, join: impl Fn(&T, &Open) -> T) -> Arc<T> {
        match &self.by {
            None => part,
            Some(by) => Arc::new(join(&part, by)),
        }
    }

    fn counted(&self, name: &Namespace, strategy: Strategy) -> Result<AnyCounter> {
        strategy.checked()?;
        let create = || AnyCounter::new(self.settings.clone(), strategy);
        let counted = self
            .namespaces
            .counters
            .open(name, self.by.as_ref(), create, |created| same(name, &created.strategy(), &strategy))?;
        Ok(self.by.as_ref().map_or_else(|| (*counted).clone(), |by| counted.joined(by)))
    }

    fn tokens(&self, name: &Namespace) -> Arc<MemoryTokenStore> {
        let create = || MemoryTokenStore::new(self.settings.clone(), self.namespaces.gate.clone());
        self.joined(self.namespaces.tokens.get(name, create), MemoryTokenStore::joined)
    }

    fn records(&self, name: &Namespace) -> Arc<Records> {
        let records = self.namespaces.records.get(name, || Records::new(self.settings.clone()));
        self.joined(records, Records::joined)
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

/// Returns `Misconfigured` unless the namespace was created with the requested options (S-4).
fn same<T: PartialEq + fmt::Debug>(name: &Namespace, created: &T, asked: &T) -> Result<()> {
    if created == asked {
        return Ok(());
    }
    Err(differs(name, created, asked))
}

fn differs(name: &Namespace, created: &impl fmt::Debug, asked: &impl fmt::Debug) -> Error {
    let why = format_args!("{name:?} was created with {created:?} and cannot be opened with {asked:?}");
    Error::misconfigured("namespace", why).on("memory")
}

fn no_transaction() -> Error {
    let why = "must be a `MemoryTransaction`";
    Error::misconfigured("the connection", why).on("memory")
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
        used += namespaces.counters.spend(max_entries - used, AnyCounter::maintain);
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
            .with(
                "clock",
                "one clock that never goes back, inside this process; the default one may stand still while the machine \
                 sleeps",
            )
            .remembers(Some(self.settings.remember))
            .with("counters", "every strategy; request tokens last ten minutes by the store's clock")
    }

    fn item_bank(&self, name: &Namespace) -> Result<Arc<dyn ItemBank>> {
        Ok(self.memory_bank(name))
    }

    fn dedup_repo(&self, name: &Namespace) -> Result<Arc<dyn DedupRepo>> {
        Ok(Arc::new(MemoryDedupRepo(self.records(name))))
    }

    fn lease_repo(&self, name: &Namespace) -> Result<Arc<dyn LeaseRepo>> {
        Ok(Arc::new(MemoryLeaseRepo(self.records(name))))
    }

    fn token_store(&self, name: &Namespace) -> Result<Arc<dyn TokenStore>> {
        Ok(self.tokens(name))
    }

    fn entity_ledger(&self, name: &Namespace, joins: &Joins) -> Result<Arc<dyn EntityLedger>> {
        if self.by.is_some() {
            let instead = "the same call outside the transaction";
            return Err(Error::unsupported("a store of entities within a transaction", instead).on("memory"));
        }
        let entities = self.namespaces.entities.get(name, || Entities::new(self.settings.clone()));
        let [incoming, outgoing] = [&joins.incoming, &joins.outgoing].map(|name| Some(self.tokens(name.as_ref()?)));
        Ok(Arc::new(MemoryEntityLedger { entities, joins: joins.clone(), incoming, outgoing }))
    }

    fn counter(&self, name: &Namespace, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        Ok(match self.counted(name, strategy)? {
            AnyCounter::Value(counter) => counter,
            AnyCounter::Entries(ledger) => ledger,
        })
    }

    fn ledger(&self, name: &Namespace) -> Result<Arc<dyn Ledger>> {
        match self.counted(name, Strategy::Ledger)? {
            AnyCounter::Entries(ledger) => Ok(ledger),
            AnyCounter::Value(counter) => Err(differs(name, &counter.strategy, &Strategy::Ledger)),
        }
    }

    fn ordered_store(&self, name: &Namespace, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        let asked = Values::new(self.settings.clone(), options)?;
        let words = asked.created();
        let is_same = |values: &Values| same(name, &values.created(), &words);
        let values = self.namespaces.ordered.open(name, self.by.as_ref(), || asked, is_same)?;
        Ok(Arc::new(MemoryOrderedStore::new(self.joined(values, Values::joined), options)?))
    }

    fn within<'t>(&self, connection: &'t mut (dyn Any + Send)) -> Result<InTransaction<'t>> {
        let transaction = connection.downcast_mut::<MemoryTransaction>().ok_or_else(no_transaction)?;
        let by = transaction.open().clone();
        let (settings, namespaces) = (self.settings.clone(), Arc::clone(&self.namespaces));
        let parts = Self { settings, namespaces, by: Some(by.clone()) };
        Ok(InTransaction::new(parts, Joined).layered(Arc::new(Waits(by))))
    }
}

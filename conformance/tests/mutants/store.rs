//! The broken store: the memory store, with a wrapper around every namespace. The wrapper makes at most one mistake.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use storagebox_core::{
    Backend, Counter, DedupRepo, EntityLedger, Error, ErrorKind, InTransaction, ItemBank, Joins, LeaseRepo, Ledger,
    Maintained, ManualClock, Namespace, OrderedOptions, OrderedStore, Promises, Result, Strategy, TokenStore,
    async_trait,
};
use storagebox_memory::MemoryStore;

use crate::bank::{BankMistake, BankState, BrokenBank};
use crate::counter::{BrokenCounter, CounterMistake, CounterState, strategy_below};
use crate::dedup::{BrokenDedup, DedupMistake, DedupState};
use crate::entities::{BrokenEntities, EntityMistake, EntityState};
use crate::lease::{BrokenLeases, LeaseMistake, LeaseState};
use crate::ledger::{BrokenLedger, LedgerMistake, LedgerState};
use crate::ordered::{BrokenOrdered, OrderedMistake, OrderedState, options_below};
use crate::steps::{Namespaces, UnderWay, between_steps, lock};
use crate::tokens::{BrokenTokens, TokenMistake, TokenState};
use crate::transactions::{TransactionMistake, outside, within};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// No mistake, to check that the wrapper itself is correct.
    None,
    Bank(BankMistake),
    Dedup(DedupMistake),
    Lease(LeaseMistake),
    Token(TokenMistake),
    Entity(EntityMistake),
    Counter(CounterMistake),
    Ledger(LedgerMistake),
    Ordered(OrderedMistake),
    Transaction(TransactionMistake),
    Store(StoreMistake),
}

/// Evaluates to the mistake if it belongs to this part of the store.
macro_rules! of_part {
    ($mistake:expr, $part:ident) => {
        if let Mistake::$part(mistake) = $mistake { Some(mistake) } else { None }
    };
}

/// A mistake of the store as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreMistake {
    SetsUpOnce,
    SetUpRaces,
    MaintainsWithoutBound,
    MaintainsTooMuch,
    ForgetsWithinAnHour,
    LowercasesNames,
    NamespacesOfOneClient,
    OpensAnyWay,
    KeepsTheSkew,
    WeakerThanAsked,
    ForgetsASecondEarly,
    SetsUpAnew,
    MaintainsOnePage,
}

/// The state of a mistake, for one server or one client.
#[derive(Default)]
pub(crate) struct Kept {
    banks: Namespaces<BankState>,
    dedup: Namespaces<DedupState>,
    leases: Namespaces<LeaseState>,
    tokens: Namespaces<TokenState>,
    entities: Namespaces<EntityState>,
    counters: Namespaces<CounterState>,
    ledgers: Namespaces<LedgerState>,
    ordered: Namespaces<OrderedState>,
    is_set_up: AtomicBool,
    setting_up: AtomicUsize,
    strategies: Mutex<HashMap<Namespace, Strategy>>,
    options: Mutex<HashMap<Namespace, OrderedOptions>>,
}

/// One client of a broken store.
#[derive(Clone)]
pub(crate) struct Broken {
    pub(crate) inner: MemoryStore,
    pub(crate) clock: ManualClock,
    pub(crate) mistake: Mistake,
    pub(crate) kept: Arc<Kept>,
    pub(crate) client: u64,
}

impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Broken").field(&self.mistake).finish()
    }
}

impl Broken {
    /// Returns the name of this namespace in the inner store.
    fn below(&self, name: &Namespace) -> Result<Namespace> {
        match self.mistake {
            Mistake::Store(StoreMistake::LowercasesNames) => Namespace::new(name.as_str().to_lowercase()),
            Mistake::Store(StoreMistake::NamespacesOfOneClient) => Namespace::new(format!("{}/{name}", self.client)),
            Mistake::Dedup(DedupMistake::JoinsNames) => Namespace::new("joined"),
            _ => Ok(name.clone()),
        }
    }

    /// Returns an error if another setup is in progress, like two concurrent `CREATE TABLE IF NOT EXISTS`.
    async fn set_up_alone(&self) -> Result<()> {
        let (_under_way, others) = UnderWay::enter(&self.kept.setting_up);
        between_steps().await;
        if others > 0 {
            return Err(Error::unknown("duplicate key in the catalogue"));
        }
        Ok(())
    }

    async fn forget_ended_claims(&self) -> Result<Maintained> {
        for (name, state) in self.kept.banks.all() {
            let bank = self.inner.item_bank(&name)?;
            for claim in state.ended() {
                let _ = bank.retire(&claim).await?;
            }
        }
        Ok(Maintained::default())
    }

    fn strategy(&self, name: &Namespace, strategy: Strategy) -> Strategy {
        match self.mistake {
            Mistake::Store(StoreMistake::OpensAnyWay) => {
                *lock(&self.kept.strategies).entry(name.clone()).or_insert(strategy)
            }
            Mistake::Store(StoreMistake::WeakerThanAsked) => match strategy {
                Strategy::Marker { .. } | Strategy::Window { .. } | Strategy::Sharded { .. } => strategy,
                _ => Strategy::Atomic,
            },
            Mistake::Counter(mistake) => strategy_below(Some(mistake), strategy),
            _ => strategy,
        }
    }

    fn check_skew(&self, name: &Namespace, options: OrderedOptions) -> Result<()> {
        if self.mistake != Mistake::Store(StoreMistake::KeepsTheSkew) {
            return Ok(());
        }
        let created = *lock(&self.kept.options).entry(name.clone()).or_insert(options);
        if created == options {
            return Ok(());
        }
        Err(Error::misconfigured("namespace", format!("created with {created:?}, opened with {options:?}")))
    }

    fn options(&self, name: &Namespace, options: OrderedOptions) -> OrderedOptions {
        match self.mistake {
            Mistake::Store(StoreMistake::OpensAnyWay) => {
                *lock(&self.kept.options).entry(name.clone()).or_insert(options)
            }
            Mistake::Ordered(mistake) => options_below(Some(mistake), options),
            _ => options,
        }
    }
}

#[async_trait]
impl Backend for Broken {
    fn backend(&self) -> &'static str {
        self.inner.backend()
    }

    async fn setup(&self) -> Result<()> {
        match self.mistake {
            Mistake::Store(StoreMistake::SetsUpOnce) if self.kept.is_set_up.swap(true, Ordering::SeqCst) => {
                Err(Error::new(ErrorKind::Denied, "the table already exists"))
            }
            Mistake::Store(StoreMistake::SetUpRaces) => self.set_up_alone().await,
            Mistake::Store(StoreMistake::SetsUpAnew) => self.forget_ended_claims().await.map(drop),
            _ => self.inner.setup().await,
        }
    }

    async fn ping(&self) -> Result<()> {
        outside(&self.inner, of_part!(self.mistake, Transaction)).ping().await
    }

    async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        match self.mistake {
            Mistake::Store(StoreMistake::MaintainsWithoutBound) => self.inner.maintain(usize::MAX).await,
            Mistake::Store(StoreMistake::MaintainsTooMuch) => self.forget_ended_claims().await,
            Mistake::Store(StoreMistake::MaintainsOnePage) if max_entries > 500 => {
                // Does not report that entries are left for a later call.
                Ok(Maintained { more: false, ..self.inner.maintain(500).await? })
            }
            _ => self.inner.maintain(max_entries).await,
        }
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }

    fn promises(&self) -> Promises {
        self.inner.promises()
    }

    fn item_bank(&self, name: &Namespace) -> Result<Arc<dyn ItemBank>> {
        let mistake = of_part!(self.mistake, Bank);
        let kept_by = match mistake {
            Some(BankMistake::ClaimsSpanBanks) => &Namespace::new("every bank")?,
            _ => name,
        };
        Ok(Arc::new(BrokenBank {
            inner: outside(&self.inner, of_part!(self.mistake, Transaction)).item_bank(&self.below(name)?)?,
            mistake,
            state: self.kept.banks.open(kept_by),
            client: self.client,
        }))
    }

    fn dedup_repo(&self, name: &Namespace) -> Result<Arc<dyn DedupRepo>> {
        Ok(Arc::new(BrokenDedup {
            inner: self.inner.dedup_repo(&self.below(name)?)?,
            mistake: of_part!(self.mistake, Dedup),
            state: self.kept.dedup.open(name),
            name: name.clone(),
        }))
    }

    fn lease_repo(&self, name: &Namespace) -> Result<Arc<dyn LeaseRepo>> {
        Ok(Arc::new(BrokenLeases {
            inner: self.inner.lease_repo(&self.below(name)?)?,
            mistake: of_part!(self.mistake, Lease),
            state: self.kept.leases.open(name),
        }))
    }

    fn token_store(&self, name: &Namespace) -> Result<Arc<dyn TokenStore>> {
        Ok(Arc::new(BrokenTokens {
            inner: self.inner.token_store(&self.below(name)?)?,
            mistake: of_part!(self.mistake, Token),
            state: self.kept.tokens.open(name),
            clock: self.clock.clone(),
        }))
    }

    fn entity_ledger(&self, name: &Namespace, joins: &Joins) -> Result<Arc<dyn EntityLedger>> {
        let below = |name: &Option<Namespace>| name.as_ref().map(|name| self.below(name)).transpose();
        let joins = Joins { incoming: below(&joins.incoming)?, outgoing: below(&joins.outgoing)? };
        let name = self.below(name)?;
        let tokens = joins.incoming.as_ref().or(joins.outgoing.as_ref());
        let tokens = tokens.map(|tokens| self.inner.token_store(tokens)).transpose()?;
        Ok(Arc::new(BrokenEntities {
            inner: self.inner.entity_ledger(&name, &joins)?,
            split: self.inner.entity_ledger(&name, &Joins::default())?,
            tokens,
            mistake: of_part!(self.mistake, Entity),
            state: self.kept.entities.open(&name),
        }))
    }

    fn counter(&self, name: &Namespace, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        if let (Mistake::Ledger(_), Strategy::Ledger) = (self.mistake, strategy) {
            return Ok(self.ledger(name)?);
        }
        let below = self.strategy(name, strategy);
        Ok(Arc::new(BrokenCounter {
            inner: self.inner.counter(&self.below(name)?, below)?,
            mistake: of_part!(self.mistake, Counter),
            state: self.kept.counters.open(name),
            strategy,
            client: self.client,
        }))
    }

    fn ledger(&self, name: &Namespace) -> Result<Arc<dyn Ledger>> {
        Ok(Arc::new(BrokenLedger {
            inner: self.inner.ledger(&self.below(name)?)?,
            mistake: of_part!(self.mistake, Ledger),
            state: self.kept.ledgers.open(name),
            clock: self.clock.clone(),
        }))
    }

    fn ordered_store(&self, name: &Namespace, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        let below = self.options(name, options);
        self.check_skew(name, options)?;
        Ok(Arc::new(BrokenOrdered {
            inner: self.inner.ordered_store(&self.below(name)?, below)?,
            mistake: of_part!(self.mistake, Ordered),
            state: self.kept.ordered.open(name),
            options,
            clock: self.clock.clone(),
        }))
    }

    fn within<'t>(&self, connection: &'t mut (dyn Any + Send)) -> Result<InTransaction<'t>> {
        within(&self.inner, of_part!(self.mistake, Transaction), connection)
    }
}

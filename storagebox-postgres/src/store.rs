//! The store: its namespaces by kind and name, and its upkeep.

mod open;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use sqlx::postgres::PgConnection;
use sqlx::{PgPool, Row};
use storagebox_core::backend::OpenNamespaces;
use storagebox_core::{
    Backend, Counter, DedupRepo, EntityLedger, Error, InTransaction, ItemBank, Joins, LeaseRepo, Ledger, Maintained,
    Namespace, OrderedOptions, OrderedStore, Promises, Result, Strategy, TokenStore, async_trait,
};

use crate::client::{Client, Connections, FunctionCall, Kind, OpenNamespace};
use crate::config::{PostgresBuilder, Settings};
use crate::counter::PostgresCounter;
use crate::dedup_repo::PostgresDedupRepo;
use crate::entity_ledger::PostgresEntityLedger;
use crate::error::{self, read};
use crate::item_bank::PostgresBank;
use crate::lease_repo::PostgresLeaseRepo;
use crate::ordered_store::PostgresOrderedStore;
use crate::schema;
use crate::token_store::PostgresTokenStore;

/// A store in a schema of a Postgres database. Clones share its connections.
#[derive(Clone)]
pub struct PostgresStore {
    client: Arc<Client>,
    namespaces: Arc<OpenNamespaces>,
}

impl PostgresStore {
    /// Opens a store by URL, with the default settings; see [`PostgresBuilder::connect`]. The first call connects.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the URL cannot be read or has a `#`, or a query key is unknown. The message never
    /// contains the URL.
    pub fn connect(url: &str) -> Result<Self> {
        Self::builder().connect(url)
    }

    /// Opens a store on an existing pool, with the default settings; see [`PostgresBuilder::from_pool`].
    ///
    /// # Errors
    ///
    /// Never fails with the default settings.
    pub fn from_pool(pool: PgPool) -> Result<Self> {
        Self::builder().from_pool(pool)
    }

    /// Returns a builder with the default settings.
    pub fn builder() -> PostgresBuilder {
        PostgresBuilder::default()
    }

    pub(crate) fn with(connections: Connections, settings: Settings) -> Self {
        Self { client: Client::new(connections, settings), namespaces: Arc::default() }
    }

    fn records(&self, name: &Namespace) -> OpenNamespace {
        OpenNamespace::new(&self.client, Kind::Records, name)
    }

    fn tokens(&self, name: &Namespace) -> Result<Arc<PostgresTokenStore>> {
        let create = || Ok(PostgresTokenStore::new(OpenNamespace::new(&self.client, Kind::Tokens, name)));
        self.namespaces.open("tokens", name, String::new(), create)
    }

    /// Returns the namespace of the tokens that the commits of entities may change.
    fn joined(&self, name: Option<&Namespace>) -> Result<Option<Arc<OpenNamespace>>> {
        name.map(|name| Ok(Arc::clone(self.tokens(name)?.namespace()))).transpose()
    }

    /// Runs one upkeep function in steps, for at most `most` rows. Returns the number of handled rows.
    async fn upkeep(&self, upkeep: &Upkeep, epoch: i64, most: u64) -> Result<u64> {
        let mut done = 0;
        while done < most {
            let step = STEP.min(most - done);
            let found = self.step(upkeep, epoch, step).await?;
            done += found;
            if found < step {
                break;
            }
        }
        Ok(done)
    }

    async fn step(&self, upkeep: &Upkeep, epoch: i64, most: u64) -> Result<u64> {
        let mut call = FunctionCall::value(upkeep.function).in_epoch(epoch);
        if upkeep.asks_for_memory {
            call = call.with(self.client.memory());
        }
        let call = call.with(i64::try_from(most).unwrap_or(i64::MAX));
        let row = self.client.settle("maintain", || self.client.row(&call)).await?;
        Ok(read::<i64>(upkeep.function, row.try_get(0))?.unsigned_abs())
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("settings", self.client.settings()).finish_non_exhaustive()
    }
}

struct Upkeep {
    function: &'static str,
    /// Whether the function has an argument for the time for which ended operations are remembered.
    asks_for_memory: bool,
    /// Whether the function deletes rows.
    deletes: bool,
}

const UPKEEP: [Upkeep; 5] = [
    Upkeep { function: "bank_free_lapsed", asks_for_memory: false, deletes: false },
    Upkeep { function: "dedup_maintain", asks_for_memory: true, deletes: true },
    Upkeep { function: "memory_maintain", asks_for_memory: true, deletes: true },
    Upkeep { function: "counter_maintain", asks_for_memory: false, deletes: true },
    Upkeep { function: "ordered_maintain", asks_for_memory: false, deletes: true },
];

/// The number of rows that one statement of upkeep handles. The statement ends long before its timeout, and is
/// committed alone, so a failure undoes the work of one step only.
const STEP: u64 = 1_000;

#[async_trait]
impl Backend for PostgresStore {
    fn backend(&self) -> &'static str {
        "postgres"
    }

    async fn setup(&self) -> Result<()> {
        schema::setup(&self.client).await
    }

    async fn ping(&self) -> Result<()> {
        schema::ping(&self.client).await
    }

    async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        let (mut left, mut deleted) = (max_entries as u64, 0);
        let epoch = schema::epoch(&self.client).await.map_err(|error| error.during("maintain"))?;
        for upkeep in &UPKEEP {
            let done = self.upkeep(upkeep, epoch, left).await?;
            left -= done.min(left);
            deleted += if upkeep.deletes { done } else { 0 };
        }
        Ok(Maintained { deleted, more: left == 0 })
    }

    async fn close(&self) -> Result<()> {
        self.client.close();
        Ok(())
    }

    fn promises(&self) -> Promises {
        Promises::of("postgres")
            .with("atomicity", "one statement is one transaction, at READ COMMITTED")
            .with(
                "durability",
                "that of the server: with synchronous_commit on, acknowledged writes survive a crash of the server",
            )
            .with("failover", "an asynchronous replica can lose the latest acknowledged writes")
            .with("clock", "the clock of the server, read after the lock is taken")
            .remembers(self.client.settings().options.remember)
            .with("counters", "Atomic, Marker, Window and Sharded; the others are Unsupported")
    }

    fn item_bank(&self, name: &Namespace) -> Result<Arc<dyn ItemBank>> {
        let create = || Ok(PostgresBank::new(&self.client, name));
        Ok(self.namespaces.open("bank", name, String::new(), create)?)
    }

    fn dedup_repo(&self, name: &Namespace) -> Result<Arc<dyn DedupRepo>> {
        let create = || Ok(PostgresDedupRepo::new(self.records(name)));
        Ok(self.namespaces.open("records", name, String::new(), create)?)
    }

    fn lease_repo(&self, name: &Namespace) -> Result<Arc<dyn LeaseRepo>> {
        let create = || Ok(PostgresLeaseRepo::new(self.records(name)));
        Ok(self.namespaces.open("leases", name, String::new(), create)?)
    }

    fn token_store(&self, name: &Namespace) -> Result<Arc<dyn TokenStore>> {
        Ok(self.tokens(name)?)
    }

    fn entity_ledger(&self, name: &Namespace, joins: &Joins) -> Result<Arc<dyn EntityLedger>> {
        let (incoming, outgoing) = (self.joined(joins.incoming.as_ref())?, self.joined(joins.outgoing.as_ref())?);
        let entities = OpenNamespace::new(&self.client, Kind::Entities, name);
        let create = || Ok(PostgresEntityLedger { entities, joins: joins.clone(), incoming, outgoing });
        Ok(self.namespaces.open("entities", name, format!("{joins:?}"), create)?)
    }

    fn counter(&self, name: &Namespace, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        let create = || PostgresCounter::new(&self.client, name, strategy);
        Ok(self.namespaces.open("counters", name, format!("{strategy:?}"), create)?)
    }

    fn ledger(&self, _name: &Namespace) -> Result<Arc<dyn Ledger>> {
        Err(Error::unsupported("a ledger", "the counter strategy Marker with Retention::Forever").on("postgres"))
    }

    fn ordered_store(&self, name: &Namespace, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        let create = || PostgresOrderedStore::new(&self.client, name, options);
        Ok(self.namespaces.open("ordered", name, format!("{options:?}"), create)?)
    }

    fn within<'t>(&self, connection: &'t mut (dyn Any + Send)) -> Result<InTransaction<'t>> {
        let connection = connection.downcast_mut::<PgConnection>().ok_or_else(error::not_postgres)?;
        let (client, transaction) = self.client.within(connection);
        Ok(InTransaction::new(Self { client, namespaces: Arc::default() }, transaction))
    }
}

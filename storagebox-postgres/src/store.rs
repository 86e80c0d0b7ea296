//! The store: its boxes by kind and name, and its upkeep.

use std::fmt;
use std::sync::Arc;

use sqlx::{PgPool, Row};
use storagebox_core::backend::OpenBoxes;
use storagebox_core::{
    BankAdmin, BoxName, Counter, DedupRepo, Error, LeaseRepo, Ledger, Maintained, OrderedOptions,
    OrderedStore, Promise, Promises, Result, Store, Strategy, TokenStore, async_trait,
};

use crate::client::{Call, Client, Connections, Kind, OpenBox};
use crate::config::{PostgresBuilder, Settings};
use crate::counter::PostgresCounter;
use crate::dedup_repo::PostgresDedupRepo;
use crate::error::read;
use crate::item_bank::PostgresBank;
use crate::lease_repo::PostgresLeaseRepo;
use crate::ordered_store::PostgresOrderedStore;
use crate::schema;
use crate::token_store::PostgresTokenStore;

/// A store in a schema of a Postgres database. Clones share its connections.
#[derive(Clone)]
pub struct PostgresStore {
    client: Arc<Client>,
    boxes: Arc<OpenBoxes>,
}

impl PostgresStore {
    /// A store by its URL, with the defaults; see [`PostgresBuilder::connect`]. Connects with the first call.
    ///
    /// # Errors
    ///
    /// `Misconfigured` for a URL that cannot be read or has a `#`, or a key that is not known; never shows the URL.
    pub fn connect(url: &str) -> Result<Self> {
        Self::builder().connect(url)
    }

    /// A store on a pool that the caller has, with the defaults; see [`PostgresBuilder::from_pool`].
    ///
    /// # Errors
    ///
    /// None with the defaults.
    pub fn from_pool(pool: PgPool) -> Result<Self> {
        Self::builder().from_pool(pool)
    }

    /// A store with settings of one's own.
    pub fn builder() -> PostgresBuilder {
        PostgresBuilder::default()
    }

    pub(crate) fn with(connections: Connections, settings: Settings) -> Self {
        Self { client: Client::new(connections, settings), boxes: Arc::default() }
    }

    fn records(&self, name: &BoxName) -> OpenBox {
        OpenBox::new(&self.client, Kind::Records, name)
    }

    /// One function of upkeep.
    async fn upkeep(&self, call: &Call<'_>) -> Result<u64> {
        let row = self.client.settled("maintain", || self.client.row(call)).await?;
        Ok(read::<i64>(call.function(), row.try_get(0))?.unsigned_abs())
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("settings", self.client.settings()).finish_non_exhaustive()
    }
}

/// The functions of upkeep, and whether they ask how long ended operations are remembered.
const UPKEEP: [(&str, bool); 5] = [
    ("bank_maintain", true),
    ("dedup_maintain", true),
    ("token_maintain", true),
    ("counter_maintain", false),
    ("ordered_maintain", false),
];

#[async_trait]
impl Store for PostgresStore {
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
        let most = max_entries as u64;
        let mut deleted = 0;
        for (function, asks_for_memory) in UPKEEP.iter().take_while(|_| most > 0) {
            let mut call = Call::value(function);
            if *asks_for_memory {
                call = call.with(self.client.memory());
            }
            deleted += self.upkeep(&call.with(i64::try_from(most - deleted).unwrap_or(i64::MAX))).await?;
        }
        Ok(Maintained { deleted, more: deleted == most })
    }

    async fn close(&self) -> Result<()> {
        self.client.close();
        Ok(())
    }

    fn promises(&self) -> Promises {
        let promise = |about, statement: &str| Promise { about, statement: statement.to_owned().into() };
        let memory =
            format!("ended claims, gone tokens and ended operations: {}", self.client.settings().memory);
        Promises {
            backend: "postgres",
            entries: vec![
                promise("atomicity", "one statement is one transaction, at READ COMMITTED"),
                promise(
                    "durability",
                    "that of the server: with synchronous_commit on, what was acknowledged survives its crash",
                ),
                promise(
                    "failover",
                    "a replica that replicates asynchronously can lose what was acknowledged last",
                ),
                promise("clock", "the server's, read after the lock that it decides about"),
                promise("memory", &memory),
                promise("counters", "Atomic, Marker, Window and Sharded; the others are Unsupported"),
            ],
        }
    }

    fn item_bank(&self, name: &BoxName) -> Result<Arc<dyn BankAdmin>> {
        let create = || Ok(PostgresBank::new(&self.client, name));
        Ok(self.boxes.open("bank", name, String::new(), create)?)
    }

    fn dedup_repo(&self, name: &BoxName) -> Result<Arc<dyn DedupRepo>> {
        let create = || Ok(PostgresDedupRepo::new(self.records(name)));
        Ok(self.boxes.open("records", name, String::new(), create)?)
    }

    fn lease_repo(&self, name: &BoxName) -> Result<Arc<dyn LeaseRepo>> {
        let create = || Ok(PostgresLeaseRepo::new(self.records(name)));
        Ok(self.boxes.open("leases", name, String::new(), create)?)
    }

    fn token_store(&self, name: &BoxName) -> Result<Arc<dyn TokenStore>> {
        let create = || Ok(PostgresTokenStore::new(OpenBox::new(&self.client, Kind::Tokens, name)));
        Ok(self.boxes.open("tokens", name, String::new(), create)?)
    }

    fn counter(&self, name: &BoxName, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        let create = || PostgresCounter::new(&self.client, name, strategy);
        Ok(self.boxes.open("counters", name, format!("{strategy:?}"), create)?)
    }

    fn ledger(&self, _name: &BoxName) -> Result<Arc<dyn Ledger>> {
        Err(Error::unsupported("a ledger", "the counter strategy Marker with Retention::Forever")
            .on("postgres"))
    }

    fn ordered_store(&self, name: &BoxName, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        let create = || PostgresOrderedStore::new(&self.client, name, options);
        Ok(self.boxes.open("ordered", name, format!("{options:?}"), create)?)
    }
}

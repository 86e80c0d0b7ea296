//! The store: namespaces by kind and name.

mod upkeep;

mod open;

use std::any::Any;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::{SqliteConnection, SqlitePool};
use storagebox_core::backend::OpenNamespaces;
use storagebox_core::{
    Backend, Counter, DedupRepo, EntityLedger, Error, InTransaction, ItemBank, Joins, LeaseRepo, Ledger, Maintained,
    Namespace, OrderedOptions, OrderedStore, Promises, Result, Strategy, TokenStore, async_trait,
};

use crate::client::{Client, Connections, Kind, OpenNamespace, spawn_detached};
use crate::config::{Settings, SqliteBuilder, Synchronous};
use crate::counter::SqliteCounter;
use crate::dedup_repo::SqliteDedupRepo;
use crate::entity_ledger::SqliteEntityLedger;
use crate::error;
use crate::item_bank::SqliteBank;
use crate::lease_repo::SqliteLeaseRepo;
use crate::ordered_store::SqliteOrderedStore;
use crate::schema;
use crate::token_store::SqliteTokenStore;

/// A store in a file. Clones share its connections.
#[derive(Clone)]
pub struct SqliteStore {
    client: Arc<Client>,
    namespaces: Arc<OpenNamespaces>,
}

impl SqliteStore {
    /// Opens a store by URL, with the default settings; see [`SqliteBuilder::connect`]. The first call opens the file.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the URL cannot be read or a query key is unknown. The message never contains the URL.
    pub fn connect(url: &str) -> Result<Self> {
        Self::builder().connect(url)
    }

    /// Opens a store in the file at this path, with the default settings; see [`SqliteBuilder::open`].
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the path is empty, is not UTF-8, names a folder, or is `:memory:`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::builder().open(path)
    }

    /// Opens a store on an existing pool, with the default settings; see [`SqliteBuilder::from_pool`].
    ///
    /// # Errors
    ///
    /// Never fails with the default settings.
    pub fn from_pool(pool: SqlitePool) -> Result<Self> {
        Self::builder().from_pool(pool)
    }

    /// Returns a builder with the default settings.
    pub fn builder() -> SqliteBuilder {
        SqliteBuilder::default()
    }

    /// Returns the files of the store, whether or not they exist: its own file and the files that SQLite keeps beside
    /// it. No other program may write them. Returns none for an existing pool, whose file belongs to the caller.
    pub fn files(&self) -> Vec<PathBuf> {
        self.client.connections().files()
    }

    pub(crate) fn with(connections: Connections, settings: Settings) -> Self {
        Self { client: Client::new(connections, settings), namespaces: Arc::default() }
    }

    fn namespace(&self, kind: Kind, name: &Namespace) -> Arc<OpenNamespace> {
        Arc::new(OpenNamespace::new(&self.client, kind, name))
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("settings", self.client.settings()).finish_non_exhaustive()
    }
}

fn durability(synchronous: Synchronous) -> &'static str {
    match synchronous {
        Synchronous::Normal => {
            "acknowledged writes survive the end of every process; a power failure can lose the latest ones"
        }
        Synchronous::Full | Synchronous::Extra => "acknowledged writes are on the disk, if the disk honours flushes",
    }
}

#[async_trait]
impl Backend for SqliteStore {
    fn backend(&self) -> &'static str {
        "sqlite"
    }

    async fn setup(&self) -> Result<()> {
        schema::setup(&self.client).await
    }

    async fn ping(&self) -> Result<()> {
        schema::ping(&self.client).await
    }

    async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        upkeep::maintain(&self.client, max_entries).await
    }

    async fn close(&self) -> Result<()> {
        let inner = Arc::clone(self.client.inner());
        spawn_detached(async move { inner.connections.close().await }).await
    }

    fn promises(&self) -> Promises {
        let settings = self.client.settings();
        Promises::of("sqlite")
            .with(
                "atomicity",
                "one statement or one immediate transaction is one step; calls that come together may share one",
            )
            .with("durability", durability(settings.synchronous))
            .with("processes", "any number on one machine; never over a network file system")
            .with("clock", "the clock of the machine; if it is set back, expiry is delayed")
            .remembers(settings.options.remember)
            .with("counters", "Atomic, Marker, Window and Sharded; the others are Unsupported")
    }

    fn item_bank(&self, name: &Namespace) -> Result<Arc<dyn ItemBank>> {
        let create = || Ok(SqliteBank::new(&self.client, name));
        Ok(self.namespaces.open("bank", name, String::new(), create)?)
    }

    fn dedup_repo(&self, name: &Namespace) -> Result<Arc<dyn DedupRepo>> {
        let create = || Ok(SqliteDedupRepo(self.namespace(Kind::Records, name)));
        Ok(self.namespaces.open("records", name, String::new(), create)?)
    }

    fn lease_repo(&self, name: &Namespace) -> Result<Arc<dyn LeaseRepo>> {
        let create = || Ok(SqliteLeaseRepo(self.namespace(Kind::Records, name)));
        Ok(self.namespaces.open("leases", name, String::new(), create)?)
    }

    fn token_store(&self, name: &Namespace) -> Result<Arc<dyn TokenStore>> {
        let create = || Ok(SqliteTokenStore(self.namespace(Kind::Tokens, name)));
        Ok(self.namespaces.open("tokens", name, String::new(), create)?)
    }

    fn entity_ledger(&self, name: &Namespace, joins: &Joins) -> Result<Arc<dyn EntityLedger>> {
        let create = || Ok(SqliteEntityLedger::new(&self.client, name, joins));
        Ok(self.namespaces.open("entities", name, format!("{joins:?}"), create)?)
    }

    fn counter(&self, name: &Namespace, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        let create = || SqliteCounter::new(&self.client, name, strategy);
        Ok(self.namespaces.open("counters", name, format!("{strategy:?}"), create)?)
    }

    fn ledger(&self, _name: &Namespace) -> Result<Arc<dyn Ledger>> {
        Err(Error::unsupported("a ledger", "the counter strategy Marker with Retention::Forever").on("sqlite"))
    }

    fn ordered_store(&self, name: &Namespace, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        let create = || SqliteOrderedStore::new(&self.client, name, options);
        Ok(self.namespaces.open("ordered", name, format!("{options:?}"), create)?)
    }

    fn within<'t>(&self, connection: &'t mut (dyn Any + Send)) -> Result<InTransaction<'t>> {
        let connection = connection.downcast_mut::<SqliteConnection>().ok_or_else(error::not_sqlite)?;
        let (client, transaction) = self.client.within(connection);
        Ok(InTransaction::new(Self { client, namespaces: Arc::default() }, transaction))
    }
}

//! The store: its namespaces by kind and name.

mod open;

use std::fmt;
use std::sync::Arc;

use storagebox_core::backend::OpenNamespaces;
use storagebox_core::{
    Backend, Counter, DedupRepo, EntityLedger, Error, ItemBank, Joins, LeaseRepo, Ledger, Maintained, Namespace,
    OrderedOptions, OrderedStore, Promises, Result, Strategy, TokenStore, async_trait,
};

use crate::client::{Client, Connections, Kind, OpenNamespace};
use crate::config::{RedisBuilder, Settings};
use crate::counter::RedisCounter;
use crate::dedup_repo::RedisDedupRepo;
use crate::entity_ledger::RedisEntityLedger;
use crate::item_bank::RedisBank;
use crate::lease_repo::RedisLeaseRepo;
use crate::ordered_store::RedisOrderedStore;
use crate::token_store::RedisTokenStore;
use crate::{schema, upkeep};

/// A store under a prefix of a Redis server. Clones share its connection.
#[derive(Clone)]
pub struct RedisStore {
    client: Arc<Client>,
    namespaces: Arc<OpenNamespaces>,
}

impl RedisStore {
    /// Opens a store by URL, with the default settings; see [`RedisBuilder::connect`]. The first call connects.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the URL cannot be read or a query key is unknown. The message never contains the URL.
    pub fn connect(url: &str) -> Result<Self> {
        Self::builder().connect(url)
    }

    /// Opens a store on the server of an existing client, with the default settings; see [`RedisBuilder::from_client`].
    ///
    /// # Errors
    ///
    /// Never fails with the default settings.
    pub fn from_client(client: &redis::Client) -> Result<Self> {
        Self::builder().from_client(client)
    }

    /// Returns a builder with the default settings.
    pub fn builder() -> RedisBuilder {
        RedisBuilder::default()
    }

    pub(crate) fn with(connections: Connections, settings: Settings) -> Self {
        Self { client: Client::new(connections, settings), namespaces: Arc::default() }
    }

    fn namespace(&self, kind: Kind, name: &Namespace) -> OpenNamespace {
        OpenNamespace::new(&self.client, kind, name)
    }

    fn tokens(&self, name: &Namespace) -> Result<Arc<RedisTokenStore>> {
        let create = || Ok(RedisTokenStore(self.namespace(Kind::Tokens, name)));
        self.namespaces.open("tokens", name, String::new(), create)
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore").field("settings", self.client.settings()).finish_non_exhaustive()
    }
}

#[async_trait]
impl Backend for RedisStore {
    fn backend(&self) -> &'static str {
        "redis"
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
        self.client.close();
        Ok(())
    }

    fn promises(&self) -> Promises {
        let settings = self.client.settings();
        let failover = settings.wait.map_or(FAILOVER, |_| FAILOVER_AFTER_WAITING);
        let promises = Promises::of("redis")
            .with("atomicity", "one script is one step; the server runs one at a time")
            .with("durability", DURABILITY)
            .with("failover", failover)
            .with(
                    "eviction",
                    "setup and ping refuse a server that evicts keys which do not expire; with eviction=warn they only warn")
            .with("clock", "the clock of the server, read in the script; if it is set back, expiry is delayed")
            .remembers(settings.options.remember)
            .with("counters", COUNTERS);
        match (self.client.is_cluster(), settings.wait) {
            (false, _) => promises,
            (true, None) => promises.with("moving slots", MOVING_SLOTS),
            (true, Some(_)) => promises.with("moving slots", MOVING_SLOTS).with("wait on a cluster", WAIT_ON_A_CLUSTER),
        }
    }

    fn item_bank(&self, name: &Namespace) -> Result<Arc<dyn ItemBank>> {
        let create = || Ok(RedisBank(self.namespace(Kind::Bank, name)));
        Ok(self.namespaces.open("bank", name, String::new(), create)?)
    }

    fn dedup_repo(&self, name: &Namespace) -> Result<Arc<dyn DedupRepo>> {
        let create = || Ok(RedisDedupRepo(self.namespace(Kind::Records, name)));
        Ok(self.namespaces.open("records", name, String::new(), create)?)
    }

    fn lease_repo(&self, name: &Namespace) -> Result<Arc<dyn LeaseRepo>> {
        let create = || Ok(RedisLeaseRepo(self.namespace(Kind::Records, name)));
        Ok(self.namespaces.open("leases", name, String::new(), create)?)
    }

    fn token_store(&self, name: &Namespace) -> Result<Arc<dyn TokenStore>> {
        Ok(self.tokens(name)?)
    }

    /// Refuses an entity ledger that joins tokens on a cluster.
    fn entity_ledger(&self, name: &Namespace, joins: &Joins) -> Result<Arc<dyn EntityLedger>> {
        // A script runs on one node, and the tokens may be on another node.
        if self.client.is_cluster() && *joins != Joins::default() {
            return Err(
                Error::unsupported("a ledger that joins tokens on a cluster", "a ledger without tokens").on("redis")
            );
        }
        let create = || Ok(self.namespace(Kind::Entities, name));
        let entities = self.namespaces.open("entities", name, String::new(), create)?;
        let incoming = joins.incoming.as_ref().map(|name| self.tokens(name)).transpose()?;
        let outgoing = joins.outgoing.as_ref().map(|name| self.tokens(name)).transpose()?;
        Ok(Arc::new(RedisEntityLedger { entities, joins: joins.clone(), incoming, outgoing }))
    }

    fn counter(&self, name: &Namespace, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        let create = || RedisCounter::new(&self.client, name, strategy);
        Ok(self.namespaces.open("counters", name, format!("{strategy:?}"), create)?)
    }

    fn ledger(&self, _name: &Namespace) -> Result<Arc<dyn Ledger>> {
        Err(Error::unsupported("a ledger", "the counter strategy Marker with Retention::Forever").on("redis"))
    }

    fn ordered_store(&self, name: &Namespace, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        let create = || RedisOrderedStore::new(&self.client, name, options);
        Ok(self.namespaces.open("ordered", name, format!("{options:?}"), create)?)
    }
}

const DURABILITY: &str = "that of the server: with `appendonly yes` and `appendfsync always`, acknowledged writes \
    survive a crash of the server and of its machine; with `everysec`, either can lose the last seconds, and without \
    a log, everything since the last dump";

const FAILOVER: &str = "a replica lacks the latest acknowledged writes of its master; if it is promoted, they are \
    lost, so that an item can be given away twice";

const FAILOVER_AFTER_WAITING: &str = "acknowledged writes are on as many replicas as `wait` says; if another replica \
    is promoted, they are lost, so that an item can be given away twice";

const MOVING_SLOTS: &str = "a replica that is promoted while a slot of its master moves to another node does not know of \
    the move; what the moved keys hold is then answered as if it had never been, so that an item can be given away twice";

const WAIT_ON_A_CLUSTER: &str = "`wait` asks the node that has the slot after the change; if a replica was promoted in \
    between, that is not the node that made the change, and the change can be lost although it was acknowledged";

const COUNTERS: &str = "Atomic, Marker, Window and Sharded, whose shards are one record; the others are Unsupported";

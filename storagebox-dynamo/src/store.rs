//! The store: opens its namespaces and does its upkeep.

mod open;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use aws_sdk_dynamodb::Client as Driver;
use storagebox_core::backend::OpenNamespaces;
use storagebox_core::{
    Backend, Counter, DedupRepo, EntityLedger, Error, InTransaction, ItemBank, Joins, LeaseRepo, Ledger, Maintained,
    Namespace, OrderedOptions, OrderedStore, Promises, Result, Strategy, TokenStore, async_trait,
};

use crate::client::{Client, Connection};
use crate::config::{DynamoBuilder, Settings};
use crate::counter::{DynamoCounter, DynamoLedger};
use crate::dedup_repo::DynamoDedupRepo;
use crate::entity_ledger::{DynamoEntityLedger, Entities};
use crate::item_bank::DynamoBank;
use crate::lease_repo::DynamoLeaseRepo;
use crate::ordered_store::DynamoOrderedStore;
use crate::records::Records;
use crate::schema;
use crate::token_store::DynamoTokenStore;
use crate::upkeep::Upkeep;

/// A store in one DynamoDB table. Cheap to clone; clones share candidates and open namespaces.
///
/// # Guarantees
///
/// - S-1 to S-5: see [`Backend`]. [`promises`](Backend::promises) lists what DynamoDB itself cannot guarantee.
///
/// # Example
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use storagebox_core::{Backend, Hold, ItemBank};
/// use storagebox_dynamo::DynamoStore;
///
/// let store = DynamoStore::connect("dynamodb://eu-west-1/storagebox")?;
/// store.setup().await?;
/// let taken = store.item_bank(&"vouchers".parse()?)?.take(&"ada@example.com".parse()?, Hold::Forever).await?;
/// println!("{:?}", taken.item().map(|item| item.as_str()));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct DynamoStore {
    client: Arc<Client>,
    /// The open namespaces, which all clones of the store share.
    namespaces: Arc<OpenNamespaces>,
    upkeep: Arc<Upkeep>,
}

impl DynamoStore {
    /// Opens a store by URL, `dynamodb://region/table`, with the default settings; see [`DynamoBuilder::connect`]. The
    /// first call connects.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the URL does not have this form, a query key is unknown, or a setting is out of
    /// range.
    pub fn connect(url: &str) -> Result<Self> {
        Self::builder().connect(url)
    }

    /// Opens a store on an existing client, in the table `storagebox`, with the default settings; see
    /// [`DynamoBuilder::from_client`].
    ///
    /// # Errors
    ///
    /// Never fails with the default settings.
    pub fn from_client(client: &Driver) -> Result<Self> {
        Self::builder().from_client(client)
    }

    /// Returns a builder with the default settings.
    pub fn builder() -> DynamoBuilder {
        DynamoBuilder::default()
    }

    pub(crate) fn with(connection: Connection, settings: Settings) -> Self {
        let client = Client::new(connection, settings);
        Self { client, namespaces: Arc::default(), upkeep: Arc::default() }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn bank(&self, name: &Namespace) -> Result<Arc<DynamoBank>> {
        self.namespaces.open("bank", name, String::new(), || Ok(DynamoBank::new(&self.client, name)))
    }

    pub(crate) fn counters(&self, name: &Namespace, strategy: Strategy) -> Result<Arc<DynamoCounter>> {
        let create = || DynamoCounter::new(&self.client, name, strategy);
        self.namespaces.open("counters", name, format!("{strategy:?}"), create)
    }

    pub(crate) fn ordered(&self, name: &Namespace, options: OrderedOptions) -> Result<Arc<DynamoOrderedStore>> {
        let create = || DynamoOrderedStore::new(&self.client, name, options);
        self.namespaces.open("ordered", name, format!("{options:?}"), create)
    }

    fn open_ledger(&self, name: &Namespace) -> Result<Arc<DynamoLedger>> {
        self.namespaces.open("ledgers", name, String::new(), || Ok(DynamoLedger::new(&self.client, name)))
    }

    pub(crate) fn tokens(&self, name: &Namespace) -> Result<Arc<DynamoTokenStore>> {
        self.namespaces.open("tokens", name, String::new(), || Ok(DynamoTokenStore::new(&self.client, name)))
    }

    /// Returns the deduplication ids that the two repositories of one name share.
    pub(crate) fn records(&self, name: &Namespace) -> Result<Arc<Records>> {
        self.namespaces.open("records", name, String::new(), || Ok(Records::new(&self.client, name)))
    }
}

impl fmt::Debug for DynamoStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamoStore").field("settings", self.client.settings()).finish_non_exhaustive()
    }
}

/// What the store promises and does not promise, except for its memory, which is a setting.
const PROMISES: [(&str, &str); 9] = [
    ("atomicity", "one conditional write or one transaction is one step"),
    ("durability", "DynamoDB's: what was acknowledged is in several places"),
    ("reads", "strongly consistent, also of the index; never of a global index"),
    (
        "clock",
        "each client's, corrected by the service's answers; expiry leaves room for clocks that differ by max_skew. \
         Beyond it a hold or lease may end early or late for its holder; never are there two holders, and a fence \
         still tells the newest",
    ),
    (
        "regions",
        "one: a global table resolves conflicts by the last writer, so a namespace is at home in one region and is refused in \
         others; not tried on a global table",
    ),
    (
        "counters",
        "all strategies; a Ledger that was made with regions=several may be changed in several regions, and then has \
         neither compact nor cancel",
    ),
    (
        "entities",
        "a commit changes at most 100 rows: the entity, its entry and 98 tokens; an entry has at most 250 attempts",
    ),
    ("request tokens", "TransactionToken is exact for ten minutes, the time for which DynamoDB knows a token"),
    (
        "throughput",
        "1,000 write units a second for each shard of a namespace, refused attempts included; 500 changes a second and 10 GB \
         for each key of a Ledger",
    ),
];

#[async_trait]
impl Backend for DynamoStore {
    fn backend(&self) -> &'static str {
        "dynamo"
    }

    async fn setup(&self) -> Result<()> {
        schema::setup(&self.client).await
    }

    async fn ping(&self) -> Result<()> {
        schema::ping(&self.client).await
    }

    async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        self.upkeep.maintain(&self.client, max_entries).await
    }

    /// Does nothing: idle connections close by themselves.
    async fn close(&self) -> Result<()> {
        Ok(())
    }

    fn promises(&self) -> Promises {
        let promises =
            PROMISES.iter().fold(Promises::of("dynamo"), |list, (about, statement)| list.with(about, *statement));
        promises.remembers(self.client.settings().options.remember)
    }

    fn item_bank(&self, name: &Namespace) -> Result<Arc<dyn ItemBank>> {
        Ok(self.bank(name)?)
    }

    fn dedup_repo(&self, name: &Namespace) -> Result<Arc<dyn DedupRepo>> {
        Ok(Arc::new(DynamoDedupRepo(self.records(name)?)))
    }

    fn lease_repo(&self, name: &Namespace) -> Result<Arc<dyn LeaseRepo>> {
        Ok(Arc::new(DynamoLeaseRepo(self.records(name)?)))
    }

    fn token_store(&self, name: &Namespace) -> Result<Arc<dyn TokenStore>> {
        Ok(self.tokens(name)?)
    }

    fn entity_ledger(&self, name: &Namespace, joins: &Joins) -> Result<Arc<dyn EntityLedger>> {
        let create = || Ok(Entities::new(&self.client, name));
        let entities = self.namespaces.open("entities", name, String::new(), create)?;
        let incoming = joins.incoming.as_ref().map(|name| self.tokens(name)).transpose()?;
        let outgoing = joins.outgoing.as_ref().map(|name| self.tokens(name)).transpose()?;
        Ok(Arc::new(DynamoEntityLedger { entities, joins: joins.clone(), incoming, outgoing }))
    }

    fn counter(&self, name: &Namespace, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        if strategy == Strategy::Ledger {
            return Ok(self.open_ledger(name)?);
        }
        Ok(self.counters(name, strategy)?)
    }

    fn ledger(&self, name: &Namespace) -> Result<Arc<dyn Ledger>> {
        Ok(self.open_ledger(name)?)
    }

    fn ordered_store(&self, name: &Namespace, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        Ok(self.ordered(name, options)?)
    }

    fn within<'t>(&self, _connection: &'t mut (dyn Any + Send)) -> Result<InTransaction<'t>> {
        let instead = "`DynamoStore::parts`, whose items go into the caller's own `TransactWriteItems`";
        Err(Error::unsupported("a call on a connection of the caller", instead).on("dynamo"))
    }
}

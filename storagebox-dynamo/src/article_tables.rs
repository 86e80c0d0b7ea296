//! The two tables of article 1's own Python package.
//!
//! | table | key | holds |
//! |---|---|---|
//! | items | `item` | what is free, and nothing else: an item that is taken has no row |
//! | records | `deduplication_id` | `item_string`, the item that the id was given |
//!
//! A row that is written here has an attribute more, `t`: the tag of the call that wrote it. The package passes over it.

mod add;
mod assign;
mod bank;
mod listing;
mod look;
mod open;
mod store;
mod tables;

use std::fmt;
use std::sync::Arc;

use aws_sdk_dynamodb::Client as Driver;
use storagebox_core::{Added, ClaimId, Counts, Error, Item, Result, Taken};
use tracing::instrument;

use crate::client::{Connection, Tag};
use crate::config::{DynamoBuilder, Settings};
use tables::Tables;

/// A bank in the two tables of the Python package `storagebox`, so that its workers and these serve the same items while
/// one moves from there to here.
///
/// Where the package takes an item, then records it, and puts it back if it was late, one transaction does both. Cheap to
/// clone; clones share candidates. The tables are made by those who own them, with the keys `item` and
/// `deduplication_id`, both strings.
///
/// # Guarantees
///
/// - IB-1 *exclusive*: an item goes to one id, because it leaves the one table in the step in which it enters the other.
///   That holds beside Python workers too, whose deletes have the same condition.
/// - IB-2 *conserved*: an item is free or recorded at every moment, through every crash, dropped future and lost reply
///   of these workers, because there is no step between the two. A Python worker that dies between its delete and its
///   record loses the item that it has in its hands, whatever others do.
/// - IB-3 *same id, same item*: also from an empty bank, because the record is looked at before `Empty` is answered.
/// - IB-4 *`Empty` is true*: only after a strongly consistent scan of all items that began after the call.
/// - IB-8, IB-9, IB-10 as of every bank.
///
/// The two tables have no room for the rest: no holds and no expiry (IB-6), no release, and with it no ended ids and no
/// fence against a late call of one (IB-7), no withdrawal, and no memory of an item beside the record that names it
/// (IB-5 in part, see [`add`](Self::add)). A bank of a [`DynamoStore`](crate::DynamoStore) has all of them.
///
/// As a [`Backend`](storagebox_core::Backend) they have one bank, of the name of the items' table, in which what there is no
/// room for is `Unsupported`; so the command reads them, and imports them into any other bank.
///
/// # Cancel safety
///
/// Every call is safe to drop: assign again with the same id, add again the same items.
///
/// # Errors
///
/// Those of every bank; `NotSetUp` if a table is missing, `Corrupt` for a row that these types cannot hold, such as an
/// item of more than 1,024 bytes.
///
/// # Backend notes
///
/// A new id costs one request, and a thirtieth of one for candidates. The README says which rights it takes.
///
/// # Example
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use storagebox_dynamo::ArticleTables;
///
/// let tables = ArticleTables::connect("dynamodb://eu-west-1/vouchers", "vouchers-given")?;
/// let taken = tables.assign("ada@example.com").await?;
/// println!("{:?}", taken.item());
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct ArticleTables(Arc<Tables>);

impl ArticleTables {
    /// The tables at `dynamodb://region/items`, whose records are in the table of that name; see
    /// [`DynamoBuilder::connect_article_tables`].
    ///
    /// # Errors
    ///
    /// `Misconfigured` for a URL that is not of this form, an unknown query key, or a setting out of its range.
    pub fn connect(url: &str, records: &str) -> Result<Self> {
        DynamoBuilder::default().connect_article_tables(url, records)
    }

    /// The tables at `dynamodb+articles://region/items/records`; see [`DynamoBuilder::open_article_tables`].
    ///
    /// # Errors
    ///
    /// `Misconfigured` for a URL that is not of this form, an unknown query key, or a setting out of its range.
    pub fn open(url: &str) -> Result<Self> {
        DynamoBuilder::default().open_article_tables(url)
    }

    /// The tables of these names behind this client; see [`DynamoBuilder::from_client`].
    ///
    /// # Errors
    ///
    /// `Misconfigured` for what is no name of a table.
    pub fn from_client(client: &Driver, items: &str, records: &str) -> Result<Self> {
        DynamoBuilder::default().table(items).article_tables_from_client(client, records)
    }

    pub(crate) fn with(connection: Connection, settings: Settings, records: &str) -> Self {
        Self(Arc::new(Tables::new(connection, settings, records)))
    }

    /// Gives the id a free item, for good, or the one that it was given before.
    ///
    /// # Guarantees
    ///
    /// - IB-1, IB-2, IB-3, IB-4: those of the type, in one transaction.
    ///
    /// # Cancel safety
    ///
    /// Safe. Assign again with the same id.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the id is empty, over 512 bytes or holds U+0000. `OutcomeUnknown` asks for the same call again.
    pub fn assign<C>(&self, id: C) -> impl Future<Output = Result<Taken>> + Send
    where
        C: TryInto<ClaimId>,
        Error: From<C::Error>,
    {
        let id = id.try_into().map_err(Error::from);
        async move { self.assigned(&id?).await }
    }

    #[instrument(level = "trace", skip_all, name = "assign")]
    async fn assigned(&self, id: &ClaimId) -> Result<Taken> {
        let (tag, since) = (Tag::fresh(), self.0.looks());
        self.0.client().settle("assign", || Tables::assign(&self.0, id, &tag, since)).await
    }

    /// The item that an id was given; changes nothing.
    ///
    /// # Guarantees
    ///
    /// - IB-3: it reads what the last acknowledged call left, of Python workers too.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    #[instrument(level = "trace", skip_all)]
    pub async fn get(&self, id: &ClaimId) -> Result<Option<Item>> {
        self.0.client().settled("get", || self.0.given(id)).await
    }

    /// Adds items that are in neither table; those that are free or recorded are left as they are.
    ///
    /// # Guarantees
    ///
    /// - IB-5 *idempotent*, with one load at a time: an item that was given is not free again, because the records are
    ///   read before anything is added; a load that died half-way is simply run again, also while workers take.
    ///   Duplicates within one call count once, and a lost reply counts once.
    /// - IB-8 *any size*: work is cut into transactions of a hundred.
    ///
    /// What the tables cannot tell is no part of it. An item that a Python worker has deleted and not recorded yet is in
    /// neither, so that adding it in this moment gives it to two; so may two loads of the same items at once, of which
    /// one adds what the other's was just given from. Load while no Python worker runs, and in one place.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part of the items may have been added; add them again.
    ///
    /// # Errors
    ///
    /// `OutcomeUnknown` if any part may have been added.
    ///
    /// # Backend notes
    ///
    /// It reads the items in batches of a hundred, then all records unless every item is free, and writes two units an
    /// item: a transaction that is sent again is applied once, where a plain put that lands late would free the item.
    #[instrument(level = "trace", skip_all)]
    pub async fn add(&self, items: &[Item]) -> Result<Added> {
        self.0.add(items).await
    }

    /// How many items are free, and how many are `held`: those that a record names, for good. The others are 0.
    ///
    /// # Guarantees
    ///
    /// - IB-10: exact when nothing is running.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    ///
    /// # Backend notes
    ///
    /// It reads both tables whole.
    #[instrument(level = "trace", skip_all)]
    pub async fn counts(&self) -> Result<Counts> {
        let (free, held) = (self.0.count(self.0.items()).await?, self.0.count(self.0.records()).await?);
        Ok(Counts { free, held, ..Counts::default() })
    }
}

impl fmt::Debug for ArticleTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ArticleTables");
        shown.field("items", &self.0.items()).field("records", &self.0.records()).finish_non_exhaustive()
    }
}

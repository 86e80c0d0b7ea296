//! The two tables of article 1's own Python package.
//!
//! | table | key | holds |
//! |---|---|---|
//! | items | `item` | the free items; an item that is taken has no row |
//! | records | `deduplication_id` | `item_string`, the item of the id |
//!
//! A row that this library writes also has `t`, the tag of the call that wrote it. The package ignores it.

mod add;
mod assign;
mod bank;
mod candidates;
mod listing;
mod open;
mod store;
mod tables;

use std::fmt;
use std::sync::Arc;

use aws_sdk_dynamodb::Client as Driver;
use storagebox_core::{Added, Attempt, ClaimId, Counts, Error, Item, Result, Taken};
use tracing::instrument;

use crate::client::{Connection, Tag};
use crate::config::{DynamoBuilder, Settings};
use tables::Tables;

/// A bank in the two tables of the Python package `storagebox`. Python workers and workers of this library can serve
/// the same items during a migration.
///
/// The package takes an item, then records it, and puts it back if it was late; this library does both in one
/// transaction. Cheap to clone; clones share candidates. The owners of the tables create them, with the keys `item` and
/// `deduplication_id`, both strings.
///
/// # Guarantees
///
/// - IB-1 *exclusive*: an item goes to one id, because the item leaves one table in the same step in which it enters
///   the other. This also holds beside Python workers, whose deletes have the same condition.
/// - IB-2 *conserved*: an item is free or recorded at every moment, through every crash, dropped future and lost reply
///   of a worker of this library, because there is no step between the two. A Python worker that dies between its
///   delete and its record loses the item that it was taking, whatever other workers do.
/// - IB-3 *same id, same item*: also from an empty bank, because the record is read before `Empty` is returned.
/// - IB-4 *`Empty` is true*: only after a strongly consistent scan of all items that began after the call.
/// - IB-8, IB-9, IB-10: as for every bank.
///
/// The two tables have no room for the other features: no holds and no expiry (IB-6); no release, and so no ended ids
/// and no fence against a late call with an ended id (IB-7); no withdrawal; and no memory of an item other than the
/// record that names it (IB-5 in part, see [`add`](Self::add)). A bank of a [`DynamoStore`](crate::DynamoStore) has all
/// of them.
///
/// As a [`Backend`](storagebox_core::Backend), the tables have one bank, with the name of the items' table. Features
/// without room in the tables return `Unsupported`. The command uses this backend to read the tables and to import them
/// into any other bank.
///
/// # Cancel safety
///
/// Every call is safe to drop. Assign again with the same id; add the same items again.
///
/// # Errors
///
/// The errors of every bank. Also returns `NotSetUp` if a table is missing, and `Corrupt` for a row that these types
/// cannot hold, such as an item of more than 1,024 bytes.
///
/// # Backend notes
///
/// A new id costs one request, plus a thirtieth of a request for candidates. The README lists the rights that it needs.
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
    /// Opens the tables at `dynamodb://region/items`, whose records are in the table `records`; see
    /// [`DynamoBuilder::connect_article_tables`].
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the URL does not have this form, a query key is unknown, or a setting is out of
    /// range.
    pub fn connect(url: &str, records: &str) -> Result<Self> {
        DynamoBuilder::default().connect_article_tables(url, records)
    }

    /// Opens the tables at `dynamodb+articles://region/items/records`; see [`DynamoBuilder::open_article_tables`].
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the URL does not have this form, a query key is unknown, or a setting is out of
    /// range.
    pub fn open(url: &str) -> Result<Self> {
        DynamoBuilder::default().open_article_tables(url)
    }

    /// Opens the tables with these names on an existing client; see [`DynamoBuilder::from_client`].
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if a name is not a valid table name.
    pub fn from_client(client: &Driver, items: &str, records: &str) -> Result<Self> {
        DynamoBuilder::default().table(items).article_tables_from_client(client, records)
    }

    pub(crate) fn with(connection: Connection, settings: Settings, records: &str) -> Self {
        Self(Arc::new(Tables::new(connection, settings, records)))
    }

    /// Assigns a free item to the id permanently, or returns the item that the id already has.
    ///
    /// # Guarantees
    ///
    /// - IB-1, IB-2, IB-3, IB-4: the guarantees of the type, in one transaction.
    ///
    /// # Cancel safety
    ///
    /// Safe. Assign again with the same id.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the id is empty, is over 512 bytes or contains U+0000. After `OutcomeUnknown`, make
    /// the same call again.
    pub fn assign<C>(&self, id: C) -> impl Future<Output = Result<Taken>> + Send
    where
        C: TryInto<ClaimId>,
        Error: From<C::Error>,
    {
        let id = id.try_into().map_err(Error::from);
        async move { self.assigned(Attempt::first(), &id?).await }
    }

    #[instrument(level = "trace", skip_all, name = "assign")]
    async fn assigned(&self, attempt: Attempt, id: &ClaimId) -> Result<Taken> {
        let (tag, since) = (Tag::fresh(), self.0.candidates.fetches());
        let assign = |attempt: Attempt| {
            let tag = &tag;
            async move {
                match Tables::assign(&self.0, id, tag, since).await? {
                    Taken::Empty => attempt.refused(Taken::Empty),
                    taken => Ok(taken),
                }
            }
        };
        self.0.client().settle_attempts("assign", attempt, assign).await
    }

    /// Returns the item that was assigned to an id. Changes nothing.
    ///
    /// # Guarantees
    ///
    /// - IB-3: reads the state after the last acknowledged call, including calls of Python workers.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    #[instrument(level = "trace", skip_all)]
    pub async fn get(&self, id: &ClaimId) -> Result<Option<Item>> {
        self.0.client().settle("get", || self.0.given(id)).await
    }

    /// Adds items that are in neither table. Items that are free or recorded stay unchanged.
    ///
    /// # Guarantees
    ///
    /// - IB-5 *idempotent*, with one load at a time: an item that was given does not become free again, because the
    ///   records are read before anything is added. A load that died half-way can be run again, also while workers take
    ///   items. Duplicates within one call count once, and a change whose reply was lost counts once.
    /// - IB-8 *any size*: the work is split into transactions of a hundred items.
    ///
    /// These guarantees do not cover what the tables cannot show. An item that a Python worker has deleted and not yet
    /// recorded is in neither table, and adding it at this moment gives it to two ids. Two loads of the same items at
    /// once can also give an item twice, if one load adds an item that was just given from the other load. Load items
    /// in one place, while no Python worker runs.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any of the items may have been added; add them again.
    ///
    /// # Errors
    ///
    /// Returns `OutcomeUnknown` if any of the items may have been added.
    ///
    /// # Backend notes
    ///
    /// Reads the items in batches of a hundred, then all records unless every item is free, and writes two units per
    /// item. It writes in transactions because a transaction that is sent again is applied once; a plain put that
    /// arrives late would free the item.
    #[instrument(level = "trace", skip_all)]
    pub async fn add(&self, items: &[Item]) -> Result<Added> {
        self.0.add(items).await
    }

    /// Counts the free items, and the items that a record names permanently, as `held`. The other counts are 0.
    ///
    /// # Guarantees
    ///
    /// - IB-10: exact if no other call is in progress.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Backend notes
    ///
    /// Reads both tables in full.
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

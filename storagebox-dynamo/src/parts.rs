//! Our share of a transaction of the caller: items for a `TransactWriteItems` that the caller sends.
//!
//! To plan a call, the store reads its rows and returns the writes that it would make itself. All rows of one
//! transaction get the same tag. If a row with this tag refuses the transaction, the transaction was committed before.

mod calls;
mod explained;
mod item;
mod planned;

use std::collections::HashSet;
use std::fmt;

use aws_sdk_dynamodb::types::TransactWriteItem;
use storagebox_core::{Error, Result};

use crate::client::{Client, Tag};
use crate::error::bad;
use crate::row::RowKey;
use crate::store::DynamoStore;

use planned::Reading;

pub use explained::{Explained, PartOutcome};
pub(crate) use planned::Planned;

/// The share of a [`DynamoStore`] in a transaction of the caller, so that an order and its voucher are written together
/// or not at all.
///
/// Make the calls, put [the items](Self::after) behind your own ones, and send them in one `TransactWriteItems`, with
/// the [request token](Self::request_token). A call returns the outcome that is true if the transaction is committed. A
/// call with nothing to write (`Again`, `AlreadyGone`, `Empty`) adds no item, so look at the outcome before you write
/// your own items. If the transaction fails, [`explain`](Self::explain) says why.
///
/// The items hold the time and the candidate of the call, so send the transaction at once. The calls create their
/// namespaces beforehand, in separate requests. Parts are for one transaction: make new ones for the next.
///
/// DynamoDB allows 100 actions and 4 MB in one transaction, and each row once. A call has one action or two: `assign`
/// and `apply` have two, `confirm` has two if the hold has an end, `release` if the claim holds an item, and `record`
/// if another operation of the id has ended. All else is a separate call of the store: `add`, holds for a time and
/// `extend`, `retire`, leases, entities, ledgers.
///
/// # Guarantees
///
/// - J-1: a call takes effect when the transaction commits, together with everything else in it, or not at all.
/// - The rows are those that the store's own calls write, so that each call recognises the other's effect (IB-3, D-3,
///   T-6, C-1, O-1).
///
/// # Cancel safety
///
/// Safe: a call that is dropped adds nothing. A request of the transaction that is dropped counts as one whose reply
/// was lost ([`Explained::Unknown`]).
///
/// # Errors
///
/// Every call returns the errors of the same call of the store, `InvalidInput` if the transaction has its row already,
/// and `TooLarge` if these parts alone exceed what a transaction may have. After an error the parts are as before.
///
/// # Example
///
/// ```no_run
/// # use std::error::Error;
/// use aws_sdk_dynamodb::Client;
/// use aws_sdk_dynamodb::types::TransactWriteItem;
/// use storagebox_dynamo::{DynamoStore, Explained};
///
/// # async fn order(client: &Client, store: &DynamoStore, order: TransactWriteItem) -> Result<(), Box<dyn Error>> {
/// let mut parts = store.parts();
/// let voucher = parts.assign(&"vouchers".parse()?, &"ada@example.com".parse()?).await?;
/// println!("{:?}", voucher.item());
///
/// let items = parts.after(vec![order])?;
/// let request = client.transact_write_items().set_transact_items(Some(items));
/// match request.client_request_token(parts.request_token()).send().await {
///     Ok(_) => println!("the order and its voucher are written"),
///     Err(error) => match parts.explain(&error)? {
///         Explained::Committed => println!("they were written before"),
///         Explained::Ours { outcome, .. } => println!("no voucher: {outcome:?}"),
///         Explained::Yours { index } => println!("item {index} was refused"),
///         Explained::TryAgain => println!("make new parts"),
///         Explained::Unknown => println!("send the same again"),
///     },
/// }
/// # Ok(()) }
/// # let _ = order;
/// ```
#[must_use = "the items have no effect before they are sent"]
pub struct Parts {
    store: DynamoStore,
    tag: Tag,
    request_token: Tag,
    calls: Vec<PlannedCall>,
    items: Vec<TransactWriteItem>,
    rows: HashSet<RowKey>,
    bytes: usize,
}

/// A call, and how the refusals of its items are read.
struct PlannedCall {
    actions: usize,
    refused: Reading<PartOutcome>,
}

impl DynamoStore {
    /// Begins the share of this store in a transaction of the caller. Sends nothing.
    pub fn parts(&self) -> Parts {
        Parts {
            store: self.clone(),
            tag: Tag::fresh(),
            request_token: Tag::fresh(),
            calls: vec![],
            items: vec![],
            rows: HashSet::new(),
            bytes: 0,
        }
    }
}

impl Parts {
    /// Returns the items of these parts alone. [`explain`](Self::explain) expects them at the end of the transaction.
    pub fn items(&self) -> &[TransactWriteItem] {
        &self.items
    }

    /// Returns the caller's own items, followed by the items of these parts.
    ///
    /// # Errors
    ///
    /// Returns `TooLarge` if they are more than 100 actions, or surely more than 4 MB. DynamoDB counts the whole row of
    /// an update; this counts what the caller's requests hold, because it does not know the caller's rows.
    pub fn after(&self, own: Vec<TransactWriteItem>) -> Result<Vec<TransactWriteItem>> {
        let bytes: usize = own.iter().map(item::bytes).sum();
        item::check(own.len() + self.actions(), bytes + self.bytes)?;
        Ok(own.into_iter().chain(self.items.iter().cloned()).collect())
    }

    /// Returns the number of actions of these parts. A transaction has at most 100.
    pub fn actions(&self) -> usize {
        self.items.len()
    }

    /// Returns the number of bytes of these parts, or more. A transaction has at most 4 MB. An update counts the most
    /// that its row may hold: 3 KB besides its key.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns a `ClientRequestToken` for the transaction. Each call returns the same token, and no other parts have
    /// it. If a transaction is sent again with its token within ten minutes, DynamoDB returns the first outcome.
    pub fn request_token(&self) -> &str {
        self.request_token.as_str()
    }

    fn client(&self) -> &Client {
        self.store.client()
    }

    fn add<T: 'static>(
        &mut self,
        operation: &'static str,
        planned: Planned<T>,
        wrap: fn(T) -> PartOutcome,
    ) -> Result<T> {
        let Planned { outcome, writes, refused } = planned;
        let items = self.client().transact_items(&writes)?;
        let (rows, bytes) = self.admitted(&items).map_err(|error| error.during(operation))?;
        let refused: Reading<PartOutcome> = Box::new(move |refusals| refused(refusals).map(wrap));
        self.calls.push(PlannedCall { actions: items.len(), refused });
        self.items.extend(items);
        self.rows.extend(rows);
        self.bytes = bytes;
        Ok(outcome)
    }

    /// Checks that the transaction has room for more items. Returns the rows of the items, and the transaction's new
    /// size in bytes.
    fn admitted(&self, items: &[TransactWriteItem]) -> Result<(Vec<RowKey>, usize)> {
        let rows = items.iter().map(item::row).collect::<Result<Vec<_>>>()?;
        if rows.iter().any(|row| self.rows.contains(row)) {
            return Err(twice());
        }
        let bytes = self.bytes + items.iter().map(item::own_bytes).sum::<usize>();
        item::check(self.actions() + items.len(), bytes)?;
        Ok((rows, bytes))
    }
}

fn twice() -> Error {
    let why = "changes a row that an earlier call of these parts changes; DynamoDB allows each row once in a \
        transaction. Make only one of the two calls, or send two transactions";
    bad("the call", why)
}

/// Shows no items, because they hold the data of the store.
impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (actions, bytes) = (self.actions(), self.bytes);
        f.debug_struct("Parts").field("actions", &actions).field("bytes", &bytes).finish_non_exhaustive()
    }
}

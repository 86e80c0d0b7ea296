//! The two tables: their keys, their rows, and how they are read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use aws_sdk_dynamodb::types::Select;
use storagebox_core::{ClaimId, Error, Item, Result};

use crate::candidates::Candidates;
use crate::client::{Client, Connection, RowPage};
use crate::config::Settings;
use crate::row::{Attributes, Row, Value};

/// The key attribute of the items' table.
pub(super) const ITEM: &str = "item";
/// The key attribute of the records' table.
pub(super) const ID: &str = "deduplication_id";
/// The attribute of the records' table that contains the item of a record.
pub(super) const GIVEN: &str = "item_string";

/// The table of the items, which is the client's own table, and the table of the records.
#[derive(Debug)]
pub(super) struct Tables {
    client: Arc<Client>,
    records: String,
    pub(super) candidates: Candidates<Item>,
    /// The key after which the next page of candidates begins; `None` for a random key.
    pub(super) position: Mutex<Option<Attributes>>,
}

impl Tables {
    pub(super) fn new(connection: Connection, settings: Settings, records: &str) -> Self {
        let candidates = Candidates::new(settings.fetch_limit);
        let client = Client::new(connection, settings);
        Self { client, records: records.to_owned(), candidates, position: Mutex::default() }
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn items(&self) -> &str {
        self.client.table()
    }

    pub(super) fn records(&self) -> &str {
        &self.records
    }

    pub(super) fn item_of(&self, row: &Row) -> Result<Item> {
        self.read(self.items(), ITEM, row)
    }

    /// Returns the item that the record names.
    pub(super) fn given_by(&self, record: &Row) -> Result<Item> {
        self.read(&self.records, GIVEN, record)
    }

    pub(super) fn id_of(&self, record: &Row) -> Result<ClaimId> {
        let text = record.text(ID).ok_or_else(|| unreadable(&self.records, "it names no id"))?;
        ClaimId::new(text).map_err(|error| unreadable(&self.records, "its id is not valid").caused_by(error))
    }

    fn read(&self, table: &str, attribute: &str, row: &Row) -> Result<Item> {
        let text = row.text(attribute).ok_or_else(|| unreadable(table, "it names no item"))?;
        Item::new(text).map_err(|error| unreadable(table, "its item is not valid").caused_by(error))
    }

    pub(super) async fn given(&self, id: &ClaimId) -> Result<Option<Item>> {
        self.record(id).await?.map(|record| self.given_by(&record)).transpose()
    }

    pub(super) async fn record(&self, id: &ClaimId) -> Result<Option<Row>> {
        let key = HashMap::from([(ID.to_owned(), id.as_str().value())]);
        self.client.get_from(&self.records, key).await
    }

    pub(super) async fn page(&self, table: &str, limit: Option<usize>, from: Option<Attributes>) -> Result<RowPage> {
        let limit = limit.map(|limit| i32::try_from(limit).unwrap_or(i32::MAX));
        self.client.scan(table, |scan| scan.set_limit(limit).set_exclusive_start_key(from)).await
    }

    pub(super) async fn count(&self, table: &str) -> Result<u64> {
        let (mut count, mut from) = (0, None);
        loop {
            let page = self.client.settle("counts", || self.counted(table, from.clone())).await?;
            count += page.count;
            match page.next {
                Some(next) => from = Some(next),
                None => return Ok(count),
            }
        }
    }

    async fn counted(&self, table: &str, from: Option<Attributes>) -> Result<RowPage> {
        self.client.scan(table, |scan| scan.select(Select::Count).set_exclusive_start_key(from)).await
    }
}

fn unreadable(table: &str, why: &str) -> Error {
    Error::corrupt(format_args!("a row of the table {table:?}"), why).on("dynamo")
}

pub(super) fn key(item: &str) -> Attributes {
    HashMap::from([(ITEM.to_owned(), item.value())])
}

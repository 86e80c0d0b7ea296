//! The tables: their keys, their rows, and how they are read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use aws_sdk_dynamodb::types::Select;
use futures_util::FutureExt as _;
use storagebox_core::{ClaimId, Error, Item, Result};

use crate::candidates::Candidates;
use crate::client::{Answers, Client, Connection};
use crate::config::Settings;
use crate::error;
use crate::row::{Attributes, Row, Value};

/// The key of the items.
pub(super) const ITEM: &str = "item";
/// The key of the records.
pub(super) const ID: &str = "deduplication_id";
/// A record's item.
pub(super) const GIVEN: &str = "item_string";

/// The two tables. The client's own is that of the items.
#[derive(Debug)]
pub(super) struct Tables {
    client: Arc<Client>,
    records: String,
    pub(super) candidates: Candidates<Item>,
    /// Where the next look goes on, unless that is anywhere.
    pub(super) place: Mutex<Option<Attributes>>,
}

impl Tables {
    pub(super) fn new(connection: Connection, settings: Settings, records: &str) -> Self {
        let candidates = Candidates::new(settings.fetch_limit);
        let client = Client::new(connection, settings);
        Self { client, records: records.to_owned(), candidates, place: Mutex::default() }
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

    pub(super) fn looks(&self) -> u64 {
        self.candidates.looks()
    }

    /// The item that a row of the items is.
    pub(super) fn item_of(&self, row: &Row) -> Result<Item> {
        self.read(self.items(), ITEM, row)
    }

    /// The item that a record names.
    pub(super) fn given_by(&self, record: &Row) -> Result<Item> {
        self.read(&self.records, GIVEN, record)
    }

    /// The id that a record is of.
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

    /// The record of an id as it is now.
    pub(super) async fn record(&self, id: &ClaimId) -> Result<Option<Row>> {
        let request = self.client.driver().await.get_item().table_name(&self.records);
        let request = request.key(ID, id.as_str().value()).consistent_read(true);
        let answer = request.send().boxed().await.map_err(|error| error::reading(error::of(error)))?;
        Ok(answer.item.map(Row::from))
    }

    /// A page of a table, read strongly.
    pub(super) async fn page(&self, table: &str, limit: Option<usize>, from: Option<Attributes>) -> Result<Answers> {
        let limit = limit.map(|limit| i32::try_from(limit).unwrap_or(i32::MAX));
        let request = self.client.driver().await.scan().table_name(table).consistent_read(true);
        let request = request.set_limit(limit).set_exclusive_start_key(from);
        let answer = request.send().boxed().await.map_err(|error| error::reading(error::of(error)))?;
        let rows = answer.items.unwrap_or_default().into_iter().map(Row::from).collect();
        let looked_at = u64::from(answer.scanned_count.unsigned_abs());
        Ok(Answers { rows, looked_at, next: answer.last_evaluated_key })
    }

    /// How many rows a table has.
    pub(super) async fn count(&self, table: &str) -> Result<u64> {
        let (mut count, mut from) = (0, None);
        loop {
            let (found, next) = self.client.settled("counts", || self.counted(table, from.clone())).await?;
            count += found;
            match next {
                Some(next) => from = Some(next),
                None => return Ok(count),
            }
        }
    }

    async fn counted(&self, table: &str, from: Option<Attributes>) -> Result<(u64, Option<Attributes>)> {
        let request = self.client.driver().await.scan().table_name(table).consistent_read(true);
        let request = request.select(Select::Count).set_exclusive_start_key(from);
        let answer = request.send().boxed().await.map_err(|error| error::reading(error::of(error)))?;
        Ok((u64::from(answer.count.unsigned_abs()), answer.last_evaluated_key))
    }
}

fn unreadable(table: &str, why: &str) -> Error {
    Error::corrupt(format_args!("a row of the table {table:?}"), why).on("dynamo")
}

/// The key of an item.
pub(super) fn key(item: &str) -> Attributes {
    HashMap::from([(ITEM.to_owned(), item.value())])
}

//! The two tables of article 1, refilled before each measurement.

use std::fmt::Display;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_sdk_dynamodb::Client as Driver;
use aws_sdk_dynamodb::types::{AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType};
use storagebox_dynamo::ArticleTables;

use super::server::Server;
use crate::error::{Failure, Result};
use crate::row::Load;
use crate::rows::filled::these;

pub(super) struct Tables {
    pub(super) items: String,
    pub(super) records: String,
    library: ArticleTables,
    added: AtomicUsize,
}

impl Tables {
    pub(super) async fn new(server: &Server, items: usize) -> Result<Self> {
        let (driver, count) = (server.driver().await?, items);
        let (items, records) = (server.name("items").await?, server.name("records").await?);
        create(driver, &items, "item").await?;
        create(driver, &records, "deduplication_id").await?;
        let library = ArticleTables::from_client(driver, &items, &records)?;
        library.add(&these(0..count)?).await?;
        Ok(Self { items, records, library, added: AtomicUsize::new(count) })
    }

    pub(super) async fn refill(&self, load: Load) -> Result<()> {
        let first = self.added.fetch_add(load.calls, Ordering::Relaxed);
        self.library.add(&these(first..first + load.calls)?).await?;
        Ok(())
    }
}

async fn create(driver: &Driver, table: &str, key: &str) -> Result<()> {
    let attribute = AttributeDefinition::builder().attribute_name(key).attribute_type(ScalarAttributeType::S);
    let schema = KeySchemaElement::builder().attribute_name(key).key_type(KeyType::Hash);
    let request = driver.create_table().table_name(table).billing_mode(BillingMode::PayPerRequest);
    let request = request.attribute_definitions(attribute.build().map_err(failed)?);
    request.key_schema(schema.build().map_err(failed)?).send().await.map(drop).map_err(failed)
}

pub(super) fn failed(error: impl Display) -> Failure {
    Failure::Request(error.to_string())
}

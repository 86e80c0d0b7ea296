//! The two tables of article 1's Python package, as its users create them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::Client as Driver;
use aws_sdk_dynamodb::client::Waiters as _;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use storagebox_core::{Item, Result};
use storagebox_dynamo::{ArticleTables, DynamoBuilder, DynamoStore};
use storagebox_testkit::dynamodb::faults::Faults;

use super::place::{Table, failed};

/// The two tables of the article.
#[derive(Debug)]
pub struct Articles {
    table: Arc<Table>,
    pub items: String,
    pub records: String,
}

impl Articles {
    pub async fn beside(table: &Arc<Table>) -> Result<Self> {
        let named = |part| format!("{}-{part}", table.name);
        let articles = Self { table: Arc::clone(table), items: named("items"), records: named("records") };
        articles.create(&articles.items, "item").await?;
        articles.create(&articles.records, "deduplication_id").await?;
        Ok(articles)
    }

    /// Runs a test with new tables, and removes them afterwards.
    pub async fn with(test: impl AsyncFnOnce(&Self) -> Result<()>) -> Result<()> {
        let table = Table::shared().await?;
        let articles = Self::beside(&table).await?;
        let outcome = test(&articles).await;
        articles.remove().await?;
        table.remove().await?;
        outcome
    }

    async fn create(&self, name: &str, key: &str) -> Result<()> {
        let attribute = AttributeDefinition::builder().attribute_name(key).attribute_type(ScalarAttributeType::S);
        let schema = KeySchemaElement::builder().attribute_name(key).key_type(KeyType::Hash);
        let driver = self.table.raw();
        let request = driver.create_table().table_name(name).billing_mode(BillingMode::PayPerRequest);
        let request = request.attribute_definitions(attribute.build().map_err(failed)?);
        let request = request.key_schema(schema.build().map_err(failed)?);
        request.send().await.map_err(failed)?;
        let made = driver.wait_until_table_exists().table_name(name).wait(Duration::from_secs(120)).await;
        made.map(drop).map_err(failed)
    }

    pub async fn remove(&self) -> Result<()> {
        for name in [&self.items, &self.records] {
            self.table.raw().delete_table().table_name(name).send().await.map_err(failed)?;
        }
        Ok(())
    }

    pub fn builder(&self) -> DynamoBuilder {
        DynamoStore::builder().table(self.items.as_str())
    }

    pub async fn driver(&self) -> Driver {
        self.table.client(None, None).await
    }

    pub async fn open(&self) -> Result<ArticleTables> {
        self.builder().article_tables_from_client(&self.driver().await, &self.records)
    }

    /// Opens the tables with a new client, and returns the control that adds faults to the client's requests.
    pub async fn through(&self, builder: DynamoBuilder) -> Result<(ArticleTables, Faults)> {
        let faults = Faults::new(self.table.http());
        let http = SharedHttpClient::new(faults.clone());
        let client = self.table.client(None, Some(http)).await;
        Ok((builder.article_tables_from_client(&client, &self.records)?, faults))
    }

    /// Opens the tables and adds `count` items.
    pub async fn filled(&self, count: usize) -> Result<ArticleTables> {
        let tables = self.open().await?;
        tables.add(&items(count)?).await?;
        Ok(tables)
    }

    /// Reads the free items directly from the table.
    pub async fn free(&self) -> Result<BTreeSet<String>> {
        let rows = self.rows(&self.items).await?;
        Ok(rows.iter().filter_map(|row| text(row, "item")).collect())
    }

    /// Reads the given items by their ids, directly from the table.
    pub async fn given(&self) -> Result<BTreeMap<String, String>> {
        let rows = self.rows(&self.records).await?;
        Ok(rows.iter().filter_map(|row| text(row, "deduplication_id").zip(text(row, "item_string"))).collect())
    }

    async fn rows(&self, table: &str) -> Result<Vec<HashMap<String, AttributeValue>>> {
        let request = self.table.raw().scan().table_name(table).consistent_read(true);
        let rows: std::result::Result<Vec<_>, _> = request.into_paginator().items().send().collect().await;
        rows.map_err(failed)
    }

    /// Writes a row directly, as another program would.
    pub async fn put(&self, table: &str, row: &[(&str, &str)]) -> Result<()> {
        let mut request = self.table.raw().put_item().table_name(table);
        for (name, value) in row {
            request = request.item(*name, AttributeValue::S((*value).to_owned()));
        }
        request.send().await.map(drop).map_err(failed)
    }
}

fn text(row: &HashMap<String, AttributeValue>, name: &str) -> Option<String> {
    row.get(name)?.as_s().ok().cloned()
}

/// Returns `count` distinct items.
pub fn items(count: usize) -> Result<Vec<Item>> {
    (0..count).map(|number| Item::new(format!("CODE-{number:05}"))).collect()
}

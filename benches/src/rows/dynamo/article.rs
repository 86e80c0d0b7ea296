//! Article 1's algorithm: fetch 30 candidates and shuffle them, delete one after another until a delete removes an
//! item, then record that item.

use std::collections::HashMap;
use std::sync::Arc;

use aws_sdk_dynamodb::Client as Driver;
use aws_sdk_dynamodb::types::AttributeValue;

use super::server::Server;
use super::tables::{Tables, failed};
use crate::error::{Failure, Result};
use crate::row::Side;
use crate::rows::side::{Caller, ids, prepared, side};

struct Article {
    driver: Driver,
    tables: Arc<Tables>,
}

type Row = HashMap<String, AttributeValue>;

impl Caller for Article {
    type Argument = String;

    /// Takes an item for the id. Every call searches from the head of the table.
    async fn call(&self, id: &String) -> Result<()> {
        let mut from = None;
        loop {
            let scan = self.driver.scan().table_name(&self.tables.items).limit(30);
            let page = scan.set_exclusive_start_key(from).send().await.map_err(failed)?;
            if let Some(item) = self.one_of(page.items.unwrap_or_default()).await? {
                return self.record(id, item).await;
            }
            from = page.last_evaluated_key;
            if from.is_none() {
                return Err(Failure::NotNew { answer: "no candidate was left".to_owned() });
            }
        }
    }
}

impl Article {
    /// Deletes the candidates in random order until a delete removes an item, and returns that item.
    async fn one_of(&self, mut candidates: Vec<Row>) -> Result<Option<AttributeValue>> {
        fastrand::shuffle(&mut candidates);
        for mut candidate in candidates {
            let item = candidate.remove("item").ok_or_else(|| failed("a row without an item"))?;
            if self.delete(&item).await? {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    async fn delete(&self, item: &AttributeValue) -> Result<bool> {
        let delete = self.driver.delete_item().table_name(&self.tables.items).key("item", item.clone());
        let delete = delete.condition_expression("#item = :item").expression_attribute_names("#item", "item");
        match delete.expression_attribute_values(":item", item.clone()).send().await {
            Ok(_) => Ok(true),
            Err(error) if error.as_service_error().is_some_and(|e| e.is_conditional_check_failed_exception()) => {
                Ok(false)
            }
            Err(error) => Err(failed(error)),
        }
    }

    async fn record(&self, id: &str, item: AttributeValue) -> Result<()> {
        let put = self.driver.put_item().table_name(&self.tables.records);
        let put = put.item("deduplication_id", AttributeValue::S(id.to_owned())).item("item_string", item);
        let put = put.condition_expression("attribute_not_exists(deduplication_id)");
        put.send().await.map(drop).map_err(failed)
    }
}

pub(super) fn takes(server: &Server, items: usize) -> Side {
    let make = move |server: Server| async move {
        let tables = Arc::new(Tables::new(&server, items).await?);
        Ok((server.driver().await?.clone(), tables))
    };
    side(server, make, |world: Arc<(Driver, Arc<Tables>)>, load| async move {
        let (driver, tables) = &*world;
        tables.refill(load).await?;
        let article = Article { driver: driver.clone(), tables: Arc::clone(tables) };
        Ok(prepared(load, article, ids(load).collect()))
    })
}

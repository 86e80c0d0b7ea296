//! A program that writes its orders together with calls of a store.

use std::collections::HashMap;

use aws_sdk_dynamodb::Client as Driver;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use storagebox_core::Result;
use storagebox_dynamo::{DynamoStore, Explained, Parts};
use storagebox_testkit::dynamodb::faults::Faults;

use crate::support::{Place, failed};

/// A program that stores orders, in the same table as the store's rows.
pub(crate) struct Shop {
    pub(crate) store: DynamoStore,
    /// The faults of the program's own transactions. The requests of the store have no faults.
    pub(crate) faults: Faults,
    place: Place,
    client: Driver,
}

impl Shop {
    pub(crate) async fn open(place: &Place) -> Result<Self> {
        Self::with(place, place.store().await?).await
    }

    pub(crate) async fn with(place: &Place, store: DynamoStore) -> Result<Self> {
        let faults = Faults::new(place.table.http());
        let client = place.table.client(None, Some(SharedHttpClient::new(faults.clone()))).await;
        let config = client.config().to_builder().retry_config(RetryConfig::disabled());
        Ok(Self { store, faults, place: place.clone(), client: Driver::from_conf(config.build()) })
    }

    /// Returns the transaction item that creates an order with this voucher. DynamoDB refuses the item if the order
    /// exists.
    pub(crate) fn order(&self, name: &str, voucher: &str) -> TransactWriteItem {
        let put = Put::builder().table_name(&self.place.name).set_item(Some(key(name)));
        let put = put.item("voucher", text(voucher)).condition_expression("attribute_not_exists(pk)");
        TransactWriteItem::builder().put(put.build().unwrap()).build()
    }

    /// Returns the voucher that an order names; `None` if the order does not exist.
    pub(crate) async fn voucher_of(&self, order: &str) -> Result<Option<String>> {
        let request = self
            .place
            .table
            .raw()
            .get_item()
            .table_name(&self.place.name)
            .set_key(Some(key(order)))
            .consistent_read(true);
        let row = request.send().await.map_err(failed)?.item;
        Ok(row.map(|row| row["voucher"].as_s().unwrap().clone()))
    }

    /// Sends the transaction. Returns `None` on success, and the explanation of the error otherwise.
    pub(crate) async fn send(&self, parts: &Parts, own: Vec<TransactWriteItem>) -> Result<Option<Explained>> {
        self.send_as(parts, own, parts.request_token()).await
    }

    /// Sends the transaction with this request token, as a caller may do after ten minutes.
    pub(crate) async fn send_as(
        &self,
        parts: &Parts,
        own: Vec<TransactWriteItem>,
        token: &str,
    ) -> Result<Option<Explained>> {
        let request = self.client.transact_write_items().set_transact_items(Some(parts.after(own)?));
        match request.client_request_token(token).send().await {
            Ok(_) => Ok(None),
            Err(error) => parts.explain(&error).map(Some),
        }
    }
}

fn key(order: &str) -> HashMap<String, AttributeValue> {
    HashMap::from([("pk".to_owned(), text(&format!("orders/{order}"))), ("sk".to_owned(), text("-"))])
}

pub(crate) fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

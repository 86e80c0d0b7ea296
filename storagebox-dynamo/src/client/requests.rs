//! Reads, each with its own retries.

use std::collections::HashMap;

use aws_sdk_dynamodb::Client as Driver;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::scan::builders::ScanFluentBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes, ReturnConsumedCapacity};
use futures_util::FutureExt as _;
use storagebox_core::backend::repeat;
use storagebox_core::{Error, ErrorKind, Result};

use super::Client;
use super::backoff::{CallBackoff, wait};
use super::query::{Index, Query};
use crate::error::{self, incomplete};
use crate::row::{Attributes, INDEX, Row, RowKey};

#[derive(Debug)]
pub(crate) struct RowPage {
    pub(crate) rows: Vec<Row>,
    /// The number of rows, which is set even if the request asked only for the number.
    pub(crate) count: u64,
    /// The number of rows before the filter.
    pub(crate) scanned: u64,
    /// The key after which the next page begins; `None` on the last page.
    pub(crate) next: Option<Attributes>,
}

/// The largest number of keys in one `BatchGetItem` of DynamoDB.
const BATCH: usize = 100;
/// How many consecutive batches the service may leave wholly unread before the read fails.
const UNREAD_BATCHES: u32 = 5;

impl Client {
    pub(crate) async fn driver(&self) -> &Driver {
        let clock = self.settings.clock.is_none().then_some(&self.clock);
        // The futures of all requests are boxed: the driver's futures are large and deeply nested, and the compiler
        // would analyse them again for each caller.
        // One attempt has a third of the timeout of a call, so that the call has time for another attempt.
        self.connection.driver(clock, self.settings.options.call_timeout / 3).boxed().await
    }

    pub(super) fn capacity(&self) -> Option<ReturnConsumedCapacity> {
        self.settings.report_capacity.then_some(ReturnConsumedCapacity::Indexes)
    }

    /// Reads a row, strongly consistently.
    pub(crate) async fn get(&self, key: &RowKey) -> Result<Option<Row>> {
        self.get_from(self.table(), key.attributes()).await
    }

    pub(crate) async fn get_from(&self, table: &str, key: Attributes) -> Result<Option<Row>> {
        let request = self.driver().await.get_item().table_name(table).set_key(Some(key));
        let request = request.consistent_read(true).set_return_consumed_capacity(self.capacity());
        let answer = read(|| request.clone().send(), error::of).await?;
        Ok(answer.item.map(Row::from))
    }

    /// Reads one page of a query, strongly consistently.
    pub(crate) async fn query(&self, query: &Query) -> Result<RowPage> {
        let request = self.driver().await.query().table_name(self.table()).consistent_read(true);
        let request = request
            .set_index_name((query.index == Index::Order).then(|| INDEX.to_owned()))
            .key_condition_expression(&query.condition)
            .set_filter_expression(query.filter.clone())
            .set_projection_expression(query.projection.map(str::to_owned))
            .set_expression_attribute_values(Some(query.values.clone()))
            .set_limit(query.limit)
            .set_exclusive_start_key(query.from.clone())
            .set_return_consumed_capacity(self.capacity());
        let answer = read(|| request.clone().send(), error::of).await?;
        Ok(page(answer.items, [answer.count, answer.scanned_count], answer.last_evaluated_key))
    }

    /// Reads one page of a table, strongly consistently.
    pub(crate) async fn scan(
        &self,
        table: &str,
        narrowed: impl FnOnce(ScanFluentBuilder) -> ScanFluentBuilder,
    ) -> Result<RowPage> {
        let request = narrowed(self.driver().await.scan().table_name(table).consistent_read(true));
        let request = request.set_return_consumed_capacity(self.capacity());
        let answer = read(|| request.clone().send(), error::of).await?;
        Ok(page(answer.items, [answer.count, answer.scanned_count], answer.last_evaluated_key))
    }

    /// Reads the rows of these distinct keys, in no particular order. A key without a row is left out.
    pub(crate) async fn rows(&self, mut left: Vec<Attributes>) -> Result<Vec<Row>> {
        let (mut found, mut unread_batches) = (Vec::new(), 0);
        while !left.is_empty() {
            let rest = left.split_off(left.len().saturating_sub(BATCH));
            let asked = rest.len();
            let (rows, unread) = self.batch(rest).await?;
            unread_batches = if unread.len() == asked { unread_batches + 1 } else { 0 };
            if unread_batches > UNREAD_BATCHES {
                return Err(Error::new(ErrorKind::Throttled, "the table is at its throughput limit").on("dynamo"));
            }
            found.extend(rows);
            left.extend(unread);
        }
        Ok(found)
    }

    /// Reads a batch. Returns the rows, and the keys that the service left unread.
    async fn batch(&self, keys: Vec<Attributes>) -> Result<(Vec<Row>, Vec<Attributes>)> {
        let asked = KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(true).build();
        let request = self.driver().await.batch_get_item().request_items(self.table(), asked.map_err(incomplete)?);
        let request = request.set_return_consumed_capacity(self.capacity());
        let answer = read(|| request.clone().send(), error::of).await?;
        let rows = answer.responses.unwrap_or_default().into_values().flatten().map(Row::from).collect();
        let unread = answer.unprocessed_keys.unwrap_or_default().into_values();
        Ok((rows, unread.flat_map(|keys| keys.keys).collect()))
    }
}

/// Makes a read. Repeats a failed read alone, without the rest of the attempt.
pub(super) async fn read<T, E, F>(
    send: impl Fn() -> F + Send + Sync,
    to_error: impl Fn(SdkError<E, HttpResponse>) -> Error + Send + Sync,
) -> Result<T>
where
    T: Send,
    E: Send,
    F: Future<Output = std::result::Result<T, SdkError<E, HttpResponse>>> + Send,
{
    let attempt = |_| async {
        let answer = send().boxed().await;
        answer.map_err(|error| error::reading(to_error(error)))
    };
    repeat(false, CallBackoff::of_read(), wait, attempt).await
}

fn page(items: Option<Vec<Attributes>>, counts: [i32; 2], next: Option<Attributes>) -> RowPage {
    let rows = items.unwrap_or_default().into_iter().map(Row::from).collect();
    let [count, scanned] = counts.map(|count| u64::from(count.unsigned_abs()));
    RowPage { rows, count, scanned, next }
}

/// Returns the row that the service sent with a refusal; `None` if the row does not exist.
pub(super) fn row(item: Option<&HashMap<String, AttributeValue>>) -> Option<Row> {
    item.filter(|item| !item.is_empty()).cloned().map(Row::from)
}

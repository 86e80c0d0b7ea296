//! Single requests, one attempt each.

use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::Client as Driver;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes, ReturnConsumedCapacity};
use futures_util::FutureExt as _;
use storagebox_core::backend::{Backoff, Setback, Settled, repeat};
use storagebox_core::{Error, ErrorKind, Result};

use super::look::{Index, Look};
use super::write::{Alone, Write};
use super::{CallBackoff, Client, wait};
use crate::error;
use crate::row::{Attributes, INDEX, Row, RowKey};

/// What became of a conditional write.
#[derive(Debug)]
pub(crate) enum Wrote {
    /// It was made; the row, where the write asked for it.
    Done(Option<Row>),
    /// Its condition did not hold; the row as it is, if there is one.
    Refused(Option<Row>),
}

/// One page of a query or a scan.
#[derive(Debug)]
pub(crate) struct Answers {
    pub(crate) rows: Vec<Row>,
    /// How many rows there were before the filter.
    pub(crate) looked_at: u64,
    /// Where the next page begins, if there may be one.
    pub(crate) next: Option<Attributes>,
}

/// DynamoDB's limit for one `BatchGetItem`.
const BATCH: usize = 100;

impl Client {
    /// Boxed as one type, like every request: the driver's futures are large and deep, and the compiler would look into
    /// them again for each caller.
    pub(crate) async fn driver(&self) -> &Driver {
        let clock = self.settings.clock.is_none().then_some(&self.clock);
        self.connection.driver(clock, self.settings.options.call_timeout / 3).boxed().await
    }

    pub(super) fn capacity(&self) -> Option<ReturnConsumedCapacity> {
        self.settings.report_capacity.then_some(ReturnConsumedCapacity::Indexes)
    }

    /// The row as it is now.
    pub(crate) async fn get(&self, key: &RowKey) -> Result<Option<Row>> {
        let request = self.driver().await.get_item().table_name(self.table()).set_key(Some(key.attributes()));
        let request = request.consistent_read(true).set_return_consumed_capacity(self.capacity());
        let answer = read(|| request.clone().send()).await?;
        Ok(answer.item.map(Row::from))
    }

    pub(crate) async fn write(&self, write: &Write) -> Result<Wrote> {
        use aws_sdk_dynamodb::operation::{delete_item, put_item, update_item};
        let driver = self.driver().await;
        macro_rules! sent {
            ($request:expr, $refused:path) => {{
                let request = $request.set_return_consumed_capacity(self.capacity());
                match request.send_with(driver).boxed().await {
                    Ok(answer) => Ok(Wrote::Done(answer.attributes.map(Row::from))),
                    Err(error) => match error.as_service_error() {
                        Some($refused(refused)) => Ok(Wrote::Refused(row(refused.item()))),
                        _ => Err(error::of(error)),
                    },
                }
            }};
        }
        match write.alone(self.table()) {
            Alone::Put(put) => sent!(put, put_item::PutItemError::ConditionalCheckFailedException),
            Alone::Update(update) => {
                sent!(update, update_item::UpdateItemError::ConditionalCheckFailedException)
            }
            Alone::Delete(delete) => {
                sent!(delete, delete_item::DeleteItemError::ConditionalCheckFailedException)
            }
        }
    }

    /// A write to one row. The table refuses as a whole what cannot be made to the row as it is: this reads the row,
    /// and says what is wrong with it.
    pub(crate) async fn write_to(
        &self,
        key: &RowKey,
        write: &Write,
        check: impl FnOnce(&Row) -> Result<()>,
    ) -> Result<Wrote> {
        let error = match self.write(write).await {
            Err(error) if error.kind() == ErrorKind::InvalidInput => error,
            wrote => return wrote,
        };
        self.get(key).await?.as_ref().map_or(Ok(()), check)?;
        Err(error)
    }

    /// One page of a query, read strongly.
    pub(crate) async fn query(&self, look: &Look) -> Result<Answers> {
        let request = self.driver().await.query().table_name(self.table()).consistent_read(true);
        let request = request
            .set_index_name((look.index == Index::Order).then(|| INDEX.to_owned()))
            .key_condition_expression(&look.condition)
            .set_filter_expression(look.filter.clone())
            .set_projection_expression(look.projection.map(str::to_owned))
            .set_expression_attribute_values(Some(look.values.clone()))
            .set_limit(look.limit)
            .set_exclusive_start_key(look.from.clone())
            .set_return_consumed_capacity(self.capacity());
        let answer = read(|| request.clone().send()).await?;
        Ok(answers(answer.items, answer.scanned_count, answer.last_evaluated_key))
    }

    /// One page of the table's rows for which the filter holds.
    pub(crate) async fn scan(
        &self,
        filter: &str,
        values: &Attributes,
        limit: usize,
        from: Option<Attributes>,
    ) -> Result<Answers> {
        let request = self.driver().await.scan().table_name(self.table()).consistent_read(true);
        let request = request
            .filter_expression(filter)
            .set_expression_attribute_values(Some(values.clone()))
            .projection_expression("pk, sk, c, n, o")
            .limit(i32::try_from(limit).unwrap_or(i32::MAX))
            .set_exclusive_start_key(from)
            .set_return_consumed_capacity(self.capacity());
        let answer = read(|| request.clone().send()).await?;
        Ok(answers(answer.items, answer.scanned_count, answer.last_evaluated_key))
    }

    /// The rows that there are of these, in no order. Distinct keys, any number: cut into batches, and what the service
    /// left unread is asked for again.
    pub(crate) async fn rows(&self, keys: &[RowKey]) -> Result<Vec<Row>> {
        self.rows_at(keys.iter().map(RowKey::attributes).collect()).await
    }

    pub(crate) async fn rows_at(&self, mut left: Vec<Attributes>) -> Result<Vec<Row>> {
        let (mut found, mut idle) = (Vec::new(), 0);
        while !left.is_empty() {
            let rest = left.split_off(left.len().saturating_sub(BATCH));
            let asked = rest.len();
            let (rows, unread) = self.batch(rest).await?;
            idle = if unread.len() == asked { idle + 1 } else { 0 };
            if idle > 5 {
                return Err(Error::new(ErrorKind::Throttled, "the table is at its limit").on("dynamo"));
            }
            found.extend(rows);
            left.extend(unread);
        }
        Ok(found)
    }

    async fn batch(&self, keys: Vec<Attributes>) -> Result<(Vec<Row>, Vec<Attributes>)> {
        let asked = KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(true).build();
        let asked = asked.map_err(|error| error::bad("keys", "lack a part").caused_by(error))?;
        let request = self.driver().await.batch_get_item().request_items(self.table(), asked);
        let request = request.set_return_consumed_capacity(self.capacity());
        let answer = read(|| request.clone().send()).await?;
        let rows = answer.responses.unwrap_or_default().into_values().flatten().map(Row::from).collect();
        let unread = answer.unprocessed_keys.unwrap_or_default().into_values();
        Ok((rows, unread.flat_map(|keys| keys.keys).collect()))
    }

    /// For the requests that only the table's maker makes.
    pub(crate) async fn admin(&self) -> &Driver {
        self.driver().await
    }
}

/// How often a read is made at the most before the call that needs it begins anew.
const READS: u32 = 4;

/// Makes a read again that was not answered: it changes nothing, so the call need not begin anew for it.
async fn read<T, E, F>(send: impl Fn() -> F + Send + Sync) -> Result<T>
where
    T: Send,
    E: std::error::Error + ProvideErrorMetadata + Send + Sync + 'static,
    F: Future<Output = std::result::Result<T, SdkError<E, HttpResponse>>> + Send,
{
    read_judged(send, error::of).await
}

/// The same with an own judgement of the driver's errors.
pub(super) async fn read_judged<T, E, F>(
    send: impl Fn() -> F + Send + Sync,
    judge: impl Fn(SdkError<E, HttpResponse>) -> Error + Send + Sync,
) -> Result<T>
where
    T: Send,
    E: Send,
    F: Future<Output = std::result::Result<T, SdkError<E, HttpResponse>>> + Send,
{
    let attempt = || async {
        let answer = send().boxed().await;
        answer.map(Settled).map_err(|error| error::reading(judge(error)))
    };
    repeat(Reads { backoff: CallBackoff::of_call(), repeats: 0 }, wait, attempt).await.map(|Settled(answer)| answer)
}

/// The patience of reads.
#[derive(Debug)]
struct Reads {
    backoff: CallBackoff,
    repeats: u32,
}

impl Backoff for Reads {
    fn after(&mut self, setback: Setback<'_>) -> Option<Duration> {
        self.repeats += 1;
        if self.repeats < READS { self.backoff.after(setback) } else { None }
    }
}

fn answers(items: Option<Vec<Attributes>>, looked_at: i32, next: Option<Attributes>) -> Answers {
    let rows = items.unwrap_or_default().into_iter().map(Row::from).collect();
    Answers { rows, looked_at: u64::from(looked_at.unsigned_abs()), next }
}

/// The row that a refusal shows, if there is one.
pub(super) fn row(item: Option<&HashMap<String, AttributeValue>>) -> Option<Row> {
    item.filter(|item| !item.is_empty()).cloned().map(Row::from)
}

//! The requests of calls, as a recorder in front of the server sees them, and their cost, as the server reports it.

use std::iter::Sum;
use std::mem;

use aws_sdk_dynamodb::Client as Driver;
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use serde_json::Value;
use storagebox_core::Result;
use storagebox_dynamo::{DynamoBuilder, DynamoStore};
use storagebox_testkit::dynamodb::faults::{Exchange, Faults};

use crate::support::Place;

/// A store whose requests are recorded, and the cost of its calls.
pub(crate) struct Metered {
    pub(crate) store: DynamoStore,
    pub(crate) noted: Vec<Noted>,
    driver: Driver,
    faults: Faults,
    /// The requests that belong to no call in `noted`.
    others: Vec<Exchange>,
    sent: Vec<Exchange>,
    by_operators: Vec<Exchange>,
}

/// The calls that operators make and programs do not make.
const OPERATORS: [&str; 6] = ["`retire`", "`compact`", "`purge`", "`reset`", "`maintain`", "`setup`"];

#[derive(Clone, Debug)]
pub(crate) struct Noted {
    pub(crate) part: &'static str,
    pub(crate) call: String,
    pub(crate) cost: Cost,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    pub(crate) requests: usize,
    pub(crate) read: f64,
    pub(crate) write: f64,
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), |sum, one| Self {
            requests: sum.requests + one.requests,
            read: sum.read + one.read,
            write: sum.write + one.write,
        })
    }
}

impl Metered {
    pub(crate) async fn of(place: &Place, builder: DynamoBuilder) -> Result<Self> {
        let faults = Faults::new(place.table.http());
        let driver = place.table.client(None, Some(SharedHttpClient::new(faults.clone()))).await;
        faults.record(true);
        let store = builder.report_capacity(true).from_client(&driver)?;
        Ok(Self { store, noted: vec![], driver, faults, others: vec![], sent: vec![], by_operators: vec![] })
    }

    /// Opens a store as another process would, with the same recorder.
    pub(crate) fn another(&self, builder: DynamoBuilder) -> Result<DynamoStore> {
        builder.report_capacity(true).from_client(&self.driver)
    }

    pub(crate) async fn note<T>(
        &mut self,
        part: &'static str,
        call: impl Into<String>,
        made: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        self.others.extend(self.faults.taken());
        let (call, answer) = (call.into(), made.await?);
        let sent = self.faults.taken();
        let cost = sent.iter().map(cost).sum();
        let is_operators = OPERATORS.iter().any(|operators| call.starts_with(operators));
        if is_operators { &mut self.by_operators } else { &mut self.sent }.extend(sent);
        self.noted.push(Noted { part, call, cost });
        Ok(answer)
    }

    /// Returns the requests that were sent since the last call of this method and belong to no call in `noted`.
    pub(crate) fn aside(&mut self) -> Vec<Exchange> {
        let aside: Vec<_> = mem::take(&mut self.others).into_iter().chain(self.faults.taken()).collect();
        self.sent.extend(aside.iter().cloned());
        aside
    }

    /// Returns the requests of programs' calls, and those of operators' calls.
    pub(crate) fn sent(mut self) -> (Vec<Exchange>, Vec<Exchange>) {
        self.aside();
        (self.sent, self.by_operators)
    }

    #[track_caller]
    pub(crate) fn cost_of(&self, part: &str, call: &str) -> Cost {
        let found = self.noted.iter().find(|noted| noted.part == part && noted.call == call);
        found.unwrap_or_else(|| panic!("{part}: {call} was not noted")).cost
    }
}

pub(crate) fn cost(exchange: &Exchange) -> Cost {
    let writes = ["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"];
    let units = match exchange.status {
        Some(200) => exchange.response.as_ref().map_or(0.0, reported),
        _ => reckoned(exchange),
    };
    match writes.contains(&exchange.operation.as_str()) {
        true => Cost { requests: 1, read: 0.0, write: units },
        false => Cost { requests: 1, read: units, write: 0.0 },
    }
}

/// Returns the capacity units that the answer reports, for one table or for several.
fn reported(response: &Value) -> f64 {
    let consumed = &response["ConsumedCapacity"];
    let tables = consumed.as_array().map_or_else(|| vec![consumed], |tables| tables.iter().collect());
    tables.into_iter().filter_map(|table| table["CapacityUnits"].as_f64()).sum()
}

/// Returns the cost of a failed condition as DynamoDB's documentation defines it, for rows of at most a kilobyte.
fn reckoned(exchange: &Exchange) -> f64 {
    let kind = exchange.response.as_ref().and_then(|response| response["__type"].as_str()).unwrap_or_default();
    match kind.rsplit('#').next() {
        Some("ConditionalCheckFailedException") => 1.0,
        Some("TransactionCanceledException") => {
            2.0 * exchange.request["TransactItems"].as_array().map_or(0, Vec::len) as f64
        }
        _ => 0.0,
    }
}

//! Records the requests that were sent and the faults that were injected.

use std::collections::BTreeMap;
use std::mem;

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use serde_json::Value;

use super::fault::Fault;
use super::request::{Request, json};

/// A request that was sent to the server, and the server's own reply, whatever happened to the reply on its way back.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The operation, such as `TransactWriteItems`.
    pub operation: String,
    /// The body of the request.
    pub request: Value,
    /// The body of the reply, if there was one.
    pub response: Option<Value>,
    /// The status of the reply, if there was one.
    pub status: Option<u16>,
}

#[derive(Default)]
pub(super) struct Record {
    injected: BTreeMap<String, u64>,
    requests: BTreeMap<String, u64>,
    keeps: bool,
    /// The exchanges in the order of their requests' numbers.
    exchanges: BTreeMap<u64, Exchange>,
    sent: u64,
}

impl Record {
    pub(super) fn injected(&self) -> &BTreeMap<String, u64> {
        &self.injected
    }

    pub(super) fn requests(&self) -> &BTreeMap<String, u64> {
        &self.requests
    }

    pub(super) fn keep(&mut self, on: bool) {
        self.keeps = on;
    }

    pub(super) fn take(&mut self) -> Vec<Exchange> {
        mem::take(&mut self.exchanges).into_values().collect()
    }

    pub(super) fn reset(&mut self) {
        self.injected.clear();
        self.requests.clear();
        self.exchanges.clear();
    }

    /// Counts a fault, and returns the number of earlier faults of its kind.
    pub(super) fn inject(&mut self, fault: Fault) -> u64 {
        let count = self.injected.entry(fault.name()).or_default();
        *count += 1;
        *count - 1
    }

    /// Counts a request. Returns the number under which its reply is recorded.
    pub(super) fn sent(&mut self, request: &Request) -> u64 {
        let operation = request.operation.clone();
        self.sent += 1;
        if self.keeps {
            let request = request.json();
            let exchange = Exchange { operation: operation.clone(), request, response: None, status: None };
            self.exchanges.insert(self.sent, exchange);
        }
        *self.requests.entry(operation).or_default() += 1;
        self.sent
    }

    pub(super) fn answered(&mut self, number: u64, answer: &HttpResponse) {
        if let Some(exchange) = self.exchanges.get_mut(&number) {
            exchange.response = answer.body().bytes().map(json);
            exchange.status = Some(answer.status().as_u16());
        }
    }
}

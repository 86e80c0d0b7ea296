//! Batches of which a part comes back unprocessed.

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use serde_json::{Map, Value};

use super::answer;
use super::request::{Request, json};

/// A batch in two.
pub(super) struct Halves {
    /// The request without the rest.
    pub(super) sent: Request,
    /// What comes back, by table.
    rest: Map<String, Value>,
    unprocessed: &'static str,
}

impl Halves {
    /// Gives the request back if there is only one item: DynamoDB refuses a batch of which it can process nothing.
    pub(super) fn of(request: Request) -> Result<Self, Request> {
        let mut body = request.json();
        let mut rest = Map::new();
        if let Some(tables) = body.get_mut("RequestItems").and_then(Value::as_object_mut) {
            rest = split(tables);
        }
        if rest.is_empty() {
            return Err(request);
        }
        let reads = request.operation == "BatchGetItem";
        let unprocessed = if reads { "UnprocessedKeys" } else { "UnprocessedItems" };
        Ok(Self { sent: request.with(&body), rest, unprocessed })
    }
}

/// What there is to come back with the answer.
pub(super) struct Rest {
    tables: Map<String, Value>,
    field: &'static str,
}

impl Halves {
    pub(super) fn into_parts(self) -> (Request, Rest) {
        (self.sent, Rest { tables: self.rest, field: self.unprocessed })
    }
}

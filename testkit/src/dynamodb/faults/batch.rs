//! Batches of which a part is returned as unprocessed.

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use serde_json::{Map, Value};

use super::answer::with_body;
use super::request::{Request, json};

/// The second half of a batch, by table, and the field of the answer that returns it as unprocessed.
pub(super) struct Rest {
    tables: Map<String, Value>,
    field: &'static str,
}

/// Returns whether the request is a batch of at least two items.
pub(super) fn has_halves(request: &Request) -> bool {
    // DynamoDB refuses a batch if it can process no item of the batch.
    tables(&mut request.json()).is_some_and(|tables| count(tables) > 1)
}

/// Splits a batch into a request with its first half, and the rest.
pub(super) fn halved(request: Request) -> (Request, Rest) {
    let mut body = request.json();
    let tables = tables(&mut body).map(split).unwrap_or_default();
    let is_read = request.operation == "BatchGetItem";
    let field = if is_read { "UnprocessedKeys" } else { "UnprocessedItems" };
    (request.with(&body), Rest { tables, field })
}

fn tables(body: &mut Value) -> Option<&mut Map<String, Value>> {
    body.get_mut("RequestItems")?.as_object_mut()
}

fn count(tables: &mut Map<String, Value>) -> usize {
    tables.values_mut().filter_map(entries).map(|entries| entries.len()).sum()
}

/// Removes the second half from the tables, and returns it.
fn split(tables: &mut Map<String, Value>) -> Map<String, Value> {
    let mut room = count(tables) / 2;
    let mut rest = tables.clone();
    for (kept, left) in tables.values_mut().filter_map(entries).zip(rest.values_mut().filter_map(entries)) {
        let here = room.min(kept.len());
        kept.truncate(here);
        left.drain(..here);
        room -= here;
    }
    tables.retain(|_, table| has_entries(table));
    rest.retain(|_, table| has_entries(table));
    rest
}

/// Returns a table's writes, or its keys to read.
fn entries(table: &mut Value) -> Option<&mut Vec<Value>> {
    match table {
        Value::Object(read) => read.get_mut("Keys")?.as_array_mut(),
        writes => writes.as_array_mut(),
    }
}

fn has_entries(table: &mut Value) -> bool {
    entries(table).is_some_and(|entries| !entries.is_empty())
}

impl Rest {
    /// Adds the rest to the unprocessed items in the server's answer. Returns a refusal unchanged.
    pub(super) fn returned_with(self, answer: HttpResponse) -> HttpResponse {
        let mut body = answer.body().bytes().map(json).unwrap_or_default();
        let Some(fields) = body.as_object_mut().filter(|_| answer.status().is_success()) else {
            return answer;
        };
        let unprocessed = fields.entry(self.field).or_insert(Value::Null);
        *unprocessed = merged(unprocessed.take(), self.tables);
        with_body(answer, body.to_string().into_bytes())
    }
}

/// Merges unprocessed items and the rest of a batch by table.
pub(super) fn merged(unprocessed: Value, rest: Map<String, Value>) -> Value {
    let Value::Object(mut tables) = unprocessed else {
        return rest.into();
    };
    for (table, left) in rest {
        add(tables.entry(table).or_insert(Value::Null), left);
    }
    tables.into()
}

fn add(unprocessed: &mut Value, mut left: Value) {
    match (entries(unprocessed), entries(&mut left)) {
        (Some(there), Some(more)) => there.append(more),
        _ => *unprocessed = left,
    }
}

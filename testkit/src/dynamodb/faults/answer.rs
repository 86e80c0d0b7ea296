//! Answers in the server's protocol that the server did not give.

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use http::StatusCode;
use serde_json::{Map, Value};

use super::fault::is_transaction;
use super::request::{Request, json};

pub(super) type Answer = Result<HttpResponse, ConnectorError>;

/// Returns the error that the client sees when a connection breaks.
pub(super) fn lost() -> ConnectorError {
    ConnectorError::io("the connection was lost, by an injected fault".into())
}

pub(super) fn internal_error() -> HttpResponse {
    error(StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError", Map::new())
}

pub(super) fn in_progress() -> HttpResponse {
    refusal("TransactionInProgressException")
}

/// Returns a throttling error. `turn` is the number of earlier throttling errors.
pub(super) fn throttled(request: &Request, turn: u64) -> HttpResponse {
    match (turn % 2, request.operation.as_str()) {
        (0, _) => refusal("ProvisionedThroughputExceededException"),
        (_, "TransactWriteItems") => cancelled(request, turn / 2, "ThrottlingError"),
        _ => refusal("ThrottlingException"),
    }
}

pub(super) fn conflict(request: &Request, turn: u64) -> HttpResponse {
    if is_transaction(&request.operation) {
        return cancelled(request, turn, "TransactionConflict");
    }
    refusal("TransactionConflictException")
}

/// Returns the cancellation of a transaction because of one item. `turn` selects the item, and `code` is the reason.
fn cancelled(request: &Request, turn: u64, code: &str) -> HttpResponse {
    let items = request.json()["TransactItems"].as_array().map_or(0, Vec::len) as u64;
    let reason = |item| match item == turn % items {
        true => Value::from_iter([("Code", code), ("Message", MESSAGE)]),
        false => Value::from_iter([("Code", "None")]),
    };
    let reasons = (0..items).map(reason).collect();
    let reasons = Map::from_iter([("CancellationReasons".to_owned(), Value::Array(reasons))]);
    error(StatusCode::BAD_REQUEST, "TransactionCanceledException", reasons)
}

/// Reasons for a cancellation other than a failed condition.
const OTHERS: [&str; 4] =
    ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded", "ItemCollectionSizeLimitExceeded"];

/// Replaces one reason of a cancellation by one of `OTHERS`. `turn` selects the reason and the replacement.
pub(super) fn mixed(answer: HttpResponse, turn: u64) -> HttpResponse {
    let mut body = answer.body().bytes().map(json).unwrap_or_default();
    let Some(reasons) = body.get_mut("CancellationReasons").and_then(Value::as_array_mut) else {
        return answer;
    };
    let places = reasons.len().max(1) as u64;
    let code = OTHERS[(turn / places) as usize % OTHERS.len()];
    if let Some(place) = reasons.get_mut((turn % places) as usize) {
        *place = Value::from_iter([("Code", code), ("Message", MESSAGE)]);
    }
    with_body(answer, body.to_string().into_bytes())
}

fn refusal(code: &str) -> HttpResponse {
    error(StatusCode::BAD_REQUEST, code, Map::new())
}

const MESSAGE: &str = "an injected fault";

fn error(status: StatusCode, code: &str, mut body: Map<String, Value>) -> HttpResponse {
    // DynamoDB itself uses both names for its messages.
    let message = if body.is_empty() { "message" } else { "Message" };
    body.insert(message.to_owned(), MESSAGE.into());
    body.insert("__type".to_owned(), format!("com.amazonaws.dynamodb.v20120810#{code}").into());
    let answer = HttpResponse::new(status.into(), SdkBody::empty());
    with_body(answer, Value::Object(body).to_string().into_bytes())
}

/// Reads the body of an answer into memory.
pub(super) async fn whole(mut answer: HttpResponse) -> Answer {
    let body = ByteStream::new(answer.take_body()).collect().await;
    let body = body.map_err(|error| ConnectorError::io(error.into()))?;
    *answer.body_mut() = SdkBody::from(body.into_bytes());
    Ok(answer)
}

/// Cuts the body of a successful answer in half.
pub(super) fn torn(answer: HttpResponse) -> HttpResponse {
    if !answer.status().is_success() {
        return answer;
    }
    let body = answer.body().bytes().unwrap_or_default();
    // An empty body would look complete to the driver.
    let half = body[..body.len().div_ceil(2)].to_vec();
    with_body(answer, half)
}

pub(super) fn with_body(mut answer: HttpResponse, body: Vec<u8>) -> HttpResponse {
    let headers = answer.headers_mut();
    headers.remove("x-amz-crc32");
    headers.insert("content-type", "application/x-amz-json-1.0");
    headers.insert("content-length", body.len().to_string());
    *answer.body_mut() = SdkBody::from(body);
    answer
}

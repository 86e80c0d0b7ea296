//! Tests with the driver, the faults, and a small server that answers every request in the same way.

use std::time::Duration;

use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region, retry::RetryConfig};
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::transact_write_items::builders::TransactWriteItemsFluentBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes, Put, PutRequest, TransactWriteItem, WriteRequest};
use aws_sdk_dynamodb::{Client, Config};
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_types::body::SdkBody;
use http::StatusCode;
use serde_json::{Value, json};

use super::*;

/// The requests that the server got, in the order of their arrival.
type Log = Arc<Mutex<Vec<(String, Value)>>>;

#[derive(Clone, Debug, Default)]
struct Server {
    log: Log,
}

impl HttpConnector for Server {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let operation = request.headers().get("x-amz-target").unwrap_or_default().to_owned();
        let body = request::json(request.body().bytes().unwrap());
        let length = request.headers().get("content-length").unwrap().parse::<usize>().unwrap();
        assert_eq!(length, request.body().bytes().unwrap().len());
        lock(&self.log).push((operation, body));
        let answer = SdkBody::from(json!({ "Attributes": {} }).to_string());
        HttpConnectorFuture::ready(Ok(HttpResponse::new(StatusCode::OK.into(), answer)))
    }
}

struct World {
    faults: Faults,
    client: Client,
    log: Log,
}

impl World {
    fn new() -> Self {
        let server = Server::default();
        let log = Arc::clone(&server.log);
        let inner = http_client_fn(move |_, _| SharedHttpConnector::new(server.clone()));
        let faults = Faults::new(inner);
        let config = Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("eu-west-1"))
            .credentials_provider(Credentials::new("key", "secret", None, None, "test"))
            .retry_config(RetryConfig::disabled())
            .http_client(faults.clone());
        Self { client: Client::from_conf(config.build()), faults, log }
    }

    /// Puts an item. Returns the error code of a refusal, or a dash for another failure.
    async fn put(&self, id: &str) -> Result<(), String> {
        let put = self.client.put_item().table_name("namespaces").item("id", text(id)).send().await;
        put.map(drop).map_err(|error| error.code().unwrap_or("-").to_owned())
    }

    fn transaction(&self, items: usize) -> TransactWriteItemsFluentBuilder {
        let put = Put::builder().table_name("namespaces").item("id", text("a")).build().unwrap();
        let items = vec![TransactWriteItem::builder().put(put).build(); items];
        self.client.transact_write_items().set_transact_items(Some(items))
    }

    /// Writes a transaction of this many items. Returns the codes of the reasons for its cancellation, or the code of
    /// another error.
    async fn reasons(&self, items: usize) -> Vec<String> {
        let error = self.transaction(items).send().await.unwrap_err().into_service_error();
        match &error {
            TransactWriteItemsError::TransactionCanceledException(cancelled) => {
                cancelled.cancellation_reasons().iter().map(|it| it.code().unwrap().to_owned()).collect()
            }
            error => vec![error.code().unwrap().to_owned()],
        }
    }

    /// Returns the number of requests that are still to be sent to the server.
    fn waiting(&self) -> usize {
        lock(&self.faults.state.late).parked.len()
    }

    /// Returns the ids of the items that were put, in the order of their arrival.
    fn ids(&self) -> Vec<String> {
        let log = lock(&self.log);
        log.iter().map(|(_, body)| body["Item"]["id"]["S"].as_str().unwrap().to_owned()).collect()
    }
}

fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

#[tokio::test]
async fn each_fault_has_its_documented_answer_and_effect() {
    let world = World::new();
    let cases = [
        (Fault::ErrorBefore, Err("InternalServerError"), 0),
        (Fault::ErrorAfter, Err("InternalServerError"), 1),
        (Fault::DropBefore, Err("-"), 0),
        (Fault::DropAfter, Err("-"), 1),
        (Fault::Torn, Err("-"), 1),
        (Fault::Throttle, Err("ProvisionedThroughputExceededException"), 0),
        (Fault::Throttle, Err("ThrottlingException"), 0),
        (Fault::Conflict, Err("TransactionConflictException"), 0),
        (Fault::Mixed, Ok(()), 1),
        (Fault::InProgress, Ok(()), 1),
        (Fault::Unprocessed, Ok(()), 1),
        (Fault::Delay(Duration::from_millis(1)), Ok(()), 1),
    ];
    for (fault, answer, sent) in cases {
        let before = lock(&world.log).len();
        world.faults.script([fault]);
        assert_eq!(world.put("a").await, answer.map_err(str::to_owned), "{fault:?}");
        assert_eq!(lock(&world.log).len() - before, sent, "{fault:?}");
    }
    assert_eq!(world.faults.total(), 9, "those that fit a single write: {:?}", world.faults);
    assert_eq!(world.faults.injected()["Throttle"], 2);
    assert_eq!(world.faults.requests()["PutItem"], 7);
    world.faults.reset();
    assert_eq!((world.faults.total(), world.faults.requests().len()), (0, 0));
}

#[tokio::test]
async fn a_lost_connection_and_a_torn_reply_are_not_refusals() {
    let world = World::new();
    let put = || world.client.put_item().table_name("namespaces").item("id", text("a")).send();
    world.faults.script([Fault::DropAfter, Fault::Torn]);
    assert!(matches!(put().await, Err(SdkError::DispatchFailure(failure)) if failure.is_io()));
    // The driver treats a torn reply as an answer of the service without a code.
    let torn = put().await.unwrap_err();
    assert!(torn.raw_response().is_some_and(|answer| answer.status().is_success()), "{torn:?}");
}

#[tokio::test]
async fn cancellation_reasons_are_in_the_order_of_the_items() {
    let world = World::new();
    world.faults.script([Fault::Conflict; 3]);
    assert_eq!(world.reasons(3).await, ["TransactionConflict", "None", "None"]);
    assert_eq!(world.reasons(2).await, ["None", "TransactionConflict"]);
    assert_eq!(world.reasons(1).await, ["TransactionConflict"]);
    world.faults.script([Fault::Throttle, Fault::Throttle, Fault::InProgress]);
    assert_eq!(world.reasons(2).await, ["ProvisionedThroughputExceededException"]);
    assert_eq!(world.reasons(2).await, ["ThrottlingError", "None"]);
    assert_eq!(world.reasons(2).await, ["TransactionInProgressException"]);
    assert!(lock(&world.log).is_empty());
}

#[test]
fn mixed_fault_uses_every_reason_for_every_item() {
    let refused = json!({ "Code": "ConditionalCheckFailed", "Item": {} });
    let body = json!({ "CancellationReasons": [refused, refused] }).to_string();
    let answer = || HttpResponse::new(StatusCode::BAD_REQUEST.into(), SdkBody::from(body.clone()));
    let codes = |turn| {
        let mixed = answer::mixed(answer(), turn);
        let body = request::json(mixed.body().bytes().unwrap());
        [0, 1].map(|place| body["CancellationReasons"][place]["Code"].as_str().unwrap().to_owned())
    };
    let seen: std::collections::BTreeSet<_> = (0..8).map(codes).collect();
    let condition = |code: &&String| code.as_str() == "ConditionalCheckFailed";
    assert_eq!(seen.len(), 8, "{seen:?}");
    assert!(seen.iter().all(|pair| pair.iter().filter(condition).count() == 1), "{seen:?}");
    assert_eq!(codes(8), codes(0));
}

#[tokio::test]
async fn late_requests_follow_later_requests_or_a_call_of_land() {
    let world = World::new();
    world.faults.script([Fault::Late, Fault::Late, Fault::Late]);
    for id in ["a", "b", "c"] {
        assert!(world.put(id).await.is_err());
    }
    // The first request waits for one more request, the second for two, and the third for three.
    assert_eq!(world.waiting(), 2);
    assert_eq!(world.ids(), ["a"]);
    world.put("d").await.unwrap();
    assert_eq!(world.ids(), ["a", "d", "b"]);
    world.faults.land().await;
    assert_eq!(world.ids(), ["a", "d", "b", "c"]);
    assert_eq!(world.waiting(), 0);
}

#[tokio::test]
async fn a_request_sent_twice_is_answered_once() {
    let world = World::new();
    world.faults.script([Fault::Twice]);
    world.put("a").await.unwrap();
    assert_eq!(world.ids(), ["a", "a"]);
    world.put("b").await.unwrap();
    assert_eq!(world.ids(), ["a", "a", "b"]);
    assert_eq!(world.faults.requests()["PutItem"], 3);
}

#[tokio::test]
async fn a_scripted_fault_waits_for_its_operation() {
    let world = World::new();
    world.faults.script_for("TransactWriteItems", [Fault::ErrorBefore]);
    world.put("a").await.unwrap();
    assert!(world.transaction(1).send().await.is_err());
    world.faults.script([Fault::ErrorBefore]);
    world.faults.heal();
    world.put("b").await.unwrap();
}

#[tokio::test]
async fn random_faults_depend_on_the_seed_and_the_percentage() {
    let run = async |seed| {
        let world = World::new();
        world.faults.random(seed, 25, &[Fault::DropBefore, Fault::ErrorBefore]);
        let mut outcomes = vec![];
        for _ in 0..200 {
            outcomes.push(world.put("a").await.is_ok());
        }
        (outcomes, world.faults.injected())
    };
    let (outcomes, injected) = run(7).await;
    assert_eq!(run(7).await.0, outcomes);
    assert_ne!(run(8).await.0, outcomes);
    assert!(injected.len() == 2 && (25..75).contains(&injected.values().sum::<u64>()), "{injected:?}");
}

#[tokio::test]
async fn half_of_a_batch_of_writes_is_returned_unprocessed() {
    let world = World::new();
    let write = |id: &str| {
        let put = PutRequest::builder().item("id", text(id)).build().unwrap();
        WriteRequest::builder().put_request(put).build()
    };
    let batch = |table, ids: &[&str]| (String::from(table), ids.iter().map(|id| write(id)).collect::<Vec<_>>());
    let writes = [batch("a", &["1", "2"]), batch("b", &["3", "4", "5"])].into();
    world.faults.script([Fault::Unprocessed]);
    let answer = world.client.batch_write_item().set_request_items(Some(writes)).send().await.unwrap();
    let left = answer.unprocessed_items().unwrap();
    assert_eq!(left, &[batch("b", &["3", "4", "5"])].into());
    let sent = &lock(&world.log)[0].1["RequestItems"];
    assert_eq!((sent["a"].as_array().unwrap().len(), sent.get("b")), (2, None));
}

#[tokio::test]
async fn half_of_a_batch_of_reads_is_returned_unprocessed() {
    let world = World::new();
    let keys = |ids: &[&str]| {
        let keys = ids.iter().map(|id| [("id".to_owned(), text(id))].into()).collect();
        KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(true).build().unwrap()
    };
    let read = || world.client.batch_get_item();
    world.faults.script([Fault::Unprocessed, Fault::Unprocessed]);
    let answer = read().request_items("a", keys(&["1", "2", "3"])).send().await.unwrap();
    assert_eq!(answer.unprocessed_keys().unwrap()["a"], keys(&["2", "3"]));
    let answer = read().request_items("a", keys(&["1"])).send().await.unwrap();
    assert!(answer.unprocessed_keys().is_none(), "one key alone is refused, or read");
    assert_eq!(world.faults.total(), 1);
}

#[tokio::test]
async fn a_record_holds_what_the_server_received_and_answered() {
    let world = World::new();
    world.put("before").await.unwrap();
    world.faults.record(true);
    world.faults.script([Fault::DropAfter, Fault::DropBefore]);
    assert!(world.put("a").await.is_err() && world.put("b").await.is_err());
    let taken = world.faults.taken();
    assert_eq!(taken.len(), 1);
    assert_eq!((taken[0].operation.as_str(), taken[0].status), ("PutItem", Some(200)));
    assert_eq!(taken[0].request["TableName"], "namespaces");
    assert_eq!(taken[0].response, Some(json!({ "Attributes": {} })));
    assert!(world.faults.taken().is_empty());
}

#[tokio::test]
async fn a_parked_request_is_sent_only_when_land_is_called() {
    let world = World::new();
    world.faults.script([Fault::Parked]);
    assert!(world.put("a").await.is_err());
    for id in ["b", "c", "d", "e"] {
        world.put(id).await.unwrap();
    }
    assert_eq!(world.ids(), ["b", "c", "d", "e"]);
    assert_eq!(world.waiting(), 1);
    world.faults.land().await;
    assert_eq!(world.ids(), ["b", "c", "d", "e", "a"]);
    assert_eq!(world.waiting(), 0);
}

#[test]
fn unprocessed_items_are_merged_with_the_unsent_half() {
    let rest = json!({ "a": [3], "b": { "Keys": [4] } }).as_object().unwrap().clone();
    let merged = |there: Value| batch::merged(there, rest.clone());
    assert_eq!(merged(json!({ "a": [1] })), json!({ "a": [1, 3], "b": { "Keys": [4] } }));
    let there = json!({ "b": { "Keys": [2] }, "c": [5] });
    assert_eq!(merged(there), json!({ "a": [3], "b": { "Keys": [2, 4] }, "c": [5] }));
    assert_eq!(merged(Value::Null), Value::Object(rest.clone()));
}

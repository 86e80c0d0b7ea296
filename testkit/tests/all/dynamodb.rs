//! Tests of our own DynamoDB server: it answers, it can be killed, and it keeps its data.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use storagebox_testkit::Failure;
use storagebox_testkit::dynamodb::{Data, Dynamo};

use crate::http::ask;
use crate::patience::wait_until;

const TABLE: &str = r#"{"TableName":"kept","BillingMode":"PAY_PER_REQUEST",
    "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"N"}],
    "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}"#;

fn put(server: SocketAddr, id: u32) -> bool {
    let item = format!(r#"{{"TableName":"kept","Item":{{"id":{{"N":"{id}"}}}}}}"#);
    ask(server, "PutItem", &item).is_ok()
}

fn has(server: SocketAddr, id: u32) -> bool {
    let key = format!(r#"{{"TableName":"kept","Key":{{"id":{{"N":"{id}"}}}},"ConsistentRead":true}}"#);
    ask(server, "GetItem", &key).unwrap().contains(&format!("\"{id}\""))
}

#[test]
fn acknowledged_writes_survive_a_kill_and_a_stop() {
    let server = Dynamo::start(Data::InFile).unwrap();
    let address = server.address();
    ask(address, "CreateTable", TABLE).unwrap();
    assert!(put(address, 0));
    server.stop().unwrap();
    server.start_again().unwrap();
    let written = AtomicU32::new(0);
    thread::scope(|scope| {
        // The thread writes until the server is killed.
        scope.spawn(|| (1..).take_while(|id| put(address, *id)).for_each(|id| written.store(id, Ordering::Relaxed)));
        wait_until(|| written.load(Ordering::Relaxed) >= 100);
        server.kill().unwrap();
    });
    assert!(ask(address, "ListTables", "{}").is_err(), "a killed server does not answer");
    server.start_again().unwrap();
    assert!((0..=written.into_inner()).all(|id| has(address, id)));
}

#[test]
fn data_in_memory_is_lost_with_the_server() {
    let server = Dynamo::start(Data::InMemory).unwrap();
    ask(server.address(), "CreateTable", TABLE).unwrap();
    server.kill().unwrap();
    server.start_again().unwrap();
    assert_eq!(ask(server.address(), "ListTables", "{}").unwrap(), r#"{"TableNames":[]}"#);
}

#[test]
fn calls_in_the_wrong_state_and_a_taken_port_fail() {
    let server = Dynamo::start(Data::InMemory).unwrap();
    assert!(matches!(server.start_again(), Err(Failure::WrongState { .. })));
    server.stop().unwrap();
    assert!(matches!(server.stop(), Err(Failure::WrongState { .. })));
    assert!(matches!(server.kill(), Err(Failure::WrongState { .. })));
    let _listener = TcpListener::bind(server.address()).unwrap();
    let failure = server.start_again().unwrap_err().to_string();
    assert!(failure.contains("does not start") && failure.contains("already in use"), "{failure}");
}

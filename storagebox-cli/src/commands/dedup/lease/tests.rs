//! Each command on a store: answers and exit codes.

use std::time::Duration;

use clap::Parser;
use serde_json::{Value, json};

use super::*;
use crate::cli::{Cli, Command, Dedup};
use crate::commands::asked::facts;
use crate::commands::faulty::memory;

async fn answer(store: &Store, args: &[&str]) -> (Exit, Value) {
    let command = match Cli::parse_from([&["storagebox", "dedup", args[0], "records"], &args[1..]].concat()).command {
        Command::Dedup(Dedup::Lease(command)) => command,
        other => panic!("{other:?}"),
    };
    let (exit, mut answer) = facts(command, store, [("namespace", "records"), ("id", "order-7")]).await;
    answer.as_object_mut().unwrap().remove("version");
    (exit, answer)
}

async fn begin(store: &Store, op: &str) -> (Exit, Value) {
    answer(store, &["begin", "order-7", "--op", op, "--for", "1m"]).await
}

/// Begins a lease, and returns its fence.
async fn begun(store: &Store, op: &str) -> String {
    let (exit, answer) = begin(store, op).await;
    assert_eq!((exit, &answer["outcome"]), (Exit::Done, &json!("started")), "{answer}");
    answer["fence"].to_string()
}

fn told(outcome: &str) -> Value {
    json!({ "outcome": outcome })
}

#[tokio::test]
async fn a_completed_result_is_shown_to_other_operations() {
    let store = memory();
    let fence = begun(&store, "ada").await;
    assert_eq!(begun(&store, "ada").await, fence);
    let (exit, in_flight) = begin(&store, "bob").await;
    assert_eq!((exit, &in_flight["outcome"]), (Exit::Nothing, &json!("in_flight")));
    let held = ["order-7", "--op", "ada", "--fence", fence.as_str()];
    let extended = answer(&store, &[&["extend"], &held[..], &["--for", "2m"]].concat()).await;
    assert_eq!(extended, (Exit::Done, told("extended")));
    let complete = [&["complete"], &held[..], &["paid"]].concat();
    let with_value = |outcome: &str| json!({ "outcome": outcome, "value": "paid" });
    assert_eq!(answer(&store, &complete).await, (Exit::Done, with_value("completed")));
    assert_eq!(answer(&store, &complete).await, (Exit::Done, with_value("again")));
    assert_eq!(begin(&store, "bob").await, (Exit::Done, with_value("done")));
}

#[tokio::test]
async fn an_aborted_lease_goes_to_another_operation() {
    let store = memory();
    let fence = begun(&store, "ada").await;
    let held = ["order-7", "--op", "ada", "--fence", fence.as_str()];
    let abort = [&["abort"], &held[..]].concat();
    for _ in 0..2 {
        assert_eq!(answer(&store, &abort).await, (Exit::Done, told("aborted")));
    }
    assert_eq!(begin(&store, "ada").await, (Exit::Nothing, told("fenced")));
    begun(&store, "bob").await;
    let complete = [&["complete"], &held[..], &["paid"]].concat();
    assert_eq!(answer(&store, &complete).await, (Exit::Nothing, told("fenced")));
}

#[tokio::test(start_paused = true)]
async fn an_expired_lease_goes_to_another_operation() {
    let store = memory();
    let fence = begun(&store, "ada").await;
    tokio::time::advance(Duration::from_secs(60)).await;
    begun(&store, "bob").await;
    let extend = ["extend", "order-7", "--op", "ada", "--fence", fence.as_str()];
    assert_eq!(answer(&store, &extend).await, (Exit::Nothing, told("fenced")));
}

#[tokio::test]
async fn begin_returns_mismatch_for_another_fingerprint() {
    let store = memory();
    let begin = async |op: &str, request: &str| {
        answer(&store, &["begin", "order-7", "--op", op, "--fingerprint", request]).await
    };
    assert_eq!(begin("ada", "a").await.1["outcome"], "started");
    assert_eq!(begin("bob", "b").await, (Exit::Nothing, told("mismatch")));
}

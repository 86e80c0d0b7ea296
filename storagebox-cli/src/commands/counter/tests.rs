//! Each command on a store: answers and exit codes.

use std::time::Duration;

use clap::Parser;
use serde_json::{Value, json};
use storagebox::layer::{Call, Layer, Next, Response};
use storagebox::time::{Timer, TokioTimer};
use storagebox::{Error, async_trait};

use super::*;
use crate::cli::{Cli, Command};
use crate::commands::asked::{ask, facts, text};
use crate::commands::faulty::memory;

fn command(args: &[&str]) -> Counter {
    match Cli::parse_from([&["storagebox", "counter", args[0], "counters"], &args[1..]].concat()).command {
        Command::Counter(command) => command,
        other => panic!("{other:?}"),
    }
}

async fn lines(store: &Store, args: &[&str], as_json: bool) -> (Exit, String) {
    text(command(args), store, as_json).await
}

async fn answer(store: &Store, args: &[&str]) -> (Exit, Value) {
    facts(command(args), store, [("namespace", "counters"), ("key", "shoes")]).await
}

fn told(op: &str, outcome: &str) -> Value {
    json!({ "op": op, "outcome": outcome })
}

fn value(op: &str, outcome: &str, value: i64) -> Value {
    json!({ "op": op, "outcome": outcome, "value": value })
}

#[tokio::test]
async fn a_repeated_operation_counts_once() {
    let store = memory();
    let add = async |delta: &str, op: &str| answer(&store, &["add", "shoes", delta, "--op", op]).await;
    assert_eq!(add("5", "delivery").await, (Exit::Done, value("delivery", "applied", 5)));
    assert_eq!(add("5", "delivery").await, (Exit::Done, value("delivery", "already_applied", 5)));
    assert_eq!(add("6", "delivery").await, (Exit::Nothing, told("delivery", "mismatch")));
    assert_eq!(add("-7", "theft").await, (Exit::Done, value("theft", "applied", -2)));
    assert_eq!(answer(&store, &["get", "shoes"]).await, (Exit::Done, json!({ "value": -2 })));
}

/// A layer that delays the reply to every change, and then loses the reply.
#[derive(Debug)]
struct LosesLate(Duration);

#[async_trait]
impl Layer for LosesLate {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> storagebox::Result<Response> {
        let answered = next.run().await?;
        if call.operation() == "apply" {
            TokioTimer.sleep(self.0).await;
            return Err(Error::unknown("the reply was lost, as the test asked"));
        }
        Ok(answered)
    }
}

/// A retry after the window would count the change twice, because the store has forgotten the first attempt.
#[tokio::test(start_paused = true)]
async fn a_change_is_not_retried_after_its_window() {
    let store = memory();
    let losing = store.clone().layer(LosesLate(Duration::from_secs(4)));
    let window = ["--strategy", "window:10s:100"];
    let add = [&["add", "shoes", "1", "--op", "order"], &window[..]].concat();
    let failure = ask(command(&add), &losing, true, &mut vec![]).await.unwrap_err();
    assert_eq!(failure.exit(), Exit::StoreFailed, "{failure}");
    let value = answer(&store, &[&["get", "shoes"], &window[..]].concat()).await;
    assert_eq!(value, (Exit::Done, json!({ "value": 1 })));
}

#[tokio::test]
async fn an_addition_out_of_bounds_is_refused_and_not_remembered() {
    let store = memory();
    let sell = ["add", "shoes", "-1", "--op", "order", "--min", "0"];
    assert_eq!(answer(&store, &sell).await, (Exit::Nothing, told("order", "out_of_bounds")));
    answer(&store, &["add", "shoes", "1", "--op", "delivery", "--max", "1"]).await;
    assert_eq!(answer(&store, &sell).await, (Exit::Done, value("order", "applied", 0)));
    let much = ["add", "shoes", "-9223372036854775808", "--op", "a"];
    answer(&store, &much).await;
    let more = answer(&store, &["add", "shoes", "-1", "--op", "b"]).await;
    assert_eq!(more, (Exit::Nothing, told("b", "overflow")));
}

#[tokio::test]
async fn min_above_max_or_a_changed_strategy_is_bad_input() {
    let store = memory();
    answer(&store, &["add", "shoes", "1", "--op", "a"]).await;
    for args in [
        &["add", "shoes", "1", "--op", "b", "--min", "2", "--max", "1"][..],
        &["get", "shoes", "--strategy", "atomic"],
        &["log", "shoes"],
    ] {
        let failure = ask(command(args), &store, true, &mut vec![]).await.unwrap_err();
        assert_eq!(failure.exit(), Exit::BadInput, "{args:?}: {failure}");
    }
}

/// Removes the time, which is the fifth of six cells.
fn without_the_time(row: &str) -> String {
    let cells: Vec<_> = row.splitn(6, ',').collect();
    [&cells[..4], &cells[5..]].concat().join(",")
}

/// The command line refuses a reason that is too long. A strategy without a log refuses every reason.
#[tokio::test]
async fn an_invalid_or_unsupported_reason_is_bad_input() {
    let of = |reason: &str| {
        Cli::try_parse_from(["storagebox", "counter", "add", "counters", "k", "1", "--op", "a", "--reason", reason])
    };
    assert!(of("").is_err() && of(&"x".repeat(513)).is_err() && of("a\0b").is_err() && of("why").is_ok());
    let args = ["add", "shoes", "1", "--op", "a", "--reason", "why"];
    let failure = ask(command(&args), &memory(), true, &mut vec![]).await.unwrap_err();
    assert_eq!(failure.exit(), Exit::BadInput);
    assert!(failure.to_string().contains("Ledger"), "{failure}");
}

#[tokio::test]
async fn a_ledger_lists_its_operations_and_merges_them() {
    let store = memory();
    let add = async |more: &[&str]| answer(&store, &[&["add", "shoes", "--strategy", "ledger"], more].concat()).await;
    add(&["30", "--op", "deposit"]).await;
    add(&["-5", "--op", "withdrawal", "--reason", "rent, late"]).await;
    let again = add(&["-5", "--op", "withdrawal", "--reason", "another"]).await;
    assert_eq!(again, (Exit::Done, told("withdrawal", "already_applied")));
    let (_, csv) = lines(&store, &["log", "shoes"], false).await;
    let rows: Vec<_> = csv.lines().map(without_the_time).collect();
    let expected = ["entry,op,delta,changes,reason", "change,deposit,30,1,", "change,withdrawal,-5,1,\"rent, late\""];
    assert_eq!(rows, expected);
    let compacted = answer(&store, &["compact", "shoes", "--older-than", "0s"]).await;
    assert_eq!(compacted, (Exit::Done, json!({ "merged": 2 })));
    let (_, json) = lines(&store, &["log", "shoes"], true).await;
    let mut sum: Value = serde_json::from_str(&json).unwrap();
    assert!(sum.as_object_mut().unwrap().remove("at_ms").unwrap().is_i64());
    assert_eq!(sum, json!({ "entry": "sum", "op": null, "delta": 25, "changes": 2, "reason": null }));
    let (_, got) = answer(&store, &["get", "shoes", "--strategy", "ledger"]).await;
    assert_eq!(got, json!({ "value": 25 }));
}

#[tokio::test]
async fn a_cancelled_operation_never_counts() {
    let store = memory();
    let cancel = async |op: &str| answer(&store, &["cancel", "shoes", "--op", op]).await;
    for _ in 0..2 {
        assert_eq!(cancel("order-7").await, (Exit::Done, told("order-7", "cancelled")));
    }
    let late = answer(&store, &["add", "shoes", "-1", "--op", "order-7"]).await;
    assert_eq!(late, (Exit::Nothing, told("order-7", "fenced")));
    answer(&store, &["add", "shoes", "5", "--op", "delivery"]).await;
    assert_eq!(cancel("delivery").await, (Exit::Nothing, value("delivery", "already_applied", 5)));
}

#[tokio::test]
async fn promise_shows_what_a_strategy_promises() {
    let promise = async |strategy: &str| {
        let (exit, text) = lines(&memory(), &["promise", "--strategy", strategy], true).await;
        assert_eq!(exit, Exit::Done);
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let marker = promise("marker:7d").await;
    assert_eq!([&marker["remembers"], &marker["recognises_repeats"]], [&json!("7days"), &json!(true)]);
    let atomic = promise("atomic").await;
    assert_eq!([&atomic["remembers"], &atomic["recognises_repeats"]], [&json!("nothing"), &json!(false)]);
    assert_eq!(promise("window:1h:100").await["capacity"], 100);
}

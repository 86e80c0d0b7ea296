//! Each command on a store: answers and exit codes.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use futures_util::FutureExt;
use serde_json::{Value, json};
use storagebox::layer::{Call, Layer, Next, Response};
use storagebox_testkit::Folder;

use super::*;
use crate::cli::{Cli, Command};
use crate::commands::asked::{ask, bytes, facts};
use crate::commands::faulty::{After, failing, memory};
use crate::doubt::Changes;

fn command(args: &[&str]) -> Records {
    match Cli::parse_from([&["storagebox", "dedup", args[0], "records"], &args[1..]].concat()).command {
        Command::Dedup(cli::Dedup::Records(command)) => command,
        other => panic!("{other:?}"),
    }
}

async fn lines(store: &Store, args: &[&str], as_json: bool) -> (Exit, Vec<u8>) {
    bytes(command(args), store, as_json).await
}

/// Runs a command. Returns its exit code, and its answer without the namespace and the version.
async fn answer(store: &Store, args: &[&str]) -> (Exit, Value) {
    let (exit, mut answer) = facts(command(args), store, [("namespace", "records")]).await;
    answer.as_object_mut().unwrap().remove("version");
    (exit, answer)
}

fn told(outcome: &str, value: &str) -> Value {
    json!({ "id": "order-7", "outcome": outcome, "value": value })
}

#[tokio::test]
async fn the_first_recorded_value_wins() {
    let store = memory();
    let record = async |value: &str, op: &str| answer(&store, &["record", "order-7", value, "--op", op]).await;
    assert_eq!(record("paid", "ada").await, (Exit::Done, told("new", "paid")));
    assert_eq!(record("paid", "ada").await, (Exit::Done, told("again", "paid")));
    assert_eq!(record("refused", "bob").await, (Exit::Nothing, told("existing", "paid")));
    assert_eq!(answer(&store, &["get", "order-7"]).await, (Exit::Done, told("recorded", "paid")));
    let absent = json!({ "id": "order-8", "outcome": "absent" });
    assert_eq!(answer(&store, &["get", "order-8"]).await, (Exit::Nothing, absent));
}

#[tokio::test(start_paused = true)]
async fn a_record_is_kept_for_the_requested_time() {
    let store = memory();
    answer(&store, &["record", "order-7", "paid", "--op", "ada", "--keep", "2h"]).await;
    tokio::time::advance(Duration::from_secs(2 * 3600)).await;
    assert_eq!(answer(&store, &["get", "order-7"]).await.0, Exit::Nothing);
    let late = answer(&store, &["record", "order-7", "paid", "--op", "ada"]).await;
    assert_eq!(late, (Exit::Nothing, json!({ "id": "order-7", "outcome": "fenced" })));
}

#[tokio::test]
async fn a_record_is_forgotten_only_in_the_given_version() {
    let store = memory();
    answer(&store, &["record", "order-7", "paid", "--op", "ada"]).await;
    let told = |outcome: &str| json!({ "id": "order-7", "outcome": outcome });
    let stale = answer(&store, &["forget", "order-7", "--version", "99"]).await;
    assert_eq!(stale, (Exit::Nothing, told("stale")));
    assert_eq!(answer(&store, &["forget", "order-7"]).await, (Exit::Done, told("forgotten")));
    assert_eq!(answer(&store, &["forget", "order-7"]).await, (Exit::Nothing, told("absent")));
}

/// Returns the store, which deletes the records that it is asked to, and loses each reply to that.
fn forgets_in_doubt(store: &Store) -> Store {
    store.clone().layer(After(|call: &Call<'_>, answer| match call.operation() {
        "forget" => Err(storagebox::Error::unknown("the reply was lost")),
        _ => Ok(answer),
    }))
}

/// A layer that makes every call, and never answers a `forget`.
#[derive(Debug)]
struct Hangs;

#[async_trait]
impl Layer for Hangs {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> storagebox::Result<Response> {
        let answered = next.run().await?;
        if call.operation() == "forget" {
            pending::<()>().await;
        }
        Ok(answered)
    }
}

#[tokio::test(start_paused = true)]
async fn a_forget_in_doubt_that_is_repeated_as_advised_deletes_no_newer_record() {
    let store = memory();
    answer(&store, &["record", "order-7", "paid", "--op", "ada"]).await;
    let changes = Arc::new(Changes::default());
    let doubted = forgets_in_doubt(&store).layer(Arc::clone(&changes));
    let failure = ask(command(&["forget", "order-7"]), &doubted, true, &mut vec![]).await.unwrap_err();
    let failure = failure.after(changes.end());
    assert_eq!(failure.exit(), Exit::StoreFailed);
    repeated_as_advised(&store, &failure).await;
}

#[tokio::test]
async fn an_interrupted_forget_that_is_repeated_as_advised_deletes_no_newer_record() {
    let store = memory();
    answer(&store, &["record", "order-7", "paid", "--op", "ada"]).await;
    let changes = Arc::new(Changes::default());
    let hanging = store.clone().layer(Hangs).layer(Arc::clone(&changes));
    assert!(ask(command(&["forget", "order-7"]), &hanging, true, &mut vec![]).now_or_never().is_none());
    repeated_as_advised(&store, &Failure::Interrupted(None).after(changes.end())).await;
}

/// Records a newer value, and then forgets the id as the help of the failure says.
async fn repeated_as_advised(store: &Store, failure: &Failure) {
    let help = failure.help();
    let (_, advised) = help.split_once("--version ").unwrap_or_else(|| panic!("{help}"));
    let version: String = advised.chars().take_while(char::is_ascii_digit).collect();

    answer(store, &["record", "order-7", "sent", "--op", "bob"]).await;
    let forgotten = answer(store, &["forget", "order-7", "--version", &version]).await;
    assert_eq!(forgotten, (Exit::Nothing, json!({ "id": "order-7", "outcome": "stale" })));
    assert_eq!(answer(store, &["get", "order-7"]).await, (Exit::Done, told("recorded", "sent")));
}

#[tokio::test]
async fn recording_during_a_lease_returns_in_flight() {
    let store = memory();
    let dedup = store.dedup("records").unwrap();
    let _ = dedup.begin("order-7").lease(Duration::from_secs(60)).by("runner").await.unwrap();
    let (exit, mut told) = answer(&store, &["record", "order-7", "paid", "--op", "ada"]).await;
    assert!((1..=60_000).contains(&told["remaining_ms"].as_u64().unwrap()), "{told}");
    told.as_object_mut().unwrap().remove("remaining_ms");
    assert_eq!((exit, told), (Exit::Nothing, json!({ "id": "order-7", "outcome": "in_flight" })));
}

#[tokio::test]
async fn bytes_from_a_file_are_written_back_unchanged() {
    let (store, folder) = (memory(), Folder::new("cli-test").unwrap());
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    let bytes = b"\xFF\x00\r\n,\"";
    std::fs::write(&input, bytes).unwrap();
    let (input, output) = (input.to_str().unwrap(), output.to_str().unwrap());
    let (_, recorded) = answer(&store, &["record", "order-7", "--op", "ada", "--file", input]).await;
    assert_eq!(recorded["value_base64"], "/wANCiwi");
    assert_eq!(lines(&store, &["get", "order-7", "--out", "-"], false).await, (Exit::Done, bytes.to_vec()));
    assert_eq!(lines(&store, &["get", "order-7", "--out", output], true).await, (Exit::Done, vec![]));
    assert_eq!(std::fs::read(output).unwrap(), bytes);
    let (exit, shown) = lines(&store, &["get", "none", "--out", output, "--force"], true).await;
    assert_eq!((exit, shown), (Exit::Nothing, vec![]));
    assert_eq!(std::fs::read(output).unwrap(), bytes);
}

#[tokio::test]
async fn a_too_long_value_is_refused_before_any_call() {
    let folder = Folder::new("cli-test").unwrap();
    let file = folder.path().join("long");
    std::fs::write(&file, vec![b'a'; 256 * 1024 + 1]).unwrap();
    let store = failing(storagebox::ErrorKind::Unavailable, usize::MAX);
    let record = ["record", "order-7", "--op", "ada", "--file", file.to_str().unwrap()];
    let failure = ask(command(&record), &store, false, &mut vec![]).await.unwrap_err();
    assert!(failure.to_string().contains("more than 262144 bytes"), "{failure}");
    assert_eq!(failure.exit(), Exit::BadInput);
}

#[tokio::test]
async fn records_are_listed_as_csv_and_as_json() {
    let store = memory();
    for id in ["a,b", "c"] {
        answer(&store, &["record", id, "paid\n", "--op", "ada", "--keep", "forever"]).await;
    }
    let (_, csv) = lines(&store, &["list"], false).await;
    let mut rows = csv::Reader::from_reader(&csv[..]);
    assert_eq!(rows.headers().unwrap(), vec!["id", "version", "value"]);
    let mut rows: Vec<_> = rows.records().map(Result::unwrap).map(|row| row[0].to_owned() + &row[2]).collect();
    rows.sort();
    assert_eq!(rows, ["a,bpaid\n", "cpaid\n"]);
    let (_, json) = lines(&store, &["list", "--limit", "1"], true).await;
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert!(json["version"].is_u64() && json["value"] == "paid\n", "{json}");
    assert_eq!(lines(&store, &["list", "--limit", "0"], true).await.1, b"");
}

#[tokio::test]
async fn a_record_is_replaced_only_in_the_given_version() {
    let store = memory();
    let (_, text) = lines(&store, &["record", "order-7", "paid", "--op", "ada"], true).await;
    let version = serde_json::from_slice::<Value>(&text).unwrap()["version"].to_string();
    let replace = async |value: &str, op: &str| {
        answer(&store, &["replace", "order-7", value, "--version", &version, "--op", op]).await
    };
    let told = |outcome: &str| json!({ "id": "order-7", "outcome": outcome });
    assert_eq!(replace("sent", "bob").await, (Exit::Done, told("replaced")));
    assert_eq!(replace("sent", "bob").await, (Exit::Done, told("again")));
    let stale = json!({ "id": "order-7", "outcome": "stale", "value": "sent" });
    assert_eq!(replace("lost", "eve").await, (Exit::Nothing, stale));
    answer(&store, &["forget", "order-7"]).await;
    assert_eq!(replace("lost", "eve").await, (Exit::Nothing, told("absent")));
}

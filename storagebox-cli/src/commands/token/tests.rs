//! Each command on a store: answers and exit codes.

use clap::Parser;
use serde_json::{Value, json};
use storagebox_testkit::Folder;

use super::*;
use crate::cli::{Cli, Command};
use crate::commands::asked::facts;
use crate::commands::faulty::memory;

async fn answer(store: &Store, args: &[&str]) -> (Exit, Value) {
    let command = match Cli::parse_from([&["storagebox", "token", args[0], "tokens"], &args[1..]].concat()).command {
        Command::Token(command) => command,
        other => panic!("{other:?}"),
    };
    facts(command, store, [("namespace", "tokens")]).await
}

fn told(outcome: &str) -> Value {
    json!({ "token": "m-7", "outcome": outcome })
}

fn made(created: u64, already_live: u64, gone: u64, rejected_lines: u64) -> Value {
    json!({
        "created": created, "already_live": already_live, "gone": gone, "rejected_lines": rejected_lines,
    })
}

#[tokio::test]
async fn a_token_is_consumed_once() {
    let store = memory();
    assert_eq!(answer(&store, &["exists", "m-7"]).await, (Exit::Nothing, told("absent")));
    assert_eq!(answer(&store, &["create", "m-7", "m-8"]).await, (Exit::Done, made(2, 0, 0, 0)));
    assert_eq!(answer(&store, &["create", "m-7"]).await, (Exit::Done, made(0, 1, 0, 0)));
    assert_eq!(answer(&store, &["exists", "m-7"]).await, (Exit::Done, told("live")));
    let consume = async |op: &str| answer(&store, &["consume", "m-7", "--op", op]).await;
    assert_eq!(consume("ada").await, (Exit::Done, told("now")));
    assert_eq!(consume("ada").await, (Exit::Done, told("again")));
    assert_eq!(consume("bob").await, (Exit::Nothing, told("already_gone")));
    assert_eq!(answer(&store, &["create", "m-7", "m-9"]).await, (Exit::Nothing, made(1, 0, 1, 0)));
}

#[tokio::test]
async fn a_file_of_tokens_is_created_in_batches() {
    let (store, folder) = (memory(), Folder::new("cli-test").unwrap());
    let file = folder.path().join("tokens.csv");
    let tokens: String = (0..2_500).map(|number| format!("m-{number}\n")).collect();
    std::fs::write(&file, format!("token\n{tokens}\n")).unwrap();
    let create = ["create", "--header", "--file", file.to_str().unwrap()];
    assert_eq!(answer(&store, &create).await, (Exit::Done, made(2_500, 0, 0, 1)));
    assert_eq!(answer(&store, &create).await, (Exit::Done, made(0, 2_500, 0, 1)));
    let rejects = std::fs::read_to_string(folder.path().join("tokens.rejects.csv")).unwrap();
    assert!(rejects.ends_with(",2502,empty\n"), "{rejects}");
}

#[tokio::test]
async fn a_discarded_token_is_not_created_again() {
    let store = memory();
    answer(&store, &["create", "m-7"]).await;
    let told =
        |discarded, already_gone| json!({ "discarded": discarded, "already_gone": already_gone, "rejected_lines": 0 });
    assert_eq!(answer(&store, &["discard", "m-7", "m-8"]).await, (Exit::Done, told(1, 1)));
    assert_eq!(answer(&store, &["discard", "m-7"]).await, (Exit::Done, told(0, 1)));
    assert_eq!(answer(&store, &["create", "m-7", "m-8"]).await, (Exit::Nothing, made(0, 0, 2, 0)));
}

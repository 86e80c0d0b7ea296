//! The answers of `assign` and `recover` on a store.

use clap::Parser;
use serde_json::{Value, json};

use super::*;
use crate::cli::{Cli, Command};
use crate::commands::asked::text;
use crate::commands::faulty::{memory, stops_after};

async fn store(items: &[(&str, &str)]) -> Store {
    let store = memory();
    for (bank, item) in items {
        store.bank(bank).unwrap().add([item]).await.unwrap();
    }
    store
}

async fn answer(store: &Store, args: &[&str]) -> Value {
    let (_, text) = match Cli::parse_from([&["storagebox"], args].concat()).command {
        Command::Assign(args) => text(args, store, true).await,
        Command::Recover(args) => text(args, store, true).await,
        other => panic!("{other:?}"),
    };
    serde_json::from_str(&text).unwrap()
}

fn assigned(id: &str, outcome: &str, bank: &str, item: &str) -> Value {
    json!({ "namespace": "seats", "id": id, "outcome": outcome, "bank": bank, "item": item })
}

#[tokio::test]
async fn an_id_gets_one_item_from_one_of_several_banks() {
    let store = store(&[("monday", "seat-1"), ("friday", "seat-50")]).await;
    let ask = async |id: &str, banks: [&str; 2]| {
        answer(&store, &["assign", "seats", id, "--bank", banks[0], "--bank", banks[1]]).await
    };
    assert_eq!(ask("ada", ["monday", "friday"]).await, assigned("ada", "new", "monday", "seat-1"));
    assert_eq!(ask("ada", ["friday", "monday"]).await, assigned("ada", "again", "monday", "seat-1"));
    assert_eq!(ask("bob", ["monday", "friday"]).await, assigned("bob", "new", "friday", "seat-50"));
    let empty = json!({ "namespace": "seats", "id": "eve", "outcome": "empty" });
    assert_eq!(ask("eve", ["monday", "friday"]).await, empty);
}

/// The caller takes the item, and crashes before it gets the answer.
#[tokio::test]
async fn recover_finishes_the_assignment_of_a_crashed_caller() {
    let store = store(&[("monday", "seat-1")]).await;
    // The first call records the intent, and the second call takes the item.
    let crashed = stops_after(&store, 1).deduplicator("seats", ["monday"]).unwrap();
    crashed.assign("ada", "monday").await.unwrap_err();
    let recovered = json!({ "namespace": "seats", "seen": 1, "finished": 1, "given_up": 0, "failed": 0 });
    assert_eq!(answer(&store, &["recover", "seats", "--bank", "monday"]).await, recovered);
    let ada = answer(&store, &["assign", "seats", "ada", "--bank", "monday"]).await;
    assert_eq!(ada, assigned("ada", "again", "monday", "seat-1"));
}

//! Both commands over a store, with their answers.

use std::sync::Arc;

use clap::Parser;
use serde_json::{Value, json};
use storagebox::values::Item;
use storagebox::{
    MemoryStore,
    parts::{Backend, ItemBank},
};

use super::*;
use crate::cli::{Cli, Command};
use crate::commands::faulty::{Fault, FaultyBank};

async fn store(items: &[(&str, &str)]) -> MemoryStore {
    let store = MemoryStore::new();
    for (bank, item) in items {
        store.item_bank(&bank.parse().unwrap()).unwrap().add(&[Item::new(*item).unwrap()]).await.unwrap();
    }
    store
}

async fn answer(store: &MemoryStore, args: &[&str]) -> Value {
    let answer = match Cli::parse_from([&["storagebox"], args].concat()).command {
        Command::Assign(args) => assign_of(&args, store).await,
        Command::Recover(args) => recover_of(&args, store).await,
        other => panic!("{other:?}"),
    };
    answer.unwrap_or_else(|failure| panic!("{args:?}: {failure}")).json()
}

fn assigned(id: &str, outcome: &str, bank: &str, item: &str) -> Value {
    json!({ "namespace": "seats", "id": id, "outcome": outcome, "bank": bank, "item": item })
}

#[tokio::test]
async fn an_id_has_an_item_of_one_bank() {
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

/// A bank that takes, and whose caller dies before it is told.
#[tokio::test]
async fn what_was_left_half_way_is_finished() {
    let store = store(&[("monday", "seat-1")]).await;
    let failing = FaultyBank::new(store.item_bank(&"monday".parse().unwrap()).unwrap(), Fault::StopsAt(0));
    let records = store.dedup_repo(&"seats".parse().unwrap()).unwrap();
    let crashed = Deduplicator::new(records).bank("monday", Arc::new(failing)).unwrap();
    crashed.assign("ada", "monday").await.unwrap_err();
    let recovered = json!({ "namespace": "seats", "seen": 1, "finished": 1, "given_up": 0 });
    assert_eq!(answer(&store, &["recover", "seats", "--bank", "monday"]).await, recovered);
    let ada = answer(&store, &["assign", "seats", "ada", "--bank", "monday"]).await;
    assert_eq!(ada, assigned("ada", "again", "monday", "seat-1"));
}

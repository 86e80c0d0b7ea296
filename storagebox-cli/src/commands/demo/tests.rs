//! The demo under faults.

use clap::Parser;
use serde_json::Value;
use storagebox::Page;
use storagebox::bank::{ClaimState, Counts, ListedItem};

use super::*;
use crate::cli::{Cli, Command};
use crate::commands::faulty::{memory, tampers};

fn demo(args: &[&str]) -> Demo {
    match Cli::parse_from([&["storagebox", "demo"], args].concat()).command {
        Command::Demo(args) => args,
        other => panic!("{other:?}"),
    }
}

async fn shown_of(args: &Demo, store: &Store) -> (DemoReport, Value) {
    let shown = show(args, store, &"demo".parse().unwrap()).await.unwrap();
    let json = report::answer(args, &shown).json();
    (shown, json)
}

#[tokio::test(start_paused = true)]
async fn each_person_gets_one_item_although_calls_fail() {
    let args = demo(&["--people", "200", "--faults", "50", "--seed", "7"]);
    let (shown, json) = shown_of(&args, &memory()).await;
    assert_eq!(shown.mismatches, []);
    assert!(shown.faults.total() > 300, "{:?}", shown.faults);
    for kind in ["requests_lost", "replies_lost", "throttled"] {
        assert!(json[kind].as_u64().unwrap() > 0, "{json}");
    }
    assert_eq!([&json["calls"], &json["given"], &json["free_left"]], [1_000, 200, 0]);
    assert_eq!(json["audit"], "ok");
}

#[tokio::test(start_paused = true)]
async fn people_beyond_the_number_of_items_get_nothing() {
    let args = demo(&["--people", "50", "--items", "20"]);
    let (shown, json) = shown_of(&args, &memory()).await;
    assert_eq!(shown.mismatches, []);
    assert_eq!([&json["given"], &json["free_left"]], [20, 0]);
    assert_eq!(json["empty"], 5 * 30);
}

#[tokio::test(start_paused = true)]
async fn demo_without_faults_answers_new_once_per_person() {
    let args = demo(&["--people", "10", "--faults", "0"]);
    let (shown, json) = shown_of(&args, &memory()).await;
    assert_eq!(shown.faults.total(), 0);
    assert_eq!([&json["new"], &json["again"]], [10, 40]);
}

/// Each store in this test answers one kind of call wrongly.
#[tokio::test(start_paused = true)]
async fn demo_on_a_store_with_wrong_answers_fails() {
    let counts_one_more = tampers!(memory(), CountItems, |counts: &mut Counts| counts.withdrawn += 1);
    let lists_one_less = tampers!(memory(), ListItems, |page: &mut Page<ListedItem>| drop(page.entries.pop()));
    let forgets_claims = tampers!(memory(), GetClaim, |state: &mut ClaimState| *state = ClaimState::Unknown);
    for bad in [counts_one_more, lists_one_less, forgets_claims] {
        let (shown, json) = shown_of(&demo(&["--people", "10"]), &bad).await;
        assert!(!shown.mismatches.is_empty(), "{json}");
        assert_eq!(json["audit"], "FAILED");
    }
}

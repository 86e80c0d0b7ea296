//! Each command on a store: answers and exit codes.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clap::Parser;
use serde_json::{Value, json};
use storagebox::layer::{Call, Request};
use storagebox::values::Namespace;

use super::*;
use crate::cli::{Cli, Command};
use crate::commands::asked::{ask, facts, text};
use crate::commands::faulty::{Instead, loses_replies, memory};
use crate::output::Reserved;

pub(super) fn args(bank: &str) -> OfNamespace {
    OfNamespace { name: Namespace::new(bank).unwrap() }
}

pub(super) fn item(text: &str) -> Item {
    Item::new(text).unwrap()
}

fn command(args: &[&str]) -> cli::Bank {
    let args = [&["storagebox", "bank", args[0], "vouchers"], &args[1..]].concat();
    match Cli::parse_from(args).command {
        Command::Bank(command) => command,
        other => panic!("{other:?}"),
    }
}

async fn lines(store: &Store, args: &[&str], as_json: bool) -> (Exit, String) {
    text(command(args), store, as_json).await
}

/// Runs a command. Returns its exit code, and its answer without the bank and the id.
async fn answer(store: &Store, args: &[&str]) -> (Exit, Value) {
    let (exit, mut answer) = facts(command(args), store, [("namespace", "vouchers")]).await;
    if answer.get("outcome").is_some() {
        assert_eq!(answer.as_object_mut().unwrap().remove("id").unwrap(), args[1]);
    }
    (exit, answer)
}

async fn store(items: &[&str]) -> Store {
    let store = memory();
    store.bank("vouchers").unwrap().add(items).await.unwrap();
    store
}

fn forever(outcome: &str) -> Value {
    json!({ "outcome": outcome, "item": "SAVE-1", "hold": "forever" })
}

#[tokio::test]
async fn an_id_takes_one_item_and_keeps_it() {
    let store = store(&["SAVE-1"]).await;
    assert_eq!(answer(&store, &["take", "ada"]).await, (Exit::Done, forever("new")));
    assert_eq!(answer(&store, &["take", "ada"]).await, (Exit::Done, forever("again")));
    assert_eq!(answer(&store, &["take", "bob"]).await, (Exit::Nothing, json!({ "outcome": "empty" })));
    assert_eq!(answer(&store, &["show", "ada"]).await, (Exit::Done, forever("held")));
    assert_eq!(answer(&store, &["show", "bob"]).await, (Exit::Nothing, json!({ "outcome": "unknown" })));
}

#[tokio::test]
async fn a_confirmed_item_is_spent() {
    let store = store(&["SAVE-1"]).await;
    let unknown = json!({ "outcome": "unknown" });
    assert_eq!(answer(&store, &["confirm", "ada"]).await, (Exit::Nothing, unknown));
    answer(&store, &["take", "ada"]).await;
    let confirmed = json!({ "outcome": "confirmed", "item": "SAVE-1" });
    for _ in 0..2 {
        assert_eq!(answer(&store, &["confirm", "ada"]).await, (Exit::Done, confirmed.clone()));
    }
    let kept = json!({ "outcome": "confirmed" });
    assert_eq!(answer(&store, &["release", "ada"]).await, (Exit::Nothing, kept));
    let held = json!({ "outcome": "held", "item": "SAVE-1", "hold": "confirmed" });
    assert_eq!(answer(&store, &["show", "ada"]).await, (Exit::Done, held));
}

#[tokio::test]
async fn a_released_id_cannot_take_an_item() {
    let store = store(&["SAVE-1"]).await;
    answer(&store, &["take", "ada"]).await;
    for _ in 0..2 {
        let released = json!({ "outcome": "released" });
        assert_eq!(answer(&store, &["release", "ada"]).await, (Exit::Done, released));
    }
    let ended = (Exit::Nothing, json!({ "outcome": "ended", "why": "released" }));
    for command in ["take", "confirm", "show"] {
        assert_eq!(answer(&store, &[command, "ada"]).await, ended, "{command}");
    }
    assert_eq!(answer(&store, &["take", "bob"]).await, (Exit::Done, forever("new")));
}

#[tokio::test(start_paused = true)]
async fn a_timed_hold_expires() {
    let store = store(&["SAVE-1"]).await;
    let (exit, taken) = answer(&store, &["take", "ada", "--for", "15m"]).await;
    let timed = json!({ "outcome": "new", "item": "SAVE-1", "hold": "timed", "remaining_ms": 900_000 });
    assert_eq!((exit, taken), (Exit::Done, timed));
    tokio::time::advance(Duration::from_secs(15 * 60)).await;
    let ended = (Exit::Nothing, json!({ "outcome": "ended", "why": "expired" }));
    for command in ["take", "confirm", "release", "show"] {
        assert_eq!(answer(&store, &[command, "ada"]).await, ended, "{command}");
    }
}

#[tokio::test]
async fn holder_shows_the_state_of_an_item() {
    let store = store(&["SAVE-1"]).await;
    let at = |state: &str| json!({ "item": "SAVE-1", "state": state });
    let by_ada = |state: &str| json!({ "item": "SAVE-1", "state": state, "id": "ada" });
    assert_eq!(answer(&store, &["holder", "SAVE-1"]).await, (Exit::Done, at("free")));
    answer(&store, &["take", "ada"]).await;
    assert_eq!(answer(&store, &["holder", "SAVE-1"]).await, (Exit::Done, by_ada("held")));
    answer(&store, &["confirm", "ada"]).await;
    assert_eq!(answer(&store, &["holder", "SAVE-1"]).await, (Exit::Done, by_ada("spent")));
    let unknown = json!({ "item": "SAVE-2", "state": "unknown" });
    assert_eq!(answer(&store, &["holder", "SAVE-2"]).await, (Exit::Nothing, unknown));
}

#[tokio::test]
async fn an_invalid_item_is_bad_input_and_is_not_shown() {
    let long = "S".repeat(1_025);
    let failure = ask(command(&["holder", &long]), &store(&[]).await, true, &mut io::sink()).await;
    let failure = failure.unwrap_err();
    assert_eq!(failure.exit(), Exit::BadInput);
    assert_eq!(failure.to_string(), "item must have 1 to 1024 bytes, not 1025");
}

#[tokio::test]
async fn counts_returns_the_number_of_items_per_state() {
    let store = store(&["A", "B", "C", "D"]).await;
    for id in ["ada", "bob"] {
        answer(&store, &["take", id]).await;
    }
    answer(&store, &["confirm", "bob"]).await;
    let counted = json!({ "free": 2, "held": 1, "spent": 1, "withdrawn": 0, "total": 4 });
    assert_eq!(answer(&store, &["counts"]).await, (Exit::Done, counted));
    let (_, table) = lines(&store, &["counts"], false).await;
    assert!(table.contains("\nfree             2\n"), "{table}");
}

#[tokio::test]
async fn a_listing_is_csv_or_one_json_object_per_line() {
    let store = store(&["a,\"b\""]).await;
    assert_eq!(lines(&store, &["list"], false).await.1, "item,state,id\n\"a,\"\"b\"\"\",free,\n");
    answer(&store, &["take", "ada"]).await;
    assert_eq!(lines(&store, &["list"], false).await.1, "item,state,id\n\"a,\"\"b\"\"\",held,ada\n");
    let held = "{\"id\":\"ada\",\"item\":\"a,\\\"b\\\"\",\"state\":\"held\"}\n";
    assert_eq!(lines(&store, &["list"], true).await, (Exit::Done, held.to_owned()));
}

#[tokio::test]
async fn a_listing_ends_at_its_limit_and_repeats_nothing() {
    let items: Vec<_> = (0..2_500).map(|n| format!("SAVE-{n}")).collect();
    let store = store(&items.iter().map(String::as_str).collect::<Vec<_>>()).await;
    for (limit, expected) in [("0", 0), ("1", 1), ("1000", 1_000), ("1500", 1_500), ("9999", 2_500)] {
        let (_, text) = lines(&store, &["list", "--limit", limit], true).await;
        let distinct: std::collections::HashSet<_> = text.lines().collect();
        assert_eq!((text.lines().count(), distinct.len()), (expected, expected), "{limit}");
    }
}

/// A writer that accepts this number of writes, and then fails with this error.
struct Full(usize, io::ErrorKind);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(1).ok_or(self.1)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_closed_pipe_ends_a_listing_without_an_error() {
    let store = store(&["A"]).await;
    let gone = ask(command(&["list"]), &store, false, &mut Full(1, io::ErrorKind::BrokenPipe)).await;
    assert_eq!(gone.unwrap(), Exit::Done);
    let full = ask(command(&["list"]), &store, false, &mut Full(1, io::ErrorKind::StorageFull)).await;
    assert!(matches!(full, Err(Failure::Print(_))));
}

#[tokio::test]
async fn an_audit_shows_its_figures() {
    let store = store(&["A", "B"]).await;
    answer(&store, &["take", "ada"]).await;
    let (exit, audit) = answer(&store, &["audit"]).await;
    assert_eq!(exit, Exit::Done);
    let figures = ["free", "held", "total", "claims_checked", "claims_at_odds"].map(|key| &audit[key]);
    assert_eq!(figures, [1, 1, 2, 1, 0]);
    assert_eq!((&audit["audit"], &audit["counts_checked"]), (&json!("ok"), &json!(true)));
    let (_, table) = lines(&store, &["audit"], false).await;
    assert!(table.ends_with("audit                ok\n"), "{table}");
}

/// The first attempt was applied, so the second attempt returns the result of the first.
#[tokio::test(start_paused = true)]
async fn a_call_whose_reply_is_lost_is_retried() {
    let store = store(&["SAVE-1"]).await;
    let bank = || loses_replies(&store).bank("vouchers").unwrap();
    let of = || OfClaim { of: args("vouchers"), id: "ada".try_into().unwrap() };
    let taken = take(&Take { claim: of(), hold: None }, &bank()).await.unwrap();
    assert_eq!(taken.json()["outcome"], "again");
    assert_eq!(show(&of(), &bank()).await.unwrap().json()["item"], "SAVE-1");
    assert_eq!(confirm(&of(), &bank()).await.unwrap().json()["outcome"], "confirmed");
    assert_eq!(release(&of(), &bank()).await.unwrap().json()["outcome"], "confirmed");
    assert_eq!(counts(&args("vouchers"), &bank()).await.unwrap().json()["spent"], 1);
}

#[tokio::test(start_paused = true)]
async fn take_on_an_empty_bank_after_a_lost_reply_returns_empty() {
    let store = store(&[]).await;
    let bank = loses_replies(&store).bank("vouchers").unwrap();
    let claim = OfClaim { of: args("vouchers"), id: "ada".try_into().unwrap() };
    let taken = take(&Take { claim, hold: None }, &bank).await.unwrap();
    assert_eq!(taken.json()["outcome"], "empty");
}

#[tokio::test]
async fn a_repeated_load_adds_nothing() {
    let directory = storagebox_testkit::Folder::new("cli-test").unwrap();
    let path = directory.path().join("codes.csv");
    std::fs::write(&path, "A\nB\n\nA\n").unwrap();
    let store = store(&["B"]).await;
    let load = ["load", path.to_str().unwrap()];
    let figures = |added, known| json!({ "items_added": added, "already_there": known, "rejected_lines": 1 });
    assert_eq!(answer(&store, &load).await, (Exit::Done, figures(1, 1)));
    assert_eq!(answer(&store, &load).await, (Exit::Done, figures(0, 2)));
}

#[tokio::test]
async fn a_load_adds_items_in_batches() {
    let directory = storagebox_testkit::Folder::new("cli-test").unwrap();
    let path = directory.path().join("codes.csv");
    std::fs::write(&path, (0..12_345).map(|n| format!("SAVE-{n}\n")).collect::<String>()).unwrap();
    let longest = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&longest);
    let store = memory().layer(Instead(move |call: &Call<'_>| {
        if let Request::AddItems { items, .. } = call.request {
            seen.fetch_max(items.len(), Ordering::Relaxed);
        }
        Ok(None)
    }));
    let cli::Bank::Load(args) = command(&["load", path.to_str().unwrap()]) else { panic!("no load") };
    assert_eq!(
        load::run(&args, &store.bank("vouchers").unwrap(), &Reserved::default()).await.unwrap().json()["items_added"],
        12_345
    );
    assert_eq!(longest.load(Ordering::Relaxed), 5_000);
}

#[tokio::test]
async fn reclaim_releases_claims_and_keeps_spent_items() {
    let store = store(&["SAVE-1", "SAVE-2", "SAVE-3"]).await;
    for id in ["ada", "bob", "eve"] {
        answer(&store, &["take", id]).await;
    }
    answer(&store, &["confirm", "eve"]).await;
    let folder = storagebox_testkit::Folder::new("cli-test").unwrap();
    let file = folder.path().join("ids.csv");
    std::fs::write(&file, "ada\nada\n\nbob\nunknown\neve\n").unwrap();
    let told = json!({ "released": 4, "expired": 0, "confirmed": 1, "rejected_lines": 1 });
    for _ in 0..2 {
        let reclaimed = answer(&store, &["reclaim", file.to_str().unwrap()]).await;
        assert_eq!(reclaimed, (Exit::Nothing, told.clone()));
    }
    let (_, counts) = answer(&store, &["counts"]).await;
    assert_eq!([&counts["free"], &counts["spent"]], [2, 1]);
    assert_eq!(answer(&store, &["take", "ada"]).await.1["outcome"], "ended");
}

#[tokio::test(start_paused = true)]
async fn an_extended_hold_lasts_longer() {
    let store = store(&["SAVE-1"]).await;
    let unknown = json!({ "outcome": "unknown" });
    assert_eq!(answer(&store, &["extend", "ada", "--for", "1h"]).await, (Exit::Nothing, unknown));
    answer(&store, &["take", "ada", "--for", "1m"]).await;
    let extended = answer(&store, &["extend", "ada", "--for", "1h"]).await;
    let told = json!({ "outcome": "extended", "item": "SAVE-1", "hold": "timed", "remaining_ms": 3_600_000 });
    assert_eq!(extended, (Exit::Done, told));
    assert_eq!(answer(&store, &["extend", "ada"]).await, (Exit::Done, forever("extended")));
    answer(&store, &["release", "ada"]).await;
    let ended = json!({ "outcome": "ended", "why": "released" });
    assert_eq!(answer(&store, &["extend", "ada"]).await, (Exit::Nothing, ended));
}

#[tokio::test]
async fn a_retired_id_takes_a_new_item() {
    let store = store(&["SAVE-1", "SAVE-2"]).await;
    let told = |outcome: &str| json!({ "outcome": outcome });
    assert_eq!(answer(&store, &["retire", "ada"]).await, (Exit::Nothing, told("unknown")));
    answer(&store, &["take", "ada"]).await;
    assert_eq!(answer(&store, &["retire", "ada"]).await, (Exit::Nothing, told("holding")));
    answer(&store, &["confirm", "ada"]).await;
    assert_eq!(answer(&store, &["retire", "ada"]).await, (Exit::Done, told("retired")));
    assert_eq!(answer(&store, &["take", "ada"]).await.1["outcome"], "new");
    assert_eq!(answer(&store, &["counts"]).await.1["spent"], 1);
}

#[tokio::test]
async fn withdrawn_items_are_not_taken_until_restored() {
    let store = store(&["SAVE-1", "SAVE-2"]).await;
    let taken = answer(&store, &["take", "ada"]).await.1["item"].clone();
    let (taken, free) = match taken.as_str() {
        Some("SAVE-1") => ("SAVE-1", "SAVE-2"),
        _ => ("SAVE-2", "SAVE-1"),
    };
    let withdrawn = |withdrawn, already_withdrawn, in_use, unknown| {
        json!({
            "withdrawn": withdrawn, "already_withdrawn": already_withdrawn, "in_use": in_use, "unknown": unknown,
            "rejected_lines": 0,
        })
    };
    assert_eq!(answer(&store, &["withdraw", free]).await, (Exit::Done, withdrawn(1, 0, 0, 0)));
    let rest = answer(&store, &["withdraw", free, taken, "SAVE-9"]).await;
    assert_eq!(rest, (Exit::Nothing, withdrawn(0, 1, 1, 1)));
    assert_eq!(answer(&store, &["take", "bob"]).await.1["outcome"], "empty");
    let folder = storagebox_testkit::Folder::new("cli-test").unwrap();
    let file = folder.path().join("items.csv");
    std::fs::write(&file, format!("{free}\n\n{taken}\n")).unwrap();
    let restored = answer(&store, &["restore", "--file", file.to_str().unwrap()]).await;
    let told = json!({ "restored": 1, "not_withdrawn": 1, "unknown": 0, "rejected_lines": 1 });
    assert_eq!(restored, (Exit::Done, told));
    assert_eq!(answer(&store, &["restore", "SAVE-9"]).await.0, Exit::Nothing);
    assert_eq!(answer(&store, &["take", "bob"]).await.1["item"], free);
}

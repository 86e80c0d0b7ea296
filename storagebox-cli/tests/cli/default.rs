//! The default store: a SQLite file in the current directory.

use std::process::Stdio;

use crate::crowd::Crowd;
use crate::once::Once;
use crate::support::Place;

const MADE: &str = "note: made the store sqlite:storagebox.db in this directory; ";

/// Returns a [`Place`] where the default store does not exist.
fn place() -> Place {
    Place::without_url()
}

#[test]
fn the_first_command_creates_the_store_and_prints_a_note() {
    let place = place();
    let first = place.run(&["bank", "counts", "b"]).exits(0);
    assert!(first.stderr.starts_with(MADE), "{}", first.stderr);
    assert!(place.names().contains(&"storagebox.db".to_owned()), "{:?}", place.names());
    assert_eq!(place.run(&["bank", "counts", "b"]).exits(0).stderr, "");
}

/// The store that was made is no part of what was asked for.
#[test]
fn a_refusal_is_certain_although_the_store_was_just_made() {
    let ahead = ["ordered", "put", "v", "k", "5", "--at", "2300-01-01T00:00:00Z", "--writer", "w", "--json"];
    let refused = place().run(&ahead).exits(2);
    let (note, error) = refused.stderr.split_once('\n').unwrap();
    let told: serde_json::Value = serde_json::from_str(error).unwrap();
    assert!(note.starts_with(MADE) && told["certainty"] == "NotApplied", "{}", refused.stderr);
}

#[test]
fn the_commands_ping_promises_and_demo_create_no_store() {
    let place = place();
    let ping = place.run(&["ping"]).exits(1);
    assert!(ping.stderr.contains("\nhelp: run `storagebox setup"), "{}", ping.stderr);
    place.run(&["promises"]).exits(0);
    place.run(&["demo", "--people", "10"]).exits(0);
    place.run(&["dedup", "get", "records"]).exits(2);
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn a_store_with_a_url_is_not_created_implicitly() {
    let place = place().on("sqlite:mistyped.db");
    let failed = place.run(&["bank", "counts", "b"]).exits(3);
    assert!(failed.stderr.contains("\nhelp: run `storagebox setup"), "{}", failed.stderr);
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn eight_commands_at_once_create_one_store() {
    let place = place();
    let take = ["token", "create", "tokens", "t", "--json"];
    let spawn = || place.command(&take).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let runs: Vec<_> = (0..8).map(|_| spawn()).collect();
    let created = runs.into_iter().map(|run| {
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["created"].as_u64().unwrap()
    });
    assert_eq!(created.sum::<u64>(), 1);
}

#[test]
fn a_second_run_for_a_crowd_gives_the_same_items() {
    Crowd { items: 200, people: 150 }.comes_twice(place());
}

#[test]
fn twenty_concurrent_shells_create_one_store_and_one_run() {
    Once::at(place()).is_made_and_run_for_twenty_shells(MADE);
}

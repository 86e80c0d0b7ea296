//! The store that nobody named: a SQLite file in the folder of the call.

use std::process::Stdio;

use crate::boxes::Boxes;
use crate::crowd::Crowd;
use crate::once::Once;
use crate::support::Place;
use crate::till::Bank;

const MADE: &str = "note: made the store sqlite:storagebox.db in this directory; ";

/// Not made yet by any command.
fn place() -> Place {
    Place::without_url()
}

/// Made by a command that was run before.
fn made() -> Place {
    let place = place();
    place.run(&["setup"]).exits(0);
    place
}

#[test]
fn the_first_command_makes_it_and_says_so() {
    let place = place();
    let first = place.run(&["bank", "counts", "--bank", "b"]).exits(0);
    assert!(first.stderr.starts_with(MADE), "{}", first.stderr);
    assert!(place.names().contains(&"storagebox.db".to_owned()), "{:?}", place.names());
    assert_eq!(place.run(&["bank", "counts", "--bank", "b"]).exits(0).stderr, "");
}

#[test]
fn it_is_not_made_by_those_who_only_look() {
    let place = place();
    let ping = place.run(&["ping"]).exits(1);
    assert!(ping.stderr.contains("\nhelp: run `storagebox setup"), "{}", ping.stderr);
    place.run(&["promises"]).exits(0);
    place.run(&["demo", "--people", "10"]).exits(0);
    place.run(&["dedup", "get"]).exits(2);
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn a_store_with_a_name_is_not_made_by_the_way() {
    let place = place().on("sqlite:mistyped.db");
    let failed = place.run(&["bank", "counts", "--bank", "b"]).exits(3);
    assert!(failed.stderr.contains("\nhelp: run `storagebox setup"), "{}", failed.stderr);
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn many_who_make_it_at_once_make_one() {
    let place = place();
    let take = ["token", "create", "t", "--json"];
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
fn a_crowd_comes_twice() {
    Crowd { items: 200, people: 150 }.comes_twice(place());
}

#[test]
fn an_item_is_taken_confirmed_and_found() {
    Bank::with(made(), "A\n").gives_it_away();
}

#[test]
fn what_was_given_up_is_reclaimed() {
    Bank::with(made(), "A\nB\nC\n").is_reclaimed();
}

#[test]
fn records_are_remembered() {
    Boxes(made()).remember_records();
}

#[test]
fn tokens_are_consumed_once() {
    Boxes(made()).consume_tokens();
}

#[test]
fn operations_are_counted_once() {
    Boxes(made()).count_operations();
}

#[test]
fn a_strategy_that_is_not_there_names_another() {
    Boxes(made()).name_another_strategy();
}

#[test]
fn the_newest_value_is_kept() {
    Boxes(made()).keep_the_newest_value();
}

#[test]
fn visitors_see_what_is_promised() {
    let place = place().on("sqlite:shown.db");
    place.run(&["setup"]).exits(0);
    Boxes(place).are_shown_to_visitors();
}

#[test]
fn twenty_shells_at_once_run_the_command_once_and_print_the_same() {
    Once::at(made()).is_run_for_twenty_shells();
}

#[test]
fn a_runner_that_dies_is_followed_by_another() {
    Once::at(made()).outlives_a_runner_that_dies();
}

#[test]
fn an_interrupted_command_is_run_again() {
    Once::at(made()).is_run_again_after_an_interrupt();
}

#[test]
fn whoever_waits_may_go() {
    Once::at(made()).is_not_ended_by_one_who_waits();
}

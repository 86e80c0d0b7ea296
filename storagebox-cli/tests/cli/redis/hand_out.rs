//! `hand-out` on a store that lasts: again, by several processes at once, and after a crash of the server.

use std::collections::HashMap;
use std::io::Write;
use std::process::Stdio;

use storagebox_testkit::redis::{Redis, Settings};

use super::keys::Keys;
use crate::support::{Ended, FILES, Given, Place, assert_exactly_once};

const ITEMS: usize = 1_000;
const PEOPLE: usize = 800;

fn items() -> String {
    (0..ITEMS).map(|n| format!("CODE-{n}\n")).collect()
}

/// Everybody three times, beginning with another one in each file.
fn ids(first: usize) -> String {
    (0..3 * PEOPLE).map(|n| format!("p{}\n", (first + n) % PEOPLE)).collect()
}

fn place(keys: &Keys, first: usize) -> Place {
    let place = keys.place();
    place.write("items.csv", items());
    place.write("ids.csv", ids(first));
    place
}

fn outcomes(given: &[Given]) -> HashMap<&str, usize> {
    let mut outcomes = HashMap::new();
    for line in given {
        *outcomes.entry(line.outcome.as_str()).or_insert(0) += 1;
    }
    outcomes
}

#[track_caller]
fn assert_balanced(place: &Place) {
    let audit = place.run(&["bank", "audit", "--bank", "items", "--json"]).exits(0).json();
    assert_eq!(audit["audit"], "ok");
    assert_eq!([&audit["held"], &audit["free"]], [PEOPLE, ITEMS - PEOPLE]);
}

#[test]
fn a_second_run_gives_everybody_the_same_again() {
    let keys = Keys::ready();
    let place = place(&keys, 0);
    place.hand_out(&["--alone"]).exits(0);
    let first = place.given("given.csv");
    assert_exactly_once(&first);
    assert_eq!(outcomes(&first), HashMap::from([("new", PEOPLE), ("again", 2 * PEOPLE)]));

    let ended = place.hand_out(&["--alone"]).exits(0);
    assert_eq!([ended.figure("items added"), ended.figure("already there")], [0, ITEMS as u64]);
    let second = place.given("given.csv");
    assert_eq!(outcomes(&second), HashMap::from([("again", 3 * PEOPLE)]));
    let items = |given: &[Given]| given.iter().map(|line| line.item.clone()).collect::<Vec<_>>();
    assert_eq!(items(&second), items(&first));
    assert_balanced(&place);
}

#[test]
fn four_processes_at_once_serve_each_person_once() {
    let keys = Keys::ready();
    let places = [0, 200, 400, 600].map(|first| place(&keys, first));
    let runs: Vec<_> = places.iter().map(|place| spawn(place, "ids.csv")).collect();
    for run in runs {
        Ended::from(run.wait_with_output().unwrap()).exits(0);
    }
    let given: Vec<_> = places.iter().flat_map(|place| place.given("given.csv")).collect();
    assert_exactly_once(&given);
    assert_eq!(outcomes(&given), HashMap::from([("new", PEOPLE), ("again", 11 * PEOPLE)]));
    assert_balanced(&places[0]);
}

fn spawn(place: &Place, ids: &str) -> std::process::Child {
    let mut command = place.command(&[&["hand-out"], &FILES[..2], &["--ids", ids], &FILES[4..]].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The run that meets the crash fails and shows nothing; the next one carries on where it ended.
#[test]
fn a_server_that_dies_half_way_costs_nobody_an_item() {
    let server = Redis::start(&Settings::durable()).unwrap();
    let keys = Keys::ready_on(&server);
    let place = place(&keys, 0);
    place.write("given.csv", "old");
    let mut run = spawn(&place, "-");
    let mut input = run.stdin.take().unwrap();
    let ids = ids(0).into_bytes();
    let (first, rest) = ids.split_at(2_000);
    input.write_all(first).unwrap();
    while held(&place) == 0 {
        assert_eq!(run.try_wait().unwrap(), None, "it waits for more ids");
    }
    server.kill().unwrap();
    // It may have ended at the first error.
    let _unread = input.write_all(rest);
    drop(input);
    let failed = Ended::from(run.wait_with_output().unwrap()).exits(3);
    assert!(failed.stderr.contains("\nhelp: "), "{}", failed.stderr);
    assert_eq!(place.read("given.csv"), "old");

    server.start_again().unwrap();
    place.hand_out(&[]).exits(0);
    let given = place.given("given.csv");
    assert_exactly_once(&given);
    assert!(outcomes(&given)["new"] < PEOPLE, "the first run gave nobody anything");
    assert_balanced(&place);
}

fn held(place: &Place) -> u64 {
    let counts = place.run(&["bank", "counts", "--bank", "items", "--json"]).exits(0).json();
    counts["held"].as_u64().unwrap()
}

//! The committed sample data matches the generator and the README.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

#[path = "../examples/make-data/data.rs"]
mod data;

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use data::{CODES, DEFAULT_SEED, PEOPLE, SUBSCRIPTIONS};

fn committed(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)).unwrap()
}

#[test]
fn committed_codes_match_the_generator() {
    assert!(
        committed("codes.csv") == data::codes(DEFAULT_SEED),
        "run: cargo run -p storagebox-examples --example make-data"
    );
}

#[test]
fn committed_subscribers_match_the_generator() {
    assert!(
        committed("subscribers.csv") == data::subscribers(DEFAULT_SEED),
        "run: cargo run -p storagebox-examples --example make-data"
    );
}

#[test]
fn sample_data_has_the_promised_number_of_lines() {
    let codes = committed("codes.csv");
    assert_eq!(codes.lines().collect::<HashSet<_>>().len(), CODES);
    assert_eq!(codes.lines().count(), CODES);

    let subscribers = committed("subscribers.csv");
    assert_eq!(subscribers.lines().count(), SUBSCRIPTIONS);
    assert_eq!(subscribers.lines().collect::<HashSet<_>>().len(), PEOPLE);
}

#[test]
fn different_seeds_generate_different_data() {
    assert_ne!(data::codes(1), data::codes(2));
    assert_ne!(data::subscribers(1), data::subscribers(2));
}

#[test]
fn odd_ids_file_has_special_characters_and_repeated_lines() {
    let odd = committed("odd-ids.txt");
    assert!(odd.lines().count() >= 60);
    assert!(odd.lines().all(|line| (1..=512).contains(&line.len())));
    assert!(odd.lines().collect::<HashSet<_>>().len() < odd.lines().count(), "some lines repeat");
    for wanted in ["\u{200d}", "\u{e9}", "e\u{301}", "\u{5e9}", "\u{645}", "\"", ",", " \"\n", "\n\" "] {
        assert!(odd.contains(wanted), "{wanted:?} is missing");
    }
}

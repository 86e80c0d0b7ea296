//! `storagebox hand-out` on whole files.

use std::collections::{HashMap, HashSet};
use std::fs;

use crate::support::{Given, Place, assert_exactly_once, sample};

fn ids_of(given: &[Given]) -> Vec<&str> {
    given.iter().map(|line| line.id.as_str()).collect()
}

#[test]
fn each_subscriber_gets_one_code() {
    let place = Place::new();
    let [codes, subscribers] = ["codes.csv", "subscribers.csv"].map(sample);
    let args = [
        "hand-out".as_ref(),
        "items".as_ref(),
        "--items".as_ref(),
        codes.as_os_str(),
        "--ids".as_ref(),
        subscribers.as_os_str(),
        "--out".as_ref(),
        "given.csv".as_ref(),
    ];
    let ended = place.run(&args).exits(0);
    for (key, figure) in [
        ("items added", 10_000),
        ("already there", 0),
        ("lines", 30_000),
        ("distinct ids", 8_000),
        ("given", 8_000),
        ("free left", 2_000),
        ("ids without item", 0),
        ("rejected lines", 0),
    ] {
        assert_eq!(ended.figure(key), figure, "{key}");
    }
    let given = place.given("given.csv");
    let [codes, subscribers] = [codes, subscribers].map(|path| fs::read_to_string(path).unwrap());
    assert_eq!(ids_of(&given), subscribers.lines().collect::<Vec<_>>(), "the input's order");
    assert_exactly_once(&given);
    let codes: HashSet<_> = codes.lines().collect();
    assert!(given.iter().all(|line| codes.contains(line.item.as_str())));
    let new = given.iter().filter(|line| line.outcome == "new").count();
    assert_eq!(new, 8_000);
    assert_eq!(place.names(), ["given.csv"]);
}

#[test]
fn people_beyond_the_number_of_codes_get_empty() {
    let items: String = (0..100).map(|n| format!("CODE-{n}\n")).collect();
    // Each person asks three times, the second and third time after the bank is empty.
    let ids: String = (0..3).flat_map(|_| (0..150).map(|n| format!("p{n}\n"))).collect();
    let place = Place::with(items, ids);
    let ended = place.hand_out(&[]).exits(1);
    assert_eq!([ended.figure("given"), ended.figure("ids without item"), ended.figure("free left")], [100, 50, 0]);

    let given = place.given("given.csv");
    assert_exactly_once(&given);
    let mut outcomes = HashMap::new();
    for line in &given {
        *outcomes.entry(line.outcome.as_str()).or_insert(0) += 1;
    }
    assert_eq!(outcomes, HashMap::from([("new", 100), ("again", 200), ("empty", 150)]));
    for person in 0..150 {
        let lines: HashSet<_> = [0, 150, 300].map(|round| given[round + person].item.clone()).into();
        assert_eq!(lines.len(), 1, "p{person} is served on all lines or on none");
    }
}

#[test]
fn every_concurrency_gives_the_same_result() {
    for concurrency in ["1", "2", "7", "1000"] {
        let ids: String = (0..200).map(|n| format!("p{}\n", n % 20)).collect();
        let items: String = (0..20).map(|n| format!("CODE-{n}\n")).collect();
        let place = Place::with(items, &ids);
        place.hand_out(&["--concurrency", concurrency]).exits(0);
        let given = place.given("given.csv");
        assert_eq!(ids_of(&given), ids.lines().collect::<Vec<_>>());
        assert_exactly_once(&given);
    }
}

#[test]
fn odd_ids_are_kept_byte_for_byte() {
    let words: String = (0..500).map(|n| format!("it's \"word\" {n}\n")).collect();
    let place = Place::with(words, fs::read(sample("odd-ids.txt")).unwrap());
    let ended = place.hand_out(&[]).exits(0);
    assert_eq!(ended.figure("rejected lines"), 0);

    let given = place.given("given.csv");
    assert_exactly_once(&given);
    let mut plain = csv::ReaderBuilder::new();
    let mut odd = plain.has_headers(false).flexible(true).from_path(sample("odd-ids.txt")).unwrap();
    let odd: Vec<_> = odd.records().map(|row| row.unwrap()[0].to_owned()).collect();
    assert_eq!(ids_of(&given), odd);
    let distinct: HashSet<_> = ids_of(&given).into_iter().collect();
    assert_eq!(ended.figure("given"), distinct.len() as u64);
    for id in ["caf\u{e9}", "cafe\u{301}", "Smith, John", "\"quoted\"", "5\" pipe", " ", "trailing space "] {
        assert!(distinct.contains(id), "{id:?}");
    }
}

#[test]
fn the_output_can_be_read_back_as_input() {
    let items = "a\n\"b,\"\"c\"\"\"\n\"d\ne\"\nB\nC\nD\nE\n";
    let place = Place::with(items, "\"x\ny\"\n\" ,\"\n\"\"\"\"\n\"auth0|7\"\n\" ada \"\n\"\u{feff}b\"\n\"a\u{1b}\"\n");
    place.hand_out(&[]).exits(0);
    let first = place.given("given.csv");
    fs::rename(place.path("given.csv"), place.path("ids.csv")).unwrap();
    place.hand_out(&["--header"]).exits(1);
    assert_eq!(ids_of(&place.given("given.csv")), ids_of(&first));
}

#[test]
fn a_header_is_skipped_in_both_files() {
    let place = Place::with("code,value\nSAVE-1,10\n", "email,name\nada@example.com,Ada\n");
    let ended = place.hand_out(&["--header"]).exits(0);
    assert_eq!([ended.figure("items added"), ended.figure("lines")], [1, 1]);
    assert_eq!(place.read("given.csv"), "id,item,outcome\nada@example.com,SAVE-1,new\n");
}

#[test]
fn repeated_items_are_added_once() {
    let place = Place::with("A\nA\nB\nA\n", "ada\n");
    let ended = place.hand_out(&[]).exits(0);
    assert_eq!([ended.figure("items added"), ended.figure("free left")], [2, 1]);
}

#[test]
fn either_input_may_be_standard_input() {
    for (items, ids, input) in [("-", "ids.csv", "SAVE-1\n"), ("items.csv", "-", "ada\nada\n")] {
        let place = Place::with("SAVE-1\n", "ada\nada\n");
        let args = ["hand-out", "items", "--items", items, "--ids", ids, "--out", "given.csv", "--concurrency", "1"];
        place.run_with_input(&args, input.as_bytes()).exits(0);
        assert_eq!(place.read("given.csv"), "id,item,outcome\nada,SAVE-1,new\nada,SAVE-1,again\n");
    }
}

#[test]
fn hand_out_without_items_on_an_empty_bank_prints_a_note() {
    let place = Place::with("", "ada\n");
    let ended = place.run(&["hand-out", "items", "--ids", "ids.csv", "--out", "given.csv"]).exits(1);
    assert_eq!(place.read("given.csv"), "id,item,outcome\nada,,empty\n");
    assert!(ended.stderr.contains("--items was left out"), "{}", ended.stderr);
}

#[test]
fn an_empty_input_exits_with_2() {
    for (items, ids, empty) in [("", "ada\n", "items.csv"), ("A\n", "", "ids.csv"), ("", "", "items.csv")] {
        let place = Place::with(items, ids);
        let ended = place.hand_out(&[]).exits(2);
        assert!(ended.stderr.contains(&format!("error: {empty} has no line that can be used\n")), "{}", ended.stderr);
        assert_eq!(place.names(), ["ids.csv", "items.csv"]);
    }
}

#[test]
fn items_of_several_batches_are_all_loaded() {
    let items: String = (0..12_345).map(|n| format!("CODE-{n}\n")).collect();
    let ended = Place::with(items, "ada\n").hand_out(&[]).exits(0);
    assert_eq!([ended.figure("items added"), ended.figure("free left")], [12_345, 12_344]);
}

#[test]
fn answers_go_to_standard_output_and_the_audit_to_standard_error() {
    let place = Place::with("SAVE-1\n", "ada\n\nbob\n");
    let args = ["hand-out", "items", "--items", "items.csv", "--ids", "-", "--out", "-", "--concurrency", "1"];
    let ended = place.run_with_input(&args, b"ada\n\nbob\n").exits(1);
    assert_eq!(ended.stdout, "id,item,outcome\nada,SAVE-1,new\nbob,,empty\n");
    assert!(ended.stderr.contains("ids without item  1\n"), "{}", ended.stderr);
    assert_eq!(place.names(), ["ids.csv", "items.csv", "storagebox.rejects.csv"]);
}

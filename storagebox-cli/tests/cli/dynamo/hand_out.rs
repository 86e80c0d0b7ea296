//! `hand-out` on a table: the README's example, and a server that dies.

use std::fs;

use storagebox_testkit::dynamodb::{Data, Dynamo};

use super::Table;
use crate::stores::Store;
use crate::support::{assert_exactly_once, sample};

/// Serves 8,000 people with 10,000 codes, from 30,000 lines of ids.
#[test]
#[ignore = "takes minutes: cargo xtask prove dynamo"]
fn the_example_of_the_readme_gives_each_person_one_code() {
    gives_each_person_one_code(10_000, 30_000, 8_000);
}

#[test]
fn the_beginning_of_the_example_gives_each_person_one_code() {
    gives_each_person_one_code(1_000, 1_000, 830);
}

/// Hands out the first `codes` codes of the example to the ids of its first `lines` lines, which name `people` people.
fn gives_each_person_one_code(codes: usize, lines: usize, people: usize) {
    let table = Table::ready();
    let place = table.place();
    place.write("items.csv", beginning("codes.csv", codes));
    place.write("ids.csv", beginning("subscribers.csv", lines));
    let ended = place.hand_out(&["--alone"]).exits(0);
    let figures = ["items added", "lines", "distinct ids", "given", "free left"];
    let expected = [codes, lines, people, people, codes - people];
    assert_eq!(figures.map(|key| ended.figure(key)), expected.map(|figure| figure as u64));
    assert_exactly_once(&place.given("given.csv"));
}

fn beginning(name: &str, lines: usize) -> String {
    fs::read_to_string(sample(name)).unwrap().split_inclusive('\n').take(lines).collect()
}

#[test]
fn hand_out_after_a_server_crash_gives_each_id_one_item() {
    let server = Dynamo::start(Data::InFile).unwrap();
    let table = Table::on(&server.url()).set_up();
    Table::CROWD.meets_a_crash(table.place(), || server.kill().unwrap(), || server.start_again().unwrap());
}

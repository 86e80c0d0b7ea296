//! `hand-out` on a table: the README's example, and a server that dies.

use std::fs;

use storagebox_testkit::dynamodb::{Data, Dynamo};

use super::Table;
use crate::stores::Store;
use crate::support::{assert_exactly_once, sample};

/// 10,000 codes, 8,000 people, 30,000 lines.
#[test]
fn the_example_of_the_readme_gives_each_person_one_code() {
    let table = Table::ready();
    let place = table.place();
    place.write("items.csv", fs::read(sample("codes.csv")).unwrap());
    place.write("ids.csv", fs::read(sample("subscribers.csv")).unwrap());
    let ended = place.hand_out(&["--alone"]).exits(0);
    let figures = ["items added", "lines", "distinct ids", "given", "free left"];
    assert_eq!(figures.map(|key| ended.figure(key)), [10_000, 30_000, 8_000, 8_000, 2_000]);
    assert_exactly_once(&place.given("given.csv"));
}

#[test]
fn a_server_that_dies_half_way_costs_nobody_an_item() {
    let server = Dynamo::start(Data::InFile).unwrap();
    let table = Table::on(&server.url()).set_up();
    Table::CROWD.meets_a_crash(table.place(), || server.kill().unwrap(), || server.start_again().unwrap());
}

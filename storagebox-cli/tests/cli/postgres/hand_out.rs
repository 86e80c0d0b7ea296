//! `hand-out` on a database: a crowd.

use storagebox_testkit::postgres::{Postgres, Settings};

use super::database::Database;
use crate::crowd::Crowd;

const CROWD: Crowd = Crowd { items: 1_000, people: 800 };

#[test]
fn a_second_run_gives_everybody_the_same_again() {
    let database = Database::ready();
    CROWD.comes_twice(database.place());
}

#[test]
fn four_processes_at_once_serve_each_person_once() {
    let database = Database::ready();
    CROWD.comes_to_four_doors(|| database.place());
}

#[test]
fn a_server_that_dies_half_way_costs_nobody_an_item() {
    let server = Postgres::start(&Settings::durable()).unwrap();
    let database = Database::ready_on(&server);
    CROWD.meets_a_crash(database.place(), || server.kill().unwrap(), || server.start_again().unwrap());
}

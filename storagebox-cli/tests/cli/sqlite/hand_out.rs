//! `hand-out` on a SQLite file: a crowd.

use super::file::File;
use crate::crowd::Crowd;

const CROWD: Crowd = Crowd { items: 1_000, people: 800 };

#[test]
fn a_second_run_gives_everybody_the_same_again() {
    let file = File::ready();
    CROWD.comes_twice(file.place());
}

#[test]
fn four_processes_at_once_serve_each_person_once() {
    let file = File::ready();
    CROWD.comes_to_four_doors(|| file.place());
}

#[test]
fn a_run_that_is_killed_half_way_costs_nobody_an_item() {
    let file = File::ready();
    CROWD.is_left_half_way(file.place());
}

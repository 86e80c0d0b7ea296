//! `dedup run` on a database.

use super::database::Database;
use crate::once::Once;

#[test]
fn twenty_shells_at_once_run_the_command_once_and_print_the_same() {
    let store = Database::ready();
    Once::at(store.place()).is_run_for_twenty_shells();
}

#[test]
fn a_runner_that_dies_is_followed_by_another() {
    let store = Database::ready();
    Once::at(store.place()).outlives_a_runner_that_dies();
}

#[test]
fn an_interrupted_command_is_run_again() {
    let store = Database::ready();
    Once::at(store.place()).is_run_again_after_an_interrupt();
}

#[test]
fn a_command_that_does_not_listen_is_killed() {
    let store = Database::ready();
    Once::at(store.place()).is_killed_by_a_second_signal();
}

#[test]
fn what_a_command_leaves_behind_is_not_waited_for() {
    let store = Database::ready();
    Once::at(store.place()).is_recorded_without_what_is_left_behind();
}

#[test]
fn whoever_waits_may_go() {
    let store = Database::ready();
    Once::at(store.place()).is_not_ended_by_one_who_waits();
}

#[test]
fn a_command_is_not_told_the_url() {
    let store = Database::ready();
    Once::at(store.place()).keeps_the_url_to_itself();
}
